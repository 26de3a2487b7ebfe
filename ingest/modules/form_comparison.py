"""Text and proto of one module side by side: how far the two agree.

Both are compared as rows, as far as each form can say them. Left out is what only one
of them can know: the order of readers, printed totals and peaks, pages, literals that
one of them elides; frames where the text has none; steps where one of them has no
schedule, as protos of CPU releases of 2023; shapes of allocations until 2020; positions
and uses of values, and which are phis, until 2019. What the computation of an async
operation makes lives from the start of that since jaxlib 0.12, from its own step
before; protos don't tell the release, so the steps of such a computation count as that
one. What flags of the dump keep out of text (metadata, control predecessors) and what
releases spell in other ways is no difference.

Text that only implies get-tuple-elements has other names and places for them. Then
instructions are matched by name, and an element by its path.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from hlodb.ingest.formats.hlo_text.elements import implied_elements
from hlodb.ingest.formats.scan import without_comments
from hlodb.ingest.modules.stored_text import stored_attributes
from hlodb.ingest.records import (
    Attributes,
    BufferAssignment,
    Evidence,
    Frame,
    HloModule,
    Instruction,
    Location,
)

_IOTA = re.compile(r"device_ids=\(\[([0-9,]*)\](?:T\(([0-9,]*)\))?\)")
_PREDECESSORS = re.compile(r"control-predecessors=\{[^{}]*\}")
# Begins where digits begin: tried at each of many digits it would take quadratic time.
_FRACTION = re.compile(r"(?:-|(?<![0-9]))[0-9]++\.[0-9]++(?:e[-+]?[0-9]++)?")
# Broadcasts print it since jaxlib 0.12; protos have no room to say it.
_STATIC_ROOT = re.compile(r"(?:^|, )has_dynamic_root=false\b")
_ALL_OF_PREDECESSORS = re.compile(rf"(?:, )?{_PREDECESSORS.pattern}")
_MOST_AXES = 32
_MOST_DEVICES = 1 << 20


def plain_shape(text: str | None) -> str | None:
    """Return a shape without the `/*index=5*/` that text has since 2021."""
    return None if text is None else without_comments(text)


def in_six_digits(literal: str) -> str:
    """Return a literal as text until 2020 has it: as C's `%g` prints its numbers."""
    return _FRACTION.sub(lambda number: f"{float(number.group()):g}", literal)


def without_predecessors(other: str | None) -> str | None:
    """Return the unusual attributes, without control predecessors."""
    return _ALL_OF_PREDECESSORS.sub("", other or "").removeprefix(", ") or None


@lru_cache(maxsize=4096)
def spelt_alike(attributes: Attributes) -> Attributes:
    """Return attributes with names, device numbers and configurations spelt alike."""
    return attributes._replace(
        backend_config=_sorted(attributes.backend_config),
        replica_groups=_IOTA.sub(_numbers, attributes.replica_groups or ""),
        other=_STATIC_ROOT.sub(
            "", _PREDECESSORS.sub(_without_percent, attributes.other or "")
        ),
    )


def _sorted(config: str | None) -> str | None:
    """Sort the keys of a configuration, which protos have in another order."""
    try:
        read = json.loads(config or "null")
    except (ValueError, RecursionError):
        return config
    return json.dumps(read, sort_keys=True) if isinstance(read, dict) else config


def _numbers(iota: re.Match[str]) -> str:
    """Write `[2,4]T(1,0)`, numbers in order transposed, as the list that it means."""
    sizes, order = ([int(n) for n in (t or "").split(",") if n] for t in iota.groups())
    if len(sizes) > _MOST_AXES or prod(sizes) > _MOST_DEVICES:
        return iota.group()
    if sorted(order) != list(range(len(sizes))):
        return iota.group()
    numbers = np.arange(prod(sizes)).reshape(sizes).transpose(order)
    return f"device_ids=({','.join(map(str, numbers.ravel().tolist()))})"


def _without_percent(names: re.Match[str]) -> str:
    return names.group().replace("%", "")


_ELEMENT = "get-tuple-element"
_INDEX = re.compile(r"index=([0-9]+)")

Row = tuple[Any, ...]


class Comparable(NamedTuple):
    """One of the two forms: instructions by what identifies them, and what it lacks.

    `listed` are all instructions of computations, in order. `has_names` tells whether
    any has an op_name or op_type; the others, whether any has a source place, a stack
    frame, or control predecessors.
    """

    hlo: HloModule
    listed: Sequence[Instruction]
    instructions: Mapping[Hashable, Instruction]
    assignment: BufferAssignment | None
    is_compact: bool
    has_names: bool
    has_places: bool
    has_frames: bool
    has_predecessors: bool


def comparable(
    hlo: HloModule, assignment: BufferAssignment | None, is_compact: bool
) -> Comparable:
    """Return a form of a module, where `is_compact` tells how its text was printed."""
    inside = hlo.computations[-1].stop if hlo.computations else 0
    listed = list(hlo.instructions[:inside])
    found: Mapping[Any, Instruction] = dict(enumerate(listed))
    if is_compact:
        found = {at: i for at, i in _by_path(listed) if i.opcode != _ELEMENT}
    said = [i.attributes for i in found.values()]
    places = [i.location for i in found.values() if i.location]
    return Comparable(
        hlo,
        listed,
        found,
        assignment,
        is_compact,
        any(a.op_name or a.op_type for a in said),
        bool(places),
        any(place.stack_frame_id is not None for place in places),
        any("control-predecessors=" in (a.other or "") for a in said),
    )


def alike(form: Comparable, other: Comparable) -> Collection[Hashable]:
    """Return the equal facts that identify instructions of both, places aside."""
    theirs = other.instructions
    return {
        at
        for at, own in form.instructions.items()
        if at in theirs and own[:-1] == theirs[at][:-1]
    }


def rows_of_both(
    form: Comparable, other: Comparable, same: Collection[Hashable]
) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the rows of each table that `form` fills, without what `other` can't say.

    `alike` returns the `same` instructions, which are identified by that alone.
    """
    yield from _module_tables(form, other, same)
    if form.has_places == other.has_places:
        yield from _place_tables(form, other)
    if form.assignment is not None and other.assignment is not None:
        yield from _assignment_tables(form, form.assignment, other.assignment)


def _module_tables(
    form: Comparable, other: Comparable, same: Collection[Hashable]
) -> Iterator[tuple[str, list[Row]]]:
    computations, own = form.hlo.computations, form.instructions.items()
    places = [() if form.is_compact else (c.start, c.stop) for c in computations]
    named = zip(computations, places, strict=True)
    yield (
        "computations",
        [(c.name, c.is_entry, *place, *c[4:]) for c, place in named],
    )
    yield "instructions", [
        (at,) if at in same else
        (at, i.name, i.opcode, plain_shape(i.shape), i.is_root, i.parameter_number,
         _attributes(i.attributes, other), _literal(i, other.instructions.get(at)))
        for at, i in own
    ]  # fmt: skip
    yield "operands", [(at, *i.operands) for at, i in own if i.operands]
    yield "called_computations", [(at, *i.calls) for at, i in own if i.calls]


def _attributes(own: Attributes, other: Comparable) -> Attributes:
    if not other.has_names:
        own = own._replace(op_name=None, op_type=None)
    if not other.has_predecessors:
        own = own._replace(other=without_predecessors(own.other))
    return spelt_alike(stored_attributes(own))


def _literal(own: Instruction, other: Instruction | None) -> str | None:
    """Return a literal with no more digits than the other form has of it."""
    literal, theirs = own.literal, other.literal if other else None
    if literal is None or theirs is None or literal == theirs:
        return literal
    # Loads protobuf, which is there already where there is a proto to compare with.
    from hlodb.ingest.formats.proto.literals import ELIDED

    if ELIDED in (literal, theirs):
        return None
    rounded = in_six_digits(literal)
    return rounded if rounded == theirs else literal


def _place_tables(
    form: Comparable, other: Comparable
) -> Iterator[tuple[str, list[Row]]]:
    frames = form.hlo.frames
    own = [(at, i) for at, i in form.instructions.items() if i.location]
    if frames and other.hlo.frames:
        yield "stack_frames", [tuple(frame) for frame in frames]
    if form.has_frames and other.has_frames:
        theirs = other.instructions
        kept = ((at, i) for at, i in own if not _is_left_out(i, theirs.get(at)))
        yield "locations", [(at, i.location) for at, i in kept]
    else:
        by_number = {frame.stack_frame_id: frame for frame in frames}
        lines = ((at, _line(i.location, by_number)) for at, i in own if i.location)
        yield "locations", [(at, *line) for at, line in lines if any(line)]


def _is_left_out(own: Instruction, other: Instruction | None) -> bool:
    """Return whether a frame is all metadata, unprinted by jaxlib 0.8.2 to 0.9.0."""
    place, attributes = own.location, own.attributes
    is_frame_alone = place is not None and not any(place[:-1])
    is_named = attributes.op_name or attributes.op_type
    return is_frame_alone and not is_named and other is not None and not other.location


def _line(place: Location, frames: Mapping[int, Frame]) -> Row:
    """Return a place without its frame; where that is all, the place of the frame."""
    frame = frames.get(place.stack_frame_id or 0)
    if frame is not None and not any(place[:-1]):
        return frame.file_name, frame.line, None, frame.column, None
    return place[:-1]


def _by_path(listed: Sequence[Instruction]) -> Sequence[tuple[str, Instruction]]:
    """Return instructions with their names, elements with the name of their path."""
    paths: dict[str, str] = {}
    found = []
    for i in listed:
        operands = tuple(paths.get(name, name) for name in i.operands)
        if i.opcode == _ELEMENT:
            number = _INDEX.match(i.attributes.other or "")
            paths[i.name] = f"{''.join(operands)}_{number[1] if number else ''}"
        found.append((paths.get(i.name, i.name), i._replace(operands=operands)))
    return found


def _async_steps(form: Comparable, schedule: Sequence[str]) -> dict[int, int]:
    """Return the start step of each async operation, by its callees."""
    steps = {name: at for at, name in enumerate(schedule)}
    start_of = {
        computation: steps[i.name]
        for i in form.listed
        if i.calls and i.opcode.endswith("-start") and i.name in steps
        for call in i.calls
        for computation in call.computations
    }
    return {
        steps[i.name]: start_of[c.name]
        for c in form.hlo.computations
        if c.name in start_of
        for i in form.listed[c.start : c.stop]
        if i.name in steps
    }


def _assignment_tables(
    form: Comparable, a: BufferAssignment, other: BufferAssignment
) -> Iterator[tuple[str, list[Row]]]:
    left_out: dict[str, Any] = {"page": None}
    if not all(any(x.shape for x in which.allocations) for which in (a, other)):
        left_out |= {"shape": None, "is_output_tuple": False}
    yield "allocations", [tuple(x._replace(**left_out)) for x in a.allocations]
    yield "allocation_values", [tuple(x) for x in a.placements]
    has_uses = bool(a.positions and other.positions)
    yield (
        "values",
        [(*v[:-2], v.is_phi and has_uses, plain_shape(v.shape)) for v in a.values],
    )
    if has_uses:
        yield "value_positions", [tuple(x) for x in a.positions]
        yield "value_uses", [tuple(x) for x in a.uses]
    if a.schedule:
        yield "schedule", list(enumerate(a.schedule))
        step = _async_steps(form, a.schedule)
        yield "live_ranges", [
            (r.instruction, r.shape_index, step.get(r.start_step, r.start_step),
             step.get(r.end_step, r.end_step))
            for r in a.live_ranges
        ]  # fmt: skip


class Described(NamedTuple):
    """A module and its assignment in one of the two forms."""

    hlo: HloModule
    assignment: BufferAssignment | None


def compare_forms(path: str, text: Described, proto: Described) -> Iterator[Evidence]:
    """Yield a row of proto_comparisons for every table that both forms fill."""
    is_compact = bool(implied_elements(text.hlo.lines)) or _has_fewer_elements(
        text.hlo, proto.hlo
    )
    ours, theirs = (comparable(*form, is_compact) for form in (text, proto))
    same = alike(ours, theirs)
    of_text = dict(rows_of_both(ours, theirs, same))
    of_proto = dict(rows_of_both(theirs, ours, same))
    for table, rows in of_text.items():
        if table in of_proto:
            yield Evidence(
                "proto_comparisons", _compared(path, table, rows, of_proto[table])
            )


def _has_fewer_elements(text: HloModule, proto: HloModule) -> bool:
    """Return whether text leaves out get-tuple-elements: those that nothing reads."""
    if len(text.instructions) >= len(proto.instructions):
        return False
    of_text, of_proto = (
        sum(i.opcode == _ELEMENT for i in form.instructions) for form in (text, proto)
    )
    return of_text < of_proto


def _compared(
    path: str, table: str, ours: Sequence[Row], theirs: Sequence[Row]
) -> dict[str, Any]:
    differing = [] if ours == theirs else _differing(Counter(ours), Counter(theirs))
    return {
        "path": path,
        "table_name": table,
        "compared_count": max(len(ours), len(theirs)),
        "difference_count": len(differing),
        "example": _shown(differing[0]) if differing else None,
    }


def _differing(ours: Counter[Row], theirs: Counter[Row]) -> list[Row]:
    return [*(ours - theirs).elements(), *(theirs - ours).elements()]


def _shown(row: Row) -> str:
    return ", ".join(str(part) for part in row)[:200]
