"""Reads what was edited between the sources of programs: rows of `source_edits`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.explain.differences import Modules
from hlodb.reports.model.findings import SourceEdit
from hlodb.schema.connection import Connection

_BATCH = 100
"""How many pairs are compared at once: bounds memory, not results."""


def read_source_edits(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[Modules, list[SourceEdit]]:
    """Return the edits of every pair with two other sources, the greatest first.

    Pairs of equal sources from equal places have the same.
    """
    edited = [
        (b, c)
        for b, c in pairs
        if None not in (b.source_id, c.source_id) and b.source_id != c.source_id
    ]
    asked = list({_sources(pair): pair for pair in edited}.values())
    found: dict[Hashable, list[SourceEdit]] = defaultdict(list)
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
            found[_sources(batch[row["pair"] - 1])].append(edit)
    return {pair: found[_sources(pair)] for pair in edited}


def _sources(pair: Modules) -> Hashable:
    """Return what the edits of a pair follow from: contents, and where they lie."""
    return tuple((each.source_id, each.locations_id) for each in pair)
