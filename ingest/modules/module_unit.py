"""One module snapshot with its companions: who it is, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hlodb.ingest.arrow import NO_ID, Ints
from hlodb.ingest.formats.hlo_text.header import entry_layout, header_number
from hlodb.ingest.formats.memory_reports.memory_report import MemoryReport
from hlodb.ingest.hashing import hash64_of
from hlodb.ingest.modules.graph import Graph
from hlodb.ingest.modules.identity import (
    Edges,
    exact_fingerprint,
    program_key,
    program_name,
)
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import BufferAssignment, HloModule, column_of

if TYPE_CHECKING:
    from hlodb.ingest.formats.proto.hlo_proto import ElidedLiteral


@dataclass(frozen=True, slots=True)
class ModuleUnit:
    """One module snapshot with its companions, ready to be normalised.

    `occurrence` holds the columns of `modules` that come from names and places;
    `companion_digests` are the digests of its other texts. Reports, and literals that
    only a proto has, are evidence beside the content, no part of what the module is.
    """

    hlo: HloModule
    assignment: BufferAssignment | None
    occurrence: dict[str, Any]
    companion_digests: tuple[bytes, ...] = ()
    reports: tuple[MemoryReport, ...] = ()
    elided_literals: Sequence[ElidedLiteral] = ()


def derived_facts(
    distinct: Distinct, rows: Ints, unit: ModuleUnit, graph: Graph
) -> dict[str, Any]:
    """Return the columns of `modules` that follow from the content.

    The graph fingerprint comes later, see `edges_of`.
    """
    hlo, assignment = unit.hlo, unit.assignment
    forms = distinct.form_ids(rows)
    layout = entry_layout(hlo.header)
    partitions = header_number(hlo.header, "num_partitions", 1)
    program = program_name(hlo.name)
    entry = [i for i, c in enumerate(hlo.computations) if c.is_entry]
    starts = np.array(column_of(hlo.computations, "start"), np.int32)
    stops = np.array(column_of(hlo.computations, "stop"), np.int32)
    return {
        "name": hlo.name,
        "program": program,
        "program_key": program_key(program, layout or "", partitions),
        "is_scheduled": hlo.header.get("is_scheduled") == "true",
        "num_partitions": partitions,
        "replica_count": header_number(hlo.header, "replica_count", 1),
        "entry_computation_id": entry[0] if entry else None,
        "entry_layout": layout,
        "computation_count": len(hlo.computations),
        "instruction_count": int((stops - starts).sum()),
        "fusion_count": distinct.forms.fusion_count(forms),
        "exact_fingerprint": exact_fingerprint(
            distinct.forms.exact_keys_of(forms),
            graph.operands,
            graph.operand_counts,
            starts,
        ),
        "printed_total_bytes": assignment.printed_total_bytes if assignment else None,
        "allocation_count": len(assignment.allocations) if assignment else 0,
        "value_count": len(assignment.values) if assignment else 0,
        "live_range_count": len(assignment.live_ranges) if assignment else 0,
        "has_assignment": bool(assignment and assignment.allocations),
        "has_live_ranges": bool(assignment and assignment.live_ranges),
    }


def edges_of(distinct: Distinct, rows: Ints, graph: Graph) -> Edges:
    """Return the edges that the graph fingerprint covers."""
    keys = distinct.forms.graph_keys_of(distinct.form_ids(rows))
    return Edges(keys, *graph.edges_with_calls())


def first_line(hlo: HloModule) -> int:
    """Return the line of the first computation."""
    return hlo.body_line if hlo.computations else 1


def module_id_of(distinct: Distinct, rows: Ints, unit: ModuleUnit) -> int:
    """Hash everything a module's texts say, except where its source stands."""
    hlo = unit.hlo
    operands, counts = distinct.operands(rows)
    calls = distinct.call_ids(rows)
    callers = np.flatnonzero(calls != NO_ID)
    # A configuration, which few computations have, stands only where there is one.
    places = [
        (c.name, c.is_entry, c.stop, *(c[4:] if c.backend_config else c[4:5]))
        for c in hlo.computations
    ]
    texts = repr((hlo.name, hlo.header, places)).encode()
    del places
    names, forms = distinct.names, distinct.forms

    def parts() -> Iterator[Any]:
        yield texts
        yield names.keys_of(distinct.name_ids(rows))
        yield forms.keys_of(distinct.form_ids(rows))
        yield distinct.roots(rows)
        yield counts
        yield names.keys_of(operands)
        yield callers
        yield distinct.calls.keys_of(calls[callers])
        yield from sorted(unit.companion_digests)

    return hash64_of(parts())
