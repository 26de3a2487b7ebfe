"""Recomputes the queries about the peak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle import shapes
from tests.oracle.dump import Value
from tests.oracle.memory import Owned, Space, freed_bytes
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    name_at,
    of_module,
    of_space,
    of_value,
    op_name,
    opcode,
    ratio,
    recomputes,
)
from tests.oracle.recompute.sources import attributed, op_path


@recomputes("peak_by_space", leaves_out=["caveat"])
def peak_by_space(dump: Dump) -> Iterator[Row]:
    """Sum what every kind reserves, and find the step with the most live bytes."""
    for space in dump.spaces:
        temp = space.size("temp")
        wasted = None if space.temp_peak is None else temp - space.temp_peak
        yield {
            **of_space(space),
            "reserved_bytes": space.size(),
            "live_peak_bytes": space.peak,
            "peak_step": space.peak_step,
            "peak_instruction": name_at(space.module, space.peak_step),
            "parameter_bytes": space.size("parameter"),
            "constant_bytes": space.size("constant"),
            "live_out_bytes": space.size("live_out"),
            "thread_local_bytes": space.size("thread_local"),
            "temp_bytes": temp,
            "fragmentation_bytes": wasted,
            "fragmentation_ratio": None if wasted is None else ratio(wasted, temp),
            "path": space.module.path,
        }


@recomputes("live_timeline")
def live_timeline(dump: Dump) -> Iterator[Row]:
    """Join neighbouring steps with the same live bytes."""
    for space in dump.spaces:
        joined: list[list[int]] = []
        for stretch in space.stretches:
            if joined and joined[-1][2] == stretch.live:
                joined[-1][1] = stretch.last
                joined[-1][3] = max(joined[-1][3], stretch.temp_live)
            else:
                joined.append(
                    [stretch.first, stretch.last, stretch.live, stretch.temp_live]
                )
        before = 0
        for first, last, live, temp_live in joined:
            name = name_at(space.module, first)
            yield {
                **of_space(space),
                "from_step": first,
                "to_step": last,
                "live_bytes": live,
                "temp_live_bytes": temp_live,
                "delta_bytes": live - before,
                "instruction": name,
                "opcode": opcode(space.module.by_name.get(name or "")),
                "path": space.module.path,
            }
            before = live


@recomputes("peak_plateau", {"tolerance": 0.05}, {"tolerance": 0.5})
def peak_plateau(dump: Dump, tolerance: float) -> Iterator[Row]:
    """Find the stretches that come near the peak, and what is left without each."""
    for space in dump.spaces:
        if space.peak is None or space.peak_step is None:
            continue
        floor = (1 - tolerance) * space.peak
        runs: list[tuple[int, int]] = []
        for stretch in space.stretches:
            if stretch.live < floor:
                continue
            if runs and runs[-1][1] == stretch.first - 1:
                runs[-1] = (runs[-1][0], stretch.last)
            else:
                runs.append((stretch.first, stretch.last))
        for first, last in runs:
            inside = [s.live for s in space.stretches if first <= s.first <= last]
            outside = [s.live for s in space.stretches if not first <= s.first <= last]
            rest = max(outside, default=0)
            yield {
                **of_space(space),
                "from_step": first,
                "to_step": last,
                "width_steps": last - first + 1,
                "width_ratio": (last - first + 1) / space.step_count,
                "max_bytes": max(inside),
                "is_peak": first <= space.peak_step <= last,
                "next_peak_bytes": rest,
                "gain_if_removed_bytes": space.peak - rest,
                "first_instruction": name_at(space.module, first),
            }


@recomputes("peak_contents")
def peak_contents(dump: Dump) -> Iterator[Row]:
    """Yield every byte of the peak to the newest value that covers it."""
    for space in dump.spaces:
        ordered = sorted(space.owners, key=_by_size)
        so_far = 0
        for owned in ordered:
            so_far += owned.owned
            place, value = owned.place, owned.value
            line = value and attributed(space.module, value, owned.allocation.kind)
            source = line.source if line else None
            other = space.module.values.get(owned.shares_with or -1)
            instruction = value.instruction if value else None
            path = line.op_name if line and line.op_name else op_name(instruction)
            yield {
                **of_space(space),
                "instruction": instruction.name if instruction else None,
                "shape_index": value.index if value else None,
                "opcode": opcode(instruction),
                "kind": owned.allocation.kind,
                "shape": value.shape if value else None,
                "owned_bytes": owned.owned,
                "peak_ratio": ratio(owned.owned, space.peak),
                "cumulative_ratio": ratio(so_far, space.peak),
                "size_bytes": place.size if place else None,
                "logical_bytes": value.logical_bytes if value else None,
                "allocation_id": owned.allocation.number,
                "offset_bytes": place.offset if place else None,
                "start_step": value.start if value else None,
                "end_step": value.end if value else None,
                "shares_with": other.name if other else None,
                "attribution": line.attribution if line else None,
                "op_name": path,
                "source_file": source.file if source else None,
                "source_line": source.line if source else None,
                "path": space.module.path,
            }


def _by_size(owned: Owned) -> tuple[int, int, float]:
    number = owned.value.number if owned.value else float("inf")
    return -owned.owned, owned.allocation.number, number


@recomputes("peak_leverage")
def peak_leverage(dump: Dump) -> Iterator[Row]:
    """Take every value away by itself, and find the peak again."""
    for space in dump.spaces:
        if space.peak is None:
            continue
        for allocation in space.allocations:
            if allocation.kind == "thread_local":
                continue
            for place in allocation.places:
                value = place.value
                rest, step = space.without_value(allocation, value)
                yield {
                    **of_space(space),
                    **of_value(value),
                    "opcode": opcode(value.instruction),
                    "kind": allocation.kind,
                    "size_bytes": place.size,
                    "leverage_bytes": space.peak - rest,
                    "leverage_ratio": ratio(space.peak - rest, space.peak),
                    "live_peak_bytes": space.peak,
                    "new_peak_bytes": rest,
                    "new_peak_step": step,
                    "new_peak_instruction": name_at(space.module, step),
                    "start_step": value.start,
                    "end_step": value.end,
                    "op_name": op_name(value.instruction),
                }


@recomputes(
    "peak_leverage_of_sets",
    {"grouped_by": "source_line"},
    {"grouped_by": "op_name"},
    {"grouped_by": "element_type"},
    {"grouped_by": "kind"},
)
def peak_leverage_of_sets(dump: Dump, grouped_by: str) -> Iterator[Row]:
    """Take all values of a set away at once, or half of their bytes."""
    for space in dump.spaces:
        if space.peak is None:
            continue
        at_peak = {o.value.number: o.owned for o in space.owners if o.value}
        for name, values in _sets(space, grouped_by).items():
            live = [at_peak[number] for number in values if number in at_peak]
            rest, step = space.without(values)
            peak = space.at(space.peak_step or 0)
            if freed_bytes(peak, space.touched(values), values) == 0:
                continue
            half, _ = space.without(values, share=2)
            yield {
                **of_space(space),
                "set_name": name,
                "value_count": len(live),
                "owned_bytes": sum(live),
                "leverage_bytes": space.peak - rest,
                "leverage_ratio": ratio(space.peak - rest, space.peak),
                "half_leverage_bytes": space.peak - half,
                "live_peak_bytes": space.peak,
                "new_peak_bytes": rest,
                "new_peak_step": step,
                "new_peak_instruction": name_at(space.module, step),
            }


def _sets(space: Space, grouped_by: str) -> dict[str, set[int]]:
    """Return the values of every set; prefixes are distinguished over all spaces."""
    sets: dict[str, set[int]] = defaultdict(set)
    for allocation in space.module.allocations:
        if allocation.kind == "thread_local":
            continue
        for place in allocation.places:
            for name in _set_names(space, place.value, allocation.kind, grouped_by):
                sets[name].add(place.value.number)
    if grouped_by == "op_name":
        longer = {name: [n for n in sets if n.startswith(f"{name}/")] for name in sets}
        sets = {
            name: values
            for name, values in sets.items()
            if all(sets[other] != values for other in longer[name])
        }
    own = {p.value.number for a in space.allocations for p in a.places}
    return {name: values & own for name, values in sets.items() if values & own}


def _set_names(space: Space, value: Value, kind: str, grouped_by: str) -> list[str]:
    if grouped_by == "kind":
        return [kind]
    if grouped_by == "element_type":
        is_array = not shapes.is_tuple(value.shape)
        return [shapes.element_type(value.shape) if is_array else "other"]
    if grouped_by == "op_name":
        path = op_path(value.instruction)
        parts = path.split("/") if path else []
        return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    line = attributed(space.module, value, kind)
    if line is None or line.source.file is None:
        return []
    return [f"{line.source.file}:{line.source.line}"]


@recomputes("peak_reconciliation", leaves_out=["reason"])
def peak_reconciliation(dump: Dump) -> Iterator[Row]:
    """Put the figures that others form beside the live peak."""
    for module in dump.modules:
        spaces = [space for space in dump.spaces if space.module is module]
        if not spaces:
            continue
        peaks = [space.peak for space in spaces if space.peak is not None]
        joint = sum(peaks) if peaks else None
        sizes = {
            name: sum(a.size for a in module.allocations if is_counted(a))
            for name, is_counted in (
                ("parameter", lambda a: a.parameter is not None),
                ("live_out", lambda a: a.is_live_out),
                ("temp", lambda a: a.kind == "temp"),
                ("both", lambda a: a.parameter is not None and a.is_live_out),
            )
        }
        figures = [
            ("printed_total", module.printed_total),
            (
                "arguments_outputs_temps",
                sizes["parameter"] + sizes["live_out"] + sizes["temp"] - sizes["both"],
            ),
            ("printed_live_range_peak", (module.printed_peak or (0, None))[1]),
        ]
        for definition, figure in figures:
            if figure is not None:
                yield {
                    **of_module(module),
                    "definition": definition,
                    "color": None,
                    "space_name": None,
                    "bytes": figure,
                    "delta_bytes": None if joint is None else figure - joint,
                }
        for space in spaces:
            reserved, peak = space.size(), space.peak
            difference = None if peak is None else reserved - peak
            for definition, figure, delta in (
                ("reserved", reserved, difference),
                ("live_peak", peak, 0),
            ):
                if figure is not None:
                    row = {**of_space(space), "definition": definition}
                    yield {**row, "bytes": figure, "delta_bytes": delta}


@recomputes("coresident_peak")
def coresident_peak(dump: Dump) -> Iterator[Row]:
    """Add what stays loaded of all modules, and the greatest rest."""
    groups: dict[tuple[object, object], list[Space]] = defaultdict(list)
    for space in dump.spaces:
        row = of_space(space)
        groups[row["color"], row["space_name"]].append(space)
    for spaces in groups.values():
        stays = {s: s.size("parameter") + s.size("constant") for s in spaces}
        rest = max(spaces, key=lambda s: (s.size() - stays[s], -s.module.number))
        shared = _shared_bytes(spaces)
        transient = rest.size() - stays[rest]
        row = of_space(rest)
        del row["program"], row["module_number"]
        yield {
            **row,
            "module_count": len(spaces),
            "persistent_bytes": sum(stays.values()),
            "shared_persistent_bytes": shared,
            "transient_bytes": transient,
            "lower_bytes": shared + transient,
            "upper_bytes": sum(stays.values()) + transient,
            "dominating_program": rest.module.program,
            "host": None,
        }


def _shared_bytes(spaces: list[Space]) -> int:
    """Add up persistent allocations, those of equal name, shape and size once."""
    counts: dict[tuple[str | None, str | None, int], dict[Space, int]] = {}
    for space in spaces:
        for allocation in space.of_kind("parameter") + space.of_kind("constant"):
            labels = [p.value.name for p in allocation.places]
            parameters = [
                p.value.instruction for p in allocation.places
                if opcode(p.value.instruction) == "parameter"
            ]  # fmt: skip
            paths = [i.op_name for i in parameters if i and i.op_name]
            names = paths or [i.name for i in parameters if i] or labels
            key = (min(names, default=None), allocation.printed_shape, allocation.size)
            of_space_ = counts.setdefault(key, {})
            of_space_[space] = of_space_.get(space, 0) + 1
    return sum(key[2] * max(found.values()) for key, found in counts.items())


@recomputes(
    "headroom",
    {"limit_bytes": 10**6},
    {"limit_bytes": 10**4, "slop": 0.25, "warn_ratio": 0.5},
    leaves_out=["device", "nominal_bytes", "is_cut", "caveat"],
)
def headroom(
    dump: Dump, limit_bytes: int, slop: float = 0.0, warn_ratio: float = 0.05
) -> Iterator[Row]:
    """Compare what color 0 reserves with a limit; other spaces have none here."""
    usable = int(limit_bytes * (1 - slop))
    for space in dump.spaces:
        reserved = space.size()
        left = usable - reserved
        row = {**of_space(space), "reserved_bytes": reserved, "path": space.module.path}
        row |= {"is_refused": False}
        if space.color != 0:
            row |= {"status": "unknown"}
            row |= dict.fromkeys(
                ("limit_from", "usable_bytes", "headroom_bytes", "headroom_ratio")
            )
            yield row
            continue
        status = "warn" if left < warn_ratio * limit_bytes else "ok"
        yield {
            **row,
            "status": "oom" if left < 0 else status,
            "limit_from": "parameter",
            "usable_bytes": usable,
            "headroom_bytes": left,
            "headroom_ratio": left / limit_bytes,
        }
