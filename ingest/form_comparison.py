"""Text and proto of one module held side by side: how far the two agree.

Left out is what only one of them can know: the order of readers, printed totals and
peaks, pages, literals that one of them elides; frames where the text has none; steps
where one of them has no schedule, as protos of CPU releases of 2023; shapes of
allocations until 2020; positions and uses of values, and which are phis, until 2019.
What the computation of an async operation makes lives from the start of that since
jaxlib 0.12, from its own step before; protos don't tell the release, so the steps of
such a computation count as that one. Other things are only spelt in other ways by other
releases.

Text that only implies get-tuple-elements has other names and places for them. Then
instructions are told by name, and an element by its path.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hlodb.ingest.evidence import Evidence
from hlodb.ingest.formats.hlo_elements import implied_elements
from hlodb.ingest.records import BufferAssignment, HloModule, Instruction
from hlodb.ingest.spelling import in_six_digits, plain_shape, spelt_alike

_ELEMENT = "get-tuple-element"
_INDEX = re.compile(r"index=([0-9]+)")

Row = tuple[Any, ...]


class Described(NamedTuple):
    """A module and its assignment in one of the two forms."""

    hlo: HloModule
    assignment: BufferAssignment | None


class _Form(NamedTuple):
    """One of the two forms, its instructions by what they are told by."""

    hlo: HloModule
    instructions: Mapping[Hashable, Instruction]
    assignment: BufferAssignment | None
    is_compact: bool


def compare_forms(path: str, text: Described, proto: Described) -> Iterator[Evidence]:
    """Give a row of proto_comparisons for every table that both forms fill."""
    is_compact = bool(implied_elements(text.hlo.lines))
    ours, theirs = _form(text, is_compact), _form(proto, is_compact)
    of_text, of_proto = _tables(ours, theirs), _tables(theirs, ours)
    for table, rows in of_text.items():
        if table in of_proto:
            row = _compared(path, table, Counter(rows), Counter(of_proto[table]))
            yield Evidence("proto_comparisons", row)


def _compared(
    path: str, table: str, ours: Counter[Row], theirs: Counter[Row]
) -> dict[str, Any]:
    differing = [*(ours - theirs).elements(), *(theirs - ours).elements()]
    return {
        "path": path,
        "table_name": table,
        "compared_count": max(ours.total(), theirs.total()),
        "difference_count": len(differing),
        "example": _shown(differing[0]) if differing else None,
    }


def _shown(row: Row) -> str:
    return ", ".join(str(part) for part in row)[:200]


def _form(described: Described, is_compact: bool) -> _Form:
    hlo, assignment = described
    found: Mapping[Any, Instruction] = dict(_by_place(hlo))
    if is_compact:
        found = {at: i for at, i in _by_path(hlo) if i.opcode != _ELEMENT}
    return _Form(hlo, found, assignment, is_compact)


def _tables(form: _Form, other: _Form) -> dict[str, list[Row]]:
    tables = dict(_module_tables(form, other))
    if form.assignment is not None and other.assignment is not None:
        of_both = _assignment_tables(form.assignment, other.assignment, form.hlo)
        tables |= dict(of_both)
    return tables


def _module_tables(form: _Form, other: _Form) -> Iterator[tuple[str, list[Row]]]:
    computations, own = form.hlo.computations, form.instructions.items()
    places = [() if form.is_compact else (c.start, c.stop) for c in computations]
    yield (
        "computations",
        [
            (c.name, c.is_entry, *place, c.execution_thread)
            for c, place in zip(computations, places, strict=True)
        ],
    )
    yield "instructions", [
        (at, i.name, i.opcode, plain_shape(i.shape), i.is_root, i.parameter_number,
         spelt_alike(i.attributes), _literal(i, other.instructions.get(at)))
        for at, i in own
    ]  # fmt: skip
    yield "operands", [(at, *i.operands) for at, i in own if i.operands]
    yield "called_computations", [(at, *i.calls) for at, i in own if i.calls]
    if form.hlo.frames and other.hlo.frames:
        yield (
            "locations",
            [
                (at, i.location)
                for at, i in own
                if i.location and not _is_left_out(i, other.instructions.get(at))
            ],
        )
        yield "stack_frames", [tuple(frame) for frame in form.hlo.frames]
    else:
        bare = ((at, _without_frame(i)) for at, i in own)
        yield "locations", [(at, place) for at, place in bare if place]


def _literal(own: Instruction, other: Instruction | None) -> str | None:
    """Give a literal with no more digits than the other form has of it."""
    literal, theirs = own.literal, other.literal if other else None
    if literal is None or theirs is None or literal == theirs:
        return literal
    # Loads protobuf, which is there already where there is a proto to compare with.
    from hlodb.ingest.formats.proto_literals import ELIDED

    if ELIDED in (literal, theirs):
        return None
    rounded = in_six_digits(literal)
    return rounded if rounded == theirs else literal


def _is_left_out(own: Instruction, other: Instruction | None) -> bool:
    """Tell whether a frame is all metadata, which jaxlib 0.8.2 to 0.9.0 don't print."""
    place, attributes = own.location, own.attributes
    is_frame_alone = place is not None and not any(place[:-1])
    is_named = attributes.op_name or attributes.op_type
    return is_frame_alone and not is_named and other is not None and not other.location


def _by_place(hlo: HloModule) -> Sequence[tuple[int, Instruction]]:
    """Give the instructions of computations with their numbers."""
    inside = hlo.computations[-1].stop if hlo.computations else 0
    return list(enumerate(hlo.instructions[:inside]))


def _by_path(hlo: HloModule) -> Sequence[tuple[str, Instruction]]:
    """Give instructions with their names, elements with the name of their path."""
    paths: dict[str, str] = {}
    found = []
    for _, i in _by_place(hlo):
        operands = tuple(paths.get(name, name) for name in i.operands)
        if i.opcode == _ELEMENT:
            number = _INDEX.match(i.attributes.other or "")
            paths[i.name] = f"{''.join(operands)}_{number[1] if number else ''}"
        found.append((paths.get(i.name, i.name), i._replace(operands=operands)))
    return found


def _without_frame(instruction: Instruction) -> Row | None:
    place = instruction.location
    if place is None:
        return None
    known = tuple(place._replace(stack_frame_id=None))
    return known if any(part is not None for part in known) else None


def _async_steps(hlo: HloModule, schedule: Sequence[str]) -> dict[int, int]:
    """Give the step of the start of each async operation, by those of what it calls."""
    steps = {name: at for at, name in enumerate(schedule)}
    start_of = {
        computation: steps[i.name]
        for i in hlo.instructions
        if i.calls and i.opcode.endswith("-start") and i.name in steps
        for call in i.calls
        for computation in call.computations
    }
    return {
        steps[i.name]: start_of[c.name]
        for c in hlo.computations
        if c.name in start_of
        for i in hlo.instructions[c.start : c.stop]
        if i.name in steps
    }


def _assignment_tables(
    a: BufferAssignment, other: BufferAssignment, hlo: HloModule
) -> Iterator[tuple[str, list[Row]]]:
    left_out: dict[str, Any] = {"page": None}
    if not all(any(x.shape for x in form.allocations) for form in (a, other)):
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
        step = _async_steps(hlo, a.schedule)
        yield "live_ranges", [
            (r.instruction, r.shape_index, step.get(r.start_step, r.start_step),
             step.get(r.end_step, r.end_step))
            for r in a.live_ranges
        ]  # fmt: skip
