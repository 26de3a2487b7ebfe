"""Which buffer of one module is which of another.

The ladder of `match`, for buffers: what they are called, which operation makes them,
which framework path they come from, what shape they have; the n-th by birth with the
n-th. Counted buffers are matched with counted ones first; those left are looked for
among the rest of the other module, where they may live at other steps, in another kind
of allocation or in another memory space.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from hlodb.ingest.formats.shapes import parse_shape
from hlodb.reports.facts import Buffer
from hlodb.reports.match import Rung

SAME_SIZE = "size"
"""The method of the last rung: nothing but the size is equal."""

MOST_DIMENSIONS = 8
"""Arrays of more are not looked at for one dimension that differs."""

Key = Callable[[Buffer], Hashable | None]


class BufferMatch(NamedTuple):
    """Two buffers, or one that has no match; counted or not as they say."""

    base: Buffer | None
    candidate: Buffer | None
    method: str
    confidence: float


def _parameter(b: Buffer) -> Hashable | None:
    return b.parameter and (b.parameter, b.op_path, b.array_type)


def _parameter_path(b: Buffer) -> Hashable | None:
    return b.parameter and b.op_path and (b.op_path, b.array_type)


def _parameter_place_and_shape(b: Buffer) -> Hashable | None:
    """Of other names: an argument that is called otherwise."""
    return b.parameter and (b.parameter, b.array_type)


def _parameter_place(b: Buffer) -> Hashable | None:
    """Of equal names, or none: the number alone tells no argument that has its own."""
    return b.parameter and (b.parameter, b.op_path)


def _name(b: Buffer) -> Hashable | None:
    return b.instruction and (
        *(b.instruction, b.opcode, b.op_path, b.array_type),
        b.shape_index,
    )


def _operation(b: Buffer) -> Hashable | None:
    return b.opcode and (b.opcode, b.op_path, b.array_type, b.shape_index)


def _path_and_shape(b: Buffer) -> Hashable | None:
    return b.op_path and (b.op_path, b.array_type)


def _path(b: Buffer) -> Hashable | None:
    return b.op_path and (b.op_path, b.opcode, b.shape_index)


def _named_but_for_size(dimension: int, b: Buffer) -> Hashable | None:
    """Take what the compiler adds, which has no path, to be the same at other sizes.

    That is, where it is called the same and one dimension at most is another.
    """
    shape = parse_shape(b.array_type or "")
    if b.op_path or shape is None or not 0 <= dimension < len(shape.dimensions):
        return None
    rest = (*shape.dimensions[:dimension], None, *shape.dimensions[dimension + 1 :])
    return (b.instruction, b.opcode, b.shape_index, shape.element_type, rest)


def _opcode_and_shape(b: Buffer) -> Hashable | None:
    return b.opcode and (b.opcode, b.array_type)


def _shape(b: Buffer) -> Hashable | None:
    return b.array_type


def _size(b: Buffer) -> Hashable | None:
    return b.size_bytes or None


SURE = (
    Rung("parameter", 1.0, _parameter),
    Rung("instruction", 1.0, _name),
    Rung("operation and shape", 0.9, _operation),
    Rung("framework path and shape", 0.8, _path_and_shape),
    Rung("argument name", 0.8, _parameter_path),
    Rung("parameter number and shape", 0.7, _parameter_place_and_shape),
)
LIKELY = (
    Rung("parameter number", 0.7, _parameter_place),
    Rung("framework path", 0.7, _path),
    *(
        Rung("instruction at another size", 0.6, partial(_named_but_for_size, at))
        for at in range(MOST_DIMENSIONS)
    ),
    Rung("opcode and shape", 0.5, _opcode_and_shape),
    Rung("shape", 0.4, _shape),
    Rung(SAME_SIZE, 0.3, _size),
)


def match_buffers(
    base: Sequence[Buffer], candidate: Sequence[Buffer]
) -> list[BufferMatch]:
    """Return the counted buffers of both modules, each once, with their match."""
    matches: list[BufferMatch] = []
    gone = [b for b in base if b.is_counted]
    new = [b for b in candidate if b.is_counted]
    for rung in SURE:
        gone, new = _climb(rung, gone, new, matches, _space_and_kind)
    gone, new = _search_elsewhere(gone, new, base, candidate, matches)
    for rung in LIKELY:
        gone, new = _climb(rung, gone, new, matches, _space_and_kind)
    matches += [BufferMatch(b, None, "none", 0.0) for b in gone]
    matches += [BufferMatch(None, b, "none", 0.0) for b in new]
    return matches


def _search_elsewhere(
    gone: list[Buffer],
    new: list[Buffer],
    base: Sequence[Buffer],
    candidate: Sequence[Buffer],
    matches: list[BufferMatch],
) -> tuple[list[Buffer], list[Buffer]]:
    """Match with values that are not counted, then with counted ones elsewhere."""
    base_rest = _like(new, (b for b in base if not b.is_counted))
    new_rest = _like(gone, (b for b in candidate if not b.is_counted))
    for place in (_space_and_kind, _space, _anywhere):
        for rung in SURE[1:4]:
            gone, new = _climb(rung, gone, new, matches, place)
            gone, new_rest = _climb(rung, gone, new_rest, matches, place)
            base_rest, new = _climb(rung, base_rest, new, matches, place)
    return gone, new


def _like(sought: Sequence[Buffer], among: Iterable[Buffer]) -> list[Buffer]:
    """Return those of `among` that a sure rung could match with any of `sought`."""
    kinds = {(b.op_path or b.opcode, b.array_type) for b in sought}
    return [b for b in among if (b.op_path or b.opcode, b.array_type) in kinds]


def _space_and_kind(b: Buffer) -> Hashable:
    return (b.color, b.kind)


def _space(b: Buffer) -> Hashable:
    return b.color


def _anywhere(_: Buffer) -> Hashable:
    return None


def _climb(
    rung: Rung[Buffer],
    base: Sequence[Buffer],
    candidate: Sequence[Buffer],
    matches: list[BufferMatch],
    place: Key,
) -> tuple[list[Buffer], list[Buffer]]:
    """Add to `matches`; give what is left of both sides, in order."""
    if not base or not candidate:
        return list(base), list(candidate)
    waiting: dict[Hashable, list[Buffer]] = defaultdict(list)
    kept: list[Buffer] = []
    for buffer in candidate:
        key = rung.key(buffer)
        if key is None:
            kept.append(buffer)
        else:
            waiting[key, place(buffer)].append(buffer)
    left: list[Buffer] = []
    taken: dict[Hashable, int] = defaultdict(int)
    for buffer in base:
        key = rung.key(buffer)
        full: Hashable = (key, place(buffer))
        if key is not None and taken[full] < len(waiting.get(full, ())):
            partner = waiting[full][taken[full]]
            taken[full] += 1
            match = BufferMatch(buffer, partner, rung.method, rung.confidence)
            matches.append(match)
        else:
            left.append(buffer)
    for full, buffers in waiting.items():
        kept += buffers[taken[full] :]
    return left, _in_order(kept, candidate)


def _in_order(kept: list[Buffer], original: Iterable[Buffer]) -> list[Buffer]:
    places = {id(buffer): i for i, buffer in enumerate(original)}
    return sorted(kept, key=lambda buffer: places[id(buffer)])
