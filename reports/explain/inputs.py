"""Reads how the inputs of programs differ: rows of the query `input_changes`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hlodb.queries.run import run_query
from hlodb.reports.explain.differences import Modules
from hlodb.reports.model.findings import InputChange
from hlodb.schema.connection import Connection


def read_input_changes(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[Modules, list[InputChange]]:
    """Return the changes of every pair whose entry shapes differ, in their order."""
    asked = [(b, c) for b, c in pairs if b.shape[1:4] != c.shape[1:4]]
    if not asked:
        return {}
    ids = {
        "base_ids": [b.module_id for b, _ in asked],
        "candidate_ids": [c.module_id for _, c in asked],
    }
    found: dict[tuple[int, int], list[InputChange]] = defaultdict(list)
    rows = run_query(connection, "input_changes", ids).dicts()
    for row in sorted(rows, key=lambda row: row["place"]):
        key = row["base_module_id"], row["candidate_module_id"]
        found[key].append(InputChange(*(row[name] for name in _FIELDS)))
    return {(b, c): found[b.module_id, c.module_id] for b, c in asked}


_FIELDS = (
    "change",
    "meaning",
    "base_size",
    "candidate_size",
    "argument_count",
    "arguments",
    "delta_bytes",
)
