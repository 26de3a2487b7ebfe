"""Records of modules → Arrow tables.

One `Batch` takes the modules of many units and builds each table once. A module whose
content was seen before gives an occurrence row and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hlodb.ingest.arrow import NO_ID, Columns, Ints, Numbered, arrow_schema
from hlodb.ingest.formats.hlo_text.header import aliases
from hlodb.ingest.formats.shapes import parse_shape
from hlodb.ingest.memory.conditionals import Branches
from hlodb.ingest.modules.graph import Graph, computation_kinds, resolve_graph
from hlodb.ingest.modules.identity import Edges, graph_fingerprints
from hlodb.ingest.modules.interning import Distinct, Rows
from hlodb.ingest.modules.module_unit import (
    ModuleUnit,
    derived_facts,
    edges_of,
    first_line,
    module_id_of,
)
from hlodb.ingest.modules.numbering import Forms
from hlodb.ingest.records import HloModule
from hlodb.ingest.tables.assignment_rows import AssignmentRows
from hlodb.ingest.tables.content_keys import module_table
from hlodb.ingest.tables.location_rows import LOCATION_TABLES, add_locations
from hlodb.ingest.tables.report_rows import REPORT_TABLES, add_report

if TYPE_CHECKING:
    from hlodb.ingest.formats.proto.hlo_proto import ElidedLiteral

DETAIL_TABLES = (
    "computations",
    "store.instructions",
    "operands",
    "called_computations",
    "aliases",
    "allocations",
    "store.values",
    "allocation_values",
    "store.value_positions",
    "store.value_uses",
    "store.schedule",
    "store.live_ranges",
    "printed_peaks",
    "memory_profile",
    "memory_timeline",
)
"""Tables keyed by module_id, stored once per module content."""

_NULLABLE_IDS = {
    "computations": ("root_instruction_id",),
    "store.instructions": ("computation_id", "schedule_step"),
    "operands": ("operand_id",),
    "called_computations": ("computation_id",),
    "store.values": ("instruction_id",),
    "store.value_positions": ("instruction_id",),
    "store.value_uses": ("instruction_id",),
    "store.schedule": ("instruction_id",),
    "store.live_ranges": ("instruction_id", "value_id"),
}
_FORM_KEY = {"form_key": pa.int64()}


@dataclass(slots=True)
class Seen:
    """What one process has seen: distinct text, and modules it has built rows for.

    `given` are the numbers of the forms of `distinct` that were given out.
    """

    distinct: Distinct = field(default_factory=Distinct)
    given: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    facts: dict[int, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


class Batch:
    """Tables being filled with the modules of one batch."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.distinct = seen.distinct
        self.occurrences: list[dict[str, Any]] = []
        self.graphs: dict[int, Edges] = {}
        self.brought: dict[str, set[int]] = defaultdict(set)
        self.used_forms: list[Ints] = []
        self.tables: dict[str, Columns] = {}
        for name in DETAIL_TABLES:
            extra = _FORM_KEY if name == "store.instructions" else {}
            dropped = ("form_id",) if name == "store.instructions" else ()
            schema = arrow_schema(name, extra, dropped)
            self.tables[name] = Columns(schema, _NULLABLE_IDS.get(name, ()))
        for name in (*LOCATION_TABLES, *REPORT_TABLES, "elided_literals"):
            nullable = _NULLABLE_IDS.get(name, ())
            self.tables[name] = Columns(arrow_schema(name), nullable)

    def add(self, unit: ModuleUnit, is_detailed: bool = True) -> int:
        """Add one module, with its rows or its counts and fingerprints only.

        Gives its module_id.
        """
        instructions = self.distinct.rows_of(unit.hlo.instructions)
        rows = instructions.numbers
        module_id = module_id_of(self.distinct, rows, unit)
        locations_id: int | None = None
        if is_detailed:
            locations_id = add_locations(
                self.distinct, rows, unit.hlo.frames, self.tables, self._is_new
            )
        graph: Graph | None = None
        if module_id not in self.seen.facts:
            graph = resolve_graph(self.distinct, rows, unit.hlo.computations)
            facts = derived_facts(self.distinct, rows, unit, graph)
            self.seen.facts[module_id] = facts
            self.graphs[module_id] = edges_of(self.distinct, rows, graph)
        if is_detailed and self._is_new("details", module_id):
            graph = graph or resolve_graph(self.distinct, rows, unit.hlo.computations)
            self._add_details(module_id, instructions, unit, graph)
        if unit.reports and self._is_new("reports", module_id):
            add_report(module_id, unit.reports, self.tables)
        if unit.elided_literals and self._is_new("literals", module_id):
            self._add_elided_literals(module_id, unit.elided_literals)
        keys = {
            "module_id": module_id,
            "locations_id": locations_id,
            "first_line": first_line(unit.hlo) or None,
            "is_detailed": is_detailed,
        }
        if not is_detailed:
            keys["unit_digest"] = None
        self.occurrences.append(unit.occurrence | keys)
        return module_id

    def _is_new(self, what: str, key: int) -> bool:
        """Return whether this process has yet to give such rows; it does so now."""
        seen = self.seen.contents[what]
        if key in seen:
            return False
        seen.add(key)
        self.brought[what].add(key)
        return True

    # --- details ---

    def _add_details(
        self, module_id: int, instructions: Rows, unit: ModuleUnit, graph: Graph
    ) -> None:
        hlo, rows = unit.hlo, instructions.numbers
        kinds = computation_kinds(self.distinct, rows, hlo.computations, graph)
        self._add_computations(module_id, hlo, kinds, graph)
        self._add_edges(module_id, graph)
        self._add_aliases(module_id, hlo)
        steps = np.full(len(rows), NO_ID, np.int32)
        if unit.assignment is not None:
            assignment = AssignmentRows(
                module_id, unit.assignment, instructions,
                Branches(graph, kinds), self.tables,
            )  # fmt: skip
            assignment.add_all()
            steps = assignment.first_steps(len(rows))
        self._add_instructions(module_id, rows, hlo, graph, steps)

    def _add_instructions(
        self,
        module_id: int,
        rows: Ints,
        hlo: HloModule,
        graph: Graph,
        steps: Ints,
    ) -> None:
        distinct = self.distinct
        forms = distinct.form_ids(rows)
        self.used_forms.append(forms)
        names = distinct.names.values_by_number
        self.tables["store.instructions"].add(
            len(rows),
            module_id=module_id,
            instruction_id=np.arange(len(rows), dtype=np.int32),
            computation_id=graph.computation_ids,
            name=Numbered(distinct.name_ids(rows), names),
            is_root=graph.is_root,
            position=graph.positions,
            schedule_step=steps,
            line_offset=np.array(hlo.lines, np.int32) - first_line(hlo),
            form_key=distinct.forms.keys_of(forms),
        )

    def _add_elided_literals(
        self, module_id: int, literals: Sequence[ElidedLiteral]
    ) -> None:
        self.tables["elided_literals"].add(
            len(literals),
            module_id=module_id,
            instruction_id=[literal.instruction_id for literal in literals],
            size_bytes=[literal.size_bytes for literal in literals],
            digest=[literal.digest for literal in literals],
        )

    def _add_computations(
        self,
        module_id: int,
        hlo: HloModule,
        kinds: list[str | None],
        graph: Graph,
    ) -> None:
        computations, names = hlo.computations, self.distinct.names
        printed = [c.name for c in computations]
        threads = [c.execution_thread for c in computations]
        self.tables["computations"].add(
            len(computations),
            module_id=module_id,
            computation_id=np.arange(len(computations), dtype=np.int32),
            name=Numbered(names.numbers_of(printed), names.values_by_number),
            kind=kinds,
            root_instruction_id=graph.roots,
            instruction_count=np.array([c.stop - c.start for c in computations]),
            execution_thread=threads if any(threads) else None,
        )

    def _add_edges(self, module_id: int, graph: Graph) -> None:
        self.tables["operands"].add(
            len(graph.readers),
            module_id=module_id,
            instruction_id=graph.readers,
            operand_index=graph.places,
            operand_id=graph.operands,
        )
        calls = graph.calls
        self.tables["called_computations"].add(
            len(calls.callers),
            module_id=module_id,
            instruction_id=calls.callers,
            role=Numbered(calls.roles, self.distinct.calls.roles.values_by_number),
            ordinal=calls.ordinals,
            computation_id=calls.computation_ids,
        )

    def _add_aliases(self, module_id: int, hlo: HloModule) -> None:
        found = aliases(hlo.header)
        self.tables["aliases"].add(
            len(found),
            module_id=module_id,
            output_index=[a.output_index for a in found],
            parameter_number=[a.parameter_number for a in found],
            parameter_index=[a.parameter_index for a in found],
            kind=[a.kind for a in found],
        )

    # --- results ---

    def arrow_tables(self) -> dict[str, pa.Table]:
        """Return the tables with rows, and always `modules`, which lacks run_id."""
        filled = {n: c.table() for n, c in self.tables.items() if c.has_rows}
        if self.used_forms:
            filled["store.instruction_forms"] = self._forms()
        return filled | {"modules": self._modules()}

    def _modules(self) -> pa.Table:
        facts = self.seen.facts
        fingerprints = graph_fingerprints(list(self.graphs.values()))
        for module_id, fingerprint in zip(self.graphs, fingerprints, strict=True):
            facts[module_id]["graph_fingerprint"] = fingerprint
        return module_table([facts[r["module_id"]] | r for r in self.occurrences])

    def _forms(self) -> pa.Table:
        """Return the forms that no earlier batch of this process has given."""
        schema = arrow_schema("store.instruction_forms", dropped=("form_id",))
        forms, seen = Columns(schema), self.seen
        used = np.unique(np.concatenate([*self.used_forms, seen.given[:0]]))
        new = np.setdiff1d(used, seen.given, assume_unique=True)
        keys = self.distinct.forms.keys_of(new)
        forms.add(len(new), form_key=keys, **_form_columns(self.distinct.forms, new))
        seen.given = np.concatenate([seen.given, new])
        return forms.table()


def _form_columns(known: Forms, numbers: Ints) -> dict[str, Any]:
    forms = known.of(numbers)
    shapes = [parse_shape(f.shape) if f.shape else None for f in forms]
    attributes = [f.attributes for f in forms]
    return {
        "opcode": [f.opcode or None for f in forms],
        "shape": [f.shape for f in forms],
        "element_type": [s.element_type if s else None for s in shapes],
        "logical_bytes": [s.logical_bytes if s else None for s in shapes],
        "layout": [s.layout if s else None for s in shapes],
        "color": [s.color if s else None for s in shapes],
        "parameter_number": [f.parameter_number for f in forms],
        "literal": [f.literal for f in forms],
        "op_name": [a.op_name for a in attributes],
        "op_type": [a.op_type for a in attributes],
        "sharding": [a.sharding for a in attributes],
        "fusion_kind": [a.fusion_kind for a in attributes],
        "custom_call_target": [a.custom_call_target for a in attributes],
        "channel_id": [a.channel_id for a in attributes],
        "replica_groups": [a.replica_groups for a in attributes],
        "backend_config": [a.backend_config for a in attributes],
        "attributes": [a.other for a in attributes],
    }
