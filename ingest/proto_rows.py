"""What protos add to a module: facts that no text holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hlodb.ingest.columns import Columns

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
