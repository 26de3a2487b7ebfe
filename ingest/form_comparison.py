"""Text and proto of one module held side by side: how far the two agree.

Left out is what only one of them can know: the order of readers, printed totals and
peaks, pages, literals that the text spells out; frames where the text has none; and
steps where one of them has no schedule, as protos of CPU releases of 2023. What the
computation of an async operation makes lives from the start of that since jaxlib 0.12,
from its own step before; protos don't tell the release, so that step is left out too.

Text that only implies get-tuple-elements has other names and places for them. Then
instructions are told by name, and an element by its path.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hlodb.ingest.evidence import Evidence
from hlodb.ingest.formats.hlo_elements import implied_elements
from hlodb.ingest.records import Attributes, BufferAssignment, HloModule, Instruction

_ELEMENT = "get-tuple-element"
_INDEX = re.compile(r"index=([0-9]+)")

Row = tuple[Any, ...]


class Described(NamedTuple):
    """A module and its assignment in one of the two forms."""

    hlo: HloModule
    assignment: BufferAssignment | None


def compare_forms(path: str, text: Described, proto: Described) -> Iterator[Evidence]:
    """Give a row of proto_comparisons for every table that both forms fill."""
    is_compact = bool(implied_elements(text.hlo.lines))
    texts = _tables(text, proto, is_compact)
    protos = _tables(proto, text, is_compact)
    for table, rows in texts.items():
        if table not in protos:
            continue
        ours, theirs = Counter(rows), Counter(protos[table])
        differing = [*(ours - theirs).elements(), *(theirs - ours).elements()]
        row = {
            "path": path,
            "table_name": table,
            "compared_count": max(ours.total(), theirs.total()),
            "difference_count": len(differing),
            "example": _shown(differing[0]) if differing else None,
        }
        yield Evidence("proto_comparisons", row)


def _shown(row: Row) -> str:
    return ", ".join(str(part) for part in row)[:200]


def _tables(
    form: Described, other: Described, is_compact: bool
) -> dict[str, list[Row]]:
    tables = dict(_module_tables(form.hlo, other.hlo, is_compact))
    if form.assignment is not None and other.assignment is not None:
        tables |= dict(_assignment_tables(form.assignment, _made_by_async(form.hlo)))
    return tables


def _module_tables(
    hlo: HloModule, other: HloModule, is_compact: bool
) -> Iterator[tuple[str, list[Row]]]:
    rows = _by_path(hlo) if is_compact else _by_place(hlo)
    own = [(at, i) for at, i in rows if not (is_compact and i.opcode == _ELEMENT)]
    yield "computations", [
        (c.name, c.is_entry, *(() if is_compact else (c.start, c.stop)),
         c.execution_thread)
        for c in hlo.computations
    ]  # fmt: skip
    others = _by_path(other) if is_compact else _by_place(other)
    elided = {at for at, i in others if i.literal == _elided()}
    yield "instructions", [
        (at, i.name, i.opcode, i.shape, i.is_root, i.parameter_number,
         _in_one_spelling(i.attributes), None if at in elided else i.literal)
        for at, i in own
    ]  # fmt: skip
    yield "operands", [(at, *i.operands) for at, i in own if i.operands]
    yield "called_computations", [(at, *i.calls) for at, i in own if i.calls]
    if hlo.frames and other.frames:
        yield "locations", [(at, i.location) for at, i in own if i.location]
        yield "stack_frames", [tuple(frame) for frame in hlo.frames]
    else:
        places = ((at, _without_frame(i)) for at, i in own)
        yield "locations", [(at, place) for at, place in places if place]


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


@lru_cache(maxsize=4096)
def _in_one_spelling(attributes: Attributes) -> Attributes:
    """Sort the keys of a configuration, which protos have in another order."""
    try:
        config = json.loads(attributes.backend_config or "null")
    except (ValueError, RecursionError):
        return attributes
    if not isinstance(config, dict):
        return attributes
    return attributes._replace(backend_config=json.dumps(config, sort_keys=True))


def _elided() -> str:
    # Loads protobuf, which is there already where there is a proto to compare with.
    from hlodb.ingest.formats.proto_literals import ELIDED

    return ELIDED


def _without_frame(instruction: Instruction) -> Row | None:
    place = instruction.location
    if place is None:
        return None
    known = tuple(place._replace(stack_frame_id=None))
    return known if any(part is not None for part in known) else None


def _made_by_async(hlo: HloModule) -> set[str]:
    """Give the names of instructions in computations of async operations."""
    called = {
        computation
        for i in hlo.instructions
        if i.calls and i.opcode.endswith("-start")
        for call in i.calls
        for computation in call.computations
    }
    inside = (c for c in hlo.computations if c.name in called)
    return {i.name for c in inside for i in hlo.instructions[c.start : c.stop]}


def _assignment_tables(
    a: BufferAssignment, made_by_async: set[str]
) -> Iterator[tuple[str, list[Row]]]:
    yield "allocations", [tuple(x._replace(page=None)) for x in a.allocations]
    yield "allocation_values", [tuple(x) for x in a.placements]
    yield "values", [tuple(x) for x in a.values]
    yield "value_positions", [tuple(x) for x in a.positions]
    yield "value_uses", [tuple(x) for x in a.uses]
    if a.schedule:
        yield "schedule", list(enumerate(a.schedule))
        yield "live_ranges", [
            (r.instruction, r.shape_index,
             None if r.instruction in made_by_async else r.start_step, r.end_step)
            for r in a.live_ranges
        ]  # fmt: skip
