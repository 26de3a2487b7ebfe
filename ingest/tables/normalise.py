"""Records of modules → Arrow tables.

One `Batch` takes the modules of many units and builds each table once. A module whose
content was seen before gives an occurrence row and nothing else.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hlodb.ingest.arrow import (
    NO_ID,
    Columns,
    Ints,
    Longs,
    Numbered,
    arrow_schema,
    texts_array,
)
from hlodb.ingest.formats.hlo_text.header import aliases
from hlodb.ingest.formats.shapes import parse_shape
from hlodb.ingest.memory.liveness import Branches, contradictions
from hlodb.ingest.memory.profile import (
    ColorProfile,
    TimelineSegment,
    allocation_kind,
    last_equal,
    memory_facts,
    range_keys,
    used_numbers,
)
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
from hlodb.ingest.records import (
    BufferAssignment,
    HloModule,
    PackedTexts,
    TextColumn,
    column_of,
)
from hlodb.ingest.tables.content_keys import module_table
from hlodb.ingest.tables.location_rows import LOCATION_TABLES, add_locations
from hlodb.ingest.tables.report_rows import add_report
from hlodb.schema.stored import REPORT_TABLES

_UNASKED = -2
_MANY = 20_000


class AssignmentRows:
    """Writes one assignment into `tables`, instruction names turned into numbers."""

    def __init__(
        self,
        module_id: int,
        assignment: BufferAssignment,
        instructions: Rows,
        branches: Branches,
        tables: dict[str, Columns],
    ) -> None:
        self.module_id = module_id
        self.assignment = assignment
        self.branches = branches
        self.tables = tables
        self.number = instructions.places
        self._texts = PackedTexts()
        self._number_of = np.empty(0, np.int32)
        self.schedule = self._numbers(assignment.schedule)
        self.range_keys = range_keys(assignment.values, assignment.live_ranges)

    def add_all(self) -> None:
        """Add the rows of every memory table."""
        self._add_allocations()
        logical = self._add_values()
        self._add_places()
        self._add_ranges()
        self._add_facts(logical)

    def first_steps(self, count: int) -> Ints:
        """Return each instruction's first step in the flattened schedule."""
        steps = np.full(count, NO_ID, np.int32)
        known = self.schedule != NO_ID
        backwards = np.flatnonzero(known)[::-1].astype(np.int32)
        steps[self.schedule[backwards]] = backwards
        return steps

    def _numbers(self, names: Sequence[str]) -> Ints:
        """Return the instructions of these names, NO_ID where there is none."""
        if not isinstance(names, TextColumn):
            return self.number.of(names)
        if self._texts is not names.by_number:
            self._texts = names.by_number
            self._number_of = np.full(len(self._texts), _UNASKED, np.int32)
        codes = np.asarray(names.numbers, np.int32)
        new = used_numbers(codes[self._number_of[codes] == _UNASKED])
        for start in range(0, len(new), _MANY):
            part = new[start : start + _MANY]
            asked = list(self._texts.taken(part.tolist()))
            self._number_of[part] = self.number.of(asked)
        return self._number_of[codes]

    def _add(self, table: str, count: int, **columns: Any) -> None:
        found = {
            name: texts_array(value.by_number, np.asarray(value.numbers))
            if isinstance(value, TextColumn)
            else value
            for name, value in columns.items()
        }
        self.tables[table].add(count, module_id=self.module_id, **found)

    def _add_allocations(self) -> None:
        rows = self.assignment.allocations
        self._add(
            "allocations",
            len(rows),
            allocation_id=[a.allocation_id for a in rows],
            size_bytes=[a.size_bytes for a in rows],
            color=[a.color for a in rows],
            kind=[allocation_kind(a) for a in rows],
            parameter_number=[a.parameter_number for a in rows],
            parameter_shape_index=[a.parameter_shape_index for a in rows],
            is_live_out=[a.is_live_out for a in rows],
            is_output_tuple=[a.is_output_tuple for a in rows],
            shape=[a.shape for a in rows],
            page=[a.page for a in rows],
        )
        placed = self.assignment.placements
        names = ("allocation_id", "value_id", "offset_bytes", "size_bytes")
        columns = {name: _column(placed, name) for name in names}
        self._add("allocation_values", len(placed), **columns)

    def _add_values(self) -> Mapping[int, int]:
        """Add the values; give the logical bytes of those whose shape tells."""
        rows = self.assignment.values
        shapes = _column(rows, "shape")
        logical = _logical_sizes(shapes)
        names = ("value_id", "shape_index", "color", "is_phi")
        columns = {name: _column(rows, name) for name in names}
        self._add(
            "store.values",
            len(rows),
            instruction_id=self._numbers(_column(rows, "instruction")),
            shape=shapes,
            logical_bytes=pa.array(logical, pa.int64(), mask=logical == NO_ID),
            **columns,
        )
        return _Sizes(np.array(column_of(rows, "value_id"), np.int64), logical)

    def _add_places(self) -> None:
        """Add positions and uses in the order of instructions.

        The order in which XLA prints them is that in which passes added them; only the
        first position means something, the definition.
        """
        positions, uses = self.assignment.positions, self.assignment.uses
        ids = np.array(column_of(positions, "value_id"), np.int64)
        places = self._numbers(_column(positions, "instruction"))
        indexes = _column(positions, "shape_index")
        is_first = _ordinals(ids) == 0
        order = np.lexsort((_ranks(indexes), places, ~is_first, _groups(ids)))
        self._add(
            "store.value_positions",
            len(positions),
            value_id=ids[order],
            ordinal=_ordinals(ids[order]),
            instruction_id=places[order],
            shape_index=_in_order(indexes, order),
        )
        ids = np.array(column_of(uses, "value_id"), np.int64)
        places = self._numbers(_column(uses, "instruction"))
        numbers = np.array(column_of(uses, "operand_index"), np.int32)
        indexes = _column(uses, "shape_index")
        order = np.lexsort((_ranks(indexes), numbers, places, _groups(ids)))
        self._add(
            "store.value_uses",
            len(uses),
            value_id=ids[order],
            ordinal=_ordinals(ids[order]),
            instruction_id=places[order],
            operand_index=numbers[order],
            shape_index=_in_order(indexes, order),
        )

    def _add_ranges(self) -> None:
        assignment = self.assignment
        values, ranges = assignment.values, assignment.live_ranges
        ids = np.array([*column_of(values, "value_id"), NO_ID], np.int32)
        found = ids[last_equal(self.range_keys.of_ranges, self.range_keys.of_values)]
        names = ("shape_index", "start_step", "end_step")
        columns = {name: _column(ranges, name) for name in names}
        self._add(
            "store.live_ranges",
            len(ranges),
            instruction_id=self._numbers(_column(ranges, "instruction")),
            value_id=found,
            **columns,
        )
        self._add(
            "store.schedule",
            len(self.schedule),
            step=np.arange(len(self.schedule), dtype=np.int32),
            instruction_id=self.schedule,
        )
        peaks = assignment.printed_peaks
        self._add(
            "printed_peaks",
            len(peaks),
            instruction=[p.instruction for p in peaks],
            shape_index=[p.shape_index for p in peaks],
            peak_step=assignment.peak_step,
            printed_bytes=[p.printed_bytes for p in peaks],
        )

    def _add_facts(self, logical: Mapping[int, int]) -> None:
        facts = memory_facts(self.assignment, logical, self.range_keys)
        allocations = Counter(a.color for a in self.assignment.allocations)
        color_of = {a.allocation_id: a.color for a in self.assignment.allocations}
        clashing = contradictions(
            facts.conflicts, self.assignment, self.number, self.branches
        )
        conflicts = Counter(color_of.get(c.allocation_id) for c in clashing)
        columns = {
            name: [getattr(profile, name) for profile in facts.profiles]
            for name in ColorProfile._fields
        }
        self._add(
            "memory_profile",
            len(facts.profiles),
            allocation_count=[allocations[p.color] for p in facts.profiles],
            conflict_count=[conflicts[p.color] for p in facts.profiles],
            **columns,
        )
        self._add(
            "memory_timeline",
            len(facts.timeline),
            **{name: _column(facts.timeline, name) for name in TimelineSegment._fields},
        )


def _logical_bytes(text: str | None) -> int:
    shape = parse_shape(text) if text else None
    if shape is None or shape.logical_bytes is None:
        return NO_ID
    return shape.logical_bytes


def _logical_sizes(shapes: Sequence[str | None]) -> Longs:
    """Return the bytes of shapes, NO_ID where they don't tell."""
    if not isinstance(shapes, TextColumn):
        return np.array(list(map(_logical_bytes, shapes)), np.int64)
    codes = np.asarray(shapes.numbers, np.int32)
    used = used_numbers(codes)
    sizes = np.zeros(len(shapes.by_number), np.int64)
    sizes[used] = [
        _logical_bytes(text) for text in shapes.by_number.taken(used.tolist())
    ]
    return sizes[codes]


class _Sizes(Mapping[int, int]):
    """The sizes of values by their ids, in columns; NO_ID is none."""

    def __init__(self, ids: Longs, sizes: Longs) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, self._sizes = ids[order], sizes[order]

    def __getitem__(self, number: int) -> int:
        at = int(self._ids.searchsorted(number, side="right")) - 1
        if at < 0 or self._ids[at] != number or self._sizes[at] == NO_ID:
            raise KeyError(number)
        return int(self._sizes[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids[self._sizes != NO_ID].tolist())

    def __len__(self) -> int:
        return int((self._sizes != NO_ID).sum())


def _in_order(texts: Sequence[Any], order: Longs) -> Sequence[Any]:
    """Return texts in another order."""
    if isinstance(texts, TextColumn):
        numbers = np.asarray(texts.numbers, np.int32)[order]
        return TextColumn(array("i", numbers.tobytes()), texts.by_number)
    return [texts[at] for at in order.tolist()]


def _column(rows: Sequence[Any], name: str) -> Any:
    """Return one field of all rows: numbers as an array where they are packed."""
    column = column_of(rows, name)
    return np.asarray(column) if isinstance(column, array) else column


def _ordinals(ids: Longs) -> Ints:
    """Return 0, 1, 2 … within each run of equal ids."""
    groups = _groups(ids)
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]][: len(ids)])
    return (np.arange(len(ids)) - starts[groups]).astype(np.int32)


def _groups(ids: Longs) -> Longs:
    """Return 0, 1, 2 … for each run of equal ids."""
    if not len(ids):
        return ids
    changes = np.cumsum(ids[1:] != ids[:-1], dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), changes])


def _ranks(texts: Sequence[str | None]) -> Ints:
    """Return the place of each text among the sorted distinct ones, None first."""
    if isinstance(texts, TextColumn):
        numbers = np.asarray(texts.numbers, np.int32)
        used = used_numbers(numbers)
        ranks = np.zeros(len(texts.by_number), np.int32)
        ranks[used] = _ranks(list(texts.by_number.taken(used.tolist())))
        return ranks[numbers]
    rank = {text: at for at, text in enumerate(sorted({t or "" for t in texts}))}
    return np.array([rank[text or ""] for text in texts], np.int32)


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
_LARGE = 50_000
"""Instructions of a module whose graph is not kept until all are hashed together."""


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
            edges = edges_of(self.distinct, rows, graph)
            if len(rows) > _LARGE:
                [facts["graph_fingerprint"]] = graph_fingerprints([edges])
            else:
                self.graphs[module_id] = edges
            del edges
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
        printed = column_of(computations, "name")
        threads = column_of(computations, "execution_thread")
        self.tables["computations"].add(
            len(computations),
            module_id=module_id,
            computation_id=np.arange(len(computations), dtype=np.int32),
            name=Numbered(names.numbers_of(printed), names.values_by_number),
            kind=kinds,
            root_instruction_id=graph.roots,
            instruction_count=np.array(column_of(computations, "stop"), np.int32)
            - np.array(column_of(computations, "start"), np.int32),
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
        # The graphs are needed for this alone, and take as much as the tables.
        modules = self._modules()
        self.graphs.clear()
        filled: dict[str, pa.Table] = {}
        for name in list(self.tables):
            columns = self.tables.pop(name)
            if columns.has_rows:
                filled[name] = columns.table()
        if self.used_forms:
            filled["store.instruction_forms"] = self._forms()
        return filled | {"modules": modules}

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
