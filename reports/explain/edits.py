"""Reads what was edited between the sources of programs: rows of `source_edits`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.explain.differences import Modules
from hlodb.reports.model.findings import SourceEdit
from hlodb.schema.connection import Connection

_BATCH = 20
"""How many pairs are compared at once: bounds memory, not results."""


def read_source_edits(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[Modules, list[SourceEdit]]:
    """Return the edits of every pair with two other sources, the greatest first."""
    asked = [
        (b, c)
        for b, c in pairs
        if None not in (b.source_id, c.source_id) and b.source_id != c.source_id
    ]
    if not asked:
        return {}
    found: dict[Modules, list[SourceEdit]] = defaultdict(list)
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        given: dict[str, Any] = {
            "base_runs": [b.run_id for b, _ in batch],
            "base_ids": [b.source_id for b, _ in batch],
            "candidate_runs": [c.run_id for _, c in batch],
            "candidate_ids": [c.source_id for _, c in batch],
        }
        rows = run_query(connection, "source_edits", given).dicts()
        for row in sorted(rows, key=lambda row: row["place"]):
            edit = SourceEdit(*(row[name] for name in SourceEdit.__slots__))
            found[batch[row["pair"] - 1]].append(edit)
    return found
