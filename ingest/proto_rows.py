"""What protos add to a module: facts that no text holds, and how far the two agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hlodb.ingest.columns import Columns
from hlodb.ingest.evidence import Evidence
from hlodb.ingest.records import BufferAssignment, HloModule, Instruction

if TYPE_CHECKING:
    from hlodb.ingest.formats.hlo_proto import ProtoFacts

_COLUMNS = {
    "elided_literals": ("instruction_id", "size_bytes", "digest"),
    "allocation_flags": ("allocation_id", "is_tuple", "is_aliased"),
    "heap_traces": ("trace_id", "allocation_id", "is_whole_module"),
    "heap_events": ("trace_id", "event", "kind", "value_id", "shared_value_id"),
    "peak_buffers": ("allocation_id", "value_id"),
}

PROTO_TABLES = ("proto_facts", *_COLUMNS)
"""Tables of what only protos hold, keyed by module_id: the first one is stored."""

Row = tuple[Any, ...]


class Described(NamedTuple):
    """A module and its assignment in one of the two forms."""

    hlo: HloModule
    assignment: BufferAssignment | None


def add_proto_facts(
    module_id: int, facts: ProtoFacts, tables: Mapping[str, Columns]
) -> None:
    """Add the rows of one module's proto."""
    tables["proto_facts"].add(
        1,
        module_id=module_id,
        is_dynamic=facts.is_dynamic,
        cross_program_prefetch_count=len(facts.cross_program_prefetches),
    )
    rows: dict[str, list[Any]] = {"elided_literals": facts.elided_literals}
    if facts.heap is not None:
        rows["allocation_flags"] = facts.heap.flags
        rows["heap_traces"] = facts.heap.traces
        rows["heap_events"] = facts.heap.events
        rows["peak_buffers"] = facts.heap.peak_buffers
    for name, listed in rows.items():
        columns = {c: [getattr(row, c) for row in listed] for c in _COLUMNS[name]}
        tables[name].add(len(listed), module_id=module_id, **columns)


def compare_forms(path: str, text: Described, proto: Described) -> Iterator[Evidence]:
    """Give a row of proto_comparisons for every table that both forms fill.

    Left out is what only one of them can know: the order of readers, printed totals and
    peaks, pages, literals that the text spells out; frames where the text has none; and
    steps where one of them has no schedule, as protos of CPU releases of 2023.
    """
    texts, protos = _tables(text, proto), _tables(proto, text)
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


def _tables(form: Described, other: Described) -> dict[str, list[Row]]:
    tables = dict(_module_tables(form.hlo, other.hlo))
    if form.assignment is not None and other.assignment is not None:
        tables |= dict(_assignment_tables(form.assignment))
    return tables


def _module_tables(hlo: HloModule, other: HloModule) -> Iterator[tuple[str, list[Row]]]:
    yield (
        "computations",
        [
            (c.name, c.is_entry, c.start, c.stop, c.execution_thread)
            for c in hlo.computations
        ],
    )
    inside = hlo.computations[-1].stop if hlo.computations else 0
    rows = list(enumerate(hlo.instructions[:inside]))
    if any(i.operand_paths for _, i in rows):
        # Compact text leaves get-tuple-element instructions out: nothing to compare.
        return
    elided = _spelt_out(other)
    yield "instructions", [
        (at, i.name, i.opcode, i.shape, i.is_root, i.parameter_number, i.attributes,
         None if at in elided else i.literal)
        for at, i in rows
    ]  # fmt: skip
    yield "operands", [(at, *i.operands) for at, i in rows if i.operands]
    yield "called_computations", [(at, *i.calls) for at, i in rows if i.calls]
    if hlo.frames and other.frames:
        yield "locations", [(at, i.location) for at, i in rows if i.location]
        yield "stack_frames", [tuple(frame) for frame in hlo.frames]
    else:
        places = ((at, _without_frame(i)) for at, i in rows)
        yield "locations", [(at, place) for at, place in places if place]


def _spelt_out(hlo: HloModule) -> set[int]:
    # Loads protobuf, which is there already where there is a proto to compare with.
    from hlodb.ingest.formats.proto_literals import ELIDED

    return {at for at, i in enumerate(hlo.instructions) if i.literal == ELIDED}


def _without_frame(instruction: Instruction) -> Row | None:
    place = instruction.location
    if place is None:
        return None
    known = tuple(place._replace(stack_frame_id=None))
    return known if any(part is not None for part in known) else None


def _assignment_tables(a: BufferAssignment) -> Iterator[tuple[str, list[Row]]]:
    yield "allocations", [tuple(x._replace(page=None)) for x in a.allocations]
    yield "allocation_values", [tuple(x) for x in a.placements]
    yield "values", [tuple(x) for x in a.values]
    yield "value_positions", [tuple(x) for x in a.positions]
    yield "value_uses", [tuple(x) for x in a.uses]
    if a.schedule:
        yield "schedule", list(enumerate(a.schedule))
        yield "live_ranges", [tuple(x) for x in a.live_ranges]
