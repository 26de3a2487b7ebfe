"""A buffer assignment's records → rows of the memory tables, derived facts included."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hlodb.ingest.arrow import NO_ID, Columns, Ints, Longs
from hlodb.ingest.formats.shapes import parse_shape
from hlodb.ingest.memory.conditionals import Branches, contradictions
from hlodb.ingest.memory.profile import ColorProfile, allocation_kind, memory_facts
from hlodb.ingest.modules.interning import Rows
from hlodb.ingest.records import BufferAssignment


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
        self.schedule = self._numbers(assignment.schedule)

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

    def _numbers(self, names: list[str]) -> Ints:
        get = self.number.get
        return np.array([get(name, NO_ID) for name in names], np.int32)

    def _add(self, table: str, count: int, **columns: Any) -> None:
        self.tables[table].add(count, module_id=self.module_id, **columns)

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
        self._add(
            "allocation_values",
            len(placed),
            allocation_id=[p.allocation_id for p in placed],
            value_id=[p.value_id for p in placed],
            offset_bytes=[p.offset_bytes for p in placed],
            size_bytes=[p.size_bytes for p in placed],
        )

    def _add_values(self) -> dict[int, int]:
        """Add the values; give the logical bytes of those whose shape tells."""
        rows = self.assignment.values
        shapes = [parse_shape(v.shape) if v.shape else None for v in rows]
        logical = [s.logical_bytes if s else None for s in shapes]
        self._add(
            "store.values",
            len(rows),
            value_id=[v.value_id for v in rows],
            instruction_id=self._numbers([v.instruction for v in rows]),
            shape_index=[v.shape_index for v in rows],
            color=[v.color for v in rows],
            is_phi=[v.is_phi for v in rows],
            shape=[v.shape for v in rows],
            logical_bytes=logical,
        )
        pairs = zip(rows, logical, strict=True)
        return {v.value_id: size for v, size in pairs if size is not None}

    def _add_places(self) -> None:
        """Add positions and uses in the order of instructions.

        The order in which XLA prints them is that in which passes added them; only the
        first position means something, the definition.
        """
        positions, uses = self.assignment.positions, self.assignment.uses
        ids = np.array([p.value_id for p in positions], np.int64)
        places = self._numbers([p.instruction for p in positions])
        indexes = [p.shape_index for p in positions]
        is_first = _ordinals(ids) == 0
        order = np.lexsort((_ranks(indexes), places, ~is_first, _groups(ids)))
        self._add(
            "store.value_positions",
            len(positions),
            value_id=ids[order],
            ordinal=_ordinals(ids[order]),
            instruction_id=places[order],
            shape_index=[indexes[at] for at in order.tolist()],
        )
        ids = np.array([u.value_id for u in uses], np.int64)
        places = self._numbers([u.instruction for u in uses])
        numbers = np.array([u.operand_index for u in uses], np.int32)
        indexes = [u.shape_index for u in uses]
        order = np.lexsort((_ranks(indexes), numbers, places, _groups(ids)))
        self._add(
            "store.value_uses",
            len(uses),
            value_id=ids[order],
            ordinal=_ordinals(ids[order]),
            instruction_id=places[order],
            operand_index=numbers[order],
            shape_index=[indexes[at] for at in order.tolist()],
        )

    def _add_ranges(self) -> None:
        assignment = self.assignment
        value_of = {
            (v.instruction, v.shape_index or "{}"): v.value_id
            for v in assignment.values
        }
        ranges = assignment.live_ranges
        keys = [(r.instruction, r.shape_index) for r in ranges]
        self._add(
            "store.live_ranges",
            len(ranges),
            instruction_id=self._numbers([r.instruction for r in ranges]),
            shape_index=[r.shape_index for r in ranges],
            value_id=np.array([value_of.get(k, NO_ID) for k in keys], np.int32),
            start_step=[r.start_step for r in ranges],
            end_step=[r.end_step for r in ranges],
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

    def _add_facts(self, logical: dict[int, int]) -> None:
        facts = memory_facts(self.assignment, logical)
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
            color=[t.color for t in facts.timeline],
            from_step=[t.from_step for t in facts.timeline],
            to_step=[t.to_step for t in facts.timeline],
            live_bytes=[t.live_bytes for t in facts.timeline],
            temp_live_bytes=[t.temp_live_bytes for t in facts.timeline],
        )


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


def _ranks(texts: list[str | None]) -> Ints:
    """Return the place of each text among the sorted distinct ones, None first."""
    rank = {text: at for at, text in enumerate(sorted({t or "" for t in texts}))}
    return np.array([rank[text or ""] for text in texts], np.int32)
