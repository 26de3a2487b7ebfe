"""Recomputes the queries about source lines, frames and framework paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle.memory import Owned, Space
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    of_space,
    ratio,
    recomputes,
)
from tests.oracle.recompute.sources import (
    Attributed,
    attributed,
    op_path,
)


def _line(space: Space, owned: Owned) -> Attributed | None:
    if owned.value is None:
        return None
    return attributed(space.module, owned.value, owned.allocation.kind)


@recomputes("peak_by_source_line")
def peak_by_source_line(dump: Dump) -> Iterator[Row]:
    """Sum what values own at the peak by the line that they count for."""
    for space in dump.spaces:
        groups: dict[tuple[object, ...], list[Owned]] = defaultdict(list)
        for owned in space.owners:
            line = _line(space, owned)
            source = line.source if line and line.source.file is not None else None
            key = (
                (source.file, source.line, None)
                if source
                else (None, None, owned.allocation.kind)
            )
            groups[key].append(owned)
        for (file, number, kind), found in groups.items():
            lines = [_line(space, owned) for owned in found]
            functions = {
                line.source.function for line in lines if line and line.source.function
            }
            named = [o for o in found if o.value and o.value.instruction]
            largest = max(named, key=_size, default=None)
            size = sum(owned.owned for owned in found)
            yield {
                **of_space(space),
                "source_file": file,
                "source_line": number,
                "function_name": min(functions, default=None),
                "kind": kind,
                "owned_bytes": size,
                "peak_ratio": ratio(size, space.peak),
                "read_bytes": sum(
                    owned.owned
                    for owned, line in zip(found, lines, strict=True)
                    if file is not None and line and line.attribution == "read"
                ),
                "value_count": sum(owned.owned > 0 for owned in found),
                "largest_instruction": largest.value.name
                if largest and largest.value
                else None,
                "path": space.module.path,
            }


def _size(owned: Owned) -> tuple[int, int]:
    return owned.owned, -(owned.value.number if owned.value else 0)


@recomputes("peak_by_owner")
def peak_by_owner(dump: Dump) -> Iterator[Row]:
    """Sum by owner; nobody owns a file here."""
    for space in dump.spaces:
        sums: dict[str, int] = defaultdict(int)
        files: dict[str, set[str]] = defaultdict(set)
        for owned in space.owners:
            line = _line(space, owned)
            file = line.source.file if line else None
            owner = "(no source)" if file is None else "(unowned)"
            sums[owner] += owned.owned
            files[owner] |= {file} if file is not None else set()
        for owner, size in sums.items():
            yield {
                **of_space(space),
                "owner": owner,
                "owned_bytes": size,
                "peak_ratio": ratio(size, space.peak),
                "file_count": len(files[owner]),
            }


@recomputes("op_name_tree", {}, {"max_depth": 2})
def op_name_tree(dump: Dump, max_depth: int = 100) -> Iterator[Row]:
    """Sum what values own at the peak by every prefix of their path."""
    for space in dump.spaces:
        totals: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
        for owned in space.owners:
            if owned.owned == 0:
                continue
            kind = owned.allocation.kind
            is_argument = kind in ("parameter", "constant")
            nameless = f"({kind})" if is_argument else "(no op_name)"
            instruction = owned.value.instruction if owned.value else None
            parts = (op_path(instruction) or nameless).split("/")
            for depth in range(1, len(parts) + 1):
                found = totals[tuple(parts[:depth])]
                found[0] += owned.owned
                found[1] += owned.owned * (depth == len(parts))
                found[2] += 1
        for parts_, (total, own, count) in totals.items():
            if len(parts_) > max_depth:
                continue
            yield {
                **of_space(space),
                "op_path": "/".join(parts_),
                "depth": len(parts_),
                "self_bytes": own,
                "total_bytes": total,
                "peak_ratio": ratio(total, space.peak),
                "value_count": count,
                "folded": f"{';'.join(parts_)} {own}" if own else None,
            }
