"""Read what the live peak of one run's programs consists of, for pages of `explain`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hlodb.reports.read.facts import Answered, Module, rows
from hlodb.schema.connection import Connection


class Held(NamedTuple):
    """Values at the peak that are alike: role, layer, source line, shape."""

    role: str
    layer_name: str | None
    layer_number: int | None
    source_file: str | None
    source_line: int | None
    kind: str | None
    argument: str | None
    shape: str | None
    owned_bytes: int
    value_count: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a peak, and the parts that it consists of, the largest first.

    `label` is short, `name` says it in full; `role` is the one that colours it.
    """

    label: str
    name: str
    role: str
    bytes: int
    children: tuple[Part, ...] = ()


PeakParts = tuple[Part, ...]

_Names = tuple[str, str]
"""A short name and a full one."""

_LAYOUT = re.compile(r"\{[^}]*\}")
_NUMBER = re.compile(r"(?<![A-Za-z_])\d+")

_NO_LAYER = "outside of layers"

_ALIKE = 2
"""Layers are one part where the largest holds at most so many times the least."""

_LEAST_NAMED = 0.1
"""Where less of a peak has a layer, layers say nothing about it."""

_WITHOUT_LINE = {
    "parameter": "arguments",
    "constant": "constants",
    "live_out": "results without a line",
    "temp": "temporaries without a line",
}


_Title = TypeVar("_Title", bound=Hashable)


def read_peak_parts(
    connection: Connection,
    spaces: Mapping[_Title, tuple[Module, int]],
    answered: Answered | None = None,
) -> dict[_Title, PeakParts]:
    """Return the parts of the peak by title, of modules in memory spaces (colours).

    Parts of a peak add up to it.
    """
    # Programs of several runs may be the same.
    contents = {(m.module_id, m.locations_id) for m, _ in spaces.values()}
    if not contents:
        return {}
    modules, locations = zip(*contents, strict=True)
    found: dict[tuple[int, int | None, int], list[Held]] = defaultdict(list)
    for module_id, locations_id, color, *held in rows(
        connection,
        "peak_parts",
        answered,
        modules=list(modules),
        locations=list(locations),
    ):
        found[module_id, locations_id, color].append(Held(*held))
    return {
        title: peak_parts(found[module.module_id, module.locations_id, color])
        for title, (module, color) in spaces.items()
    }


def peak_parts(held: Sequence[Held]) -> PeakParts:
    """Return role → source line → shape or argument.

    Where layers are known, they are between role and source line.
    """
    of_roles: dict[str, list[Held]] = {}
    for each in held:
        of_roles.setdefault(each.role, []).append(each)
    is_layered = has_layers(held)
    return _largest_first(
        _part(
            (role.replace("_", " "),) * 2,
            role,
            _layers(role, found) if is_layered else _lines(role, found),
        )
        for role, found in of_roles.items()
    )


def has_layers(held: Iterable[Held]) -> bool:
    """Return whether layers say something: several, which hold enough of the peak."""
    named, whole, layers = 0, 0, set()
    for each in held:
        whole += each.owned_bytes
        if each.layer_name is not None:
            named += each.owned_bytes
            layers.add((each.layer_name, each.layer_number))
    return len(layers) > 1 and named >= _LEAST_NAMED * whole


def _layers(role: str, held: Sequence[Held]) -> Iterable[Part]:
    """Yield layers; those of one name that hold similarly much are one part."""
    sizes: dict[str, Counter[int]] = defaultdict(Counter)
    for each in held:
        if each.layer_name is not None:
            sizes[each.layer_name][each.layer_number or 0] += each.owned_bytes
    layers = {
        (name, number): _layer(name, numbers)
        for name, found in sizes.items()
        for numbers in similar(found)
        for number in numbers
    }
    of_layers: dict[_Names, list[Held]] = {}
    for each in held:
        name = layers.get((each.layer_name or "", each.layer_number or 0), _NO_LAYER)
        of_layers.setdefault((name, name), []).append(each)
    for names, found in of_layers.items():
        yield _part(names, role, _lines(role, found))


def similar(sizes: Mapping[int, int]) -> Iterable[list[int]]:
    """Yield the numbers of layers that hold similarly much and follow on each other."""
    found: list[int] = []
    for number in sorted(sizes):
        held = [sizes[each] for each in (*found, number)]
        follows = found and number == found[-1] + 1
        if not follows or max(held) > _ALIKE * min(held):
            if found:
                yield found
            found = []
        found.append(number)
    if found:
        yield found


def _layer(name: str, numbers: Sequence[int]) -> str:
    """Return `block_3`, or `block_0 … block_3` for several."""
    ends = dict.fromkeys(f"{name}_{number}" for number in (numbers[0], numbers[-1]))
    return " … ".join(ends)


def without_layers(parts: PeakParts) -> PeakParts:
    """Return role → source line, for where there is room for no more."""
    found = []
    for role in parts:
        sizes: Counter[_Names] = Counter()
        for line in role.children:
            is_layer = any(child.children for child in line.children)
            for each in line.children if is_layer else (line,):
                sizes[each.label, each.name] += each.bytes
        lines = (Part(*names, role.role, size) for names, size in sizes.items())
        found.append(_part((role.label, role.name), role.role, lines))
    return tuple(found)


def depth(parts: PeakParts) -> int:
    """Return the number of levels."""
    return max((1 + depth(part.children) for part in parts), default=0)


def _lines(role: str, held: Iterable[Held]) -> Iterable[Part]:
    lines: dict[_Names, dict[_Names, Counter[str]]] = {}
    for each in held:
        leaves = lines.setdefault(_line(each), {})
        leaf = leaves.setdefault(_leaf(each), Counter())
        leaf.update(bytes=each.owned_bytes, count=each.value_count)
    for line, leaves in lines.items():
        parts = (
            Part(*_times(names, leaf["count"]), role, leaf["bytes"])
            for names, leaf in leaves.items()
        )
        yield _part(line, role, parts)


def _times(names: _Names, count: int) -> _Names:
    many = f" \N{MULTIPLICATION SIGN} {count:,}" if count > 1 else ""
    return names[0] + many, names[1] + many


def _part(names: _Names, role: str, parts: Iterable[Part]) -> Part:
    children = _largest_first(parts)
    return Part(*names, role, sum(part.bytes for part in children), children)


def _largest_first(parts: Iterable[Part]) -> PeakParts:
    return tuple(sorted(parts, key=lambda part: (-part.bytes, part.name)))


def _line(held: Held) -> _Names:
    """Return the source line, its file without folders first; or what has none."""
    if held.source_file is None or held.argument is not None:
        what = _WITHOUT_LINE.get(held.kind or "", "without a line")
        return what, what
    line = f":{held.source_line}"
    return held.source_file.rpartition("/")[2] + line, held.source_file + line


def _leaf(held: Held) -> _Names:
    """Return the name of an argument, its numbers as stars, or else the shape."""
    shape = _LAYOUT.sub("", held.shape or "bytes that no value covers")
    if held.argument is None:
        return shape, shape
    name = _NUMBER.sub("*", held.argument)
    return name, f"{name}: {shape}"
