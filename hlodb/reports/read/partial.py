"""Programs of which neither run has a buffer assignment: what HLO and reports say."""

from __future__ import annotations

from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.model.report import PARTIAL
from hlodb.reports.read.compared_runs import Scene
from hlodb.schema.connection import Connection
from hlodb.text import bytes_from_to, signed_bytes

_HAS_ASSIGNMENT = (
    "SELECT 1 FROM modules JOIN runs AS r USING (run_id)"
    " WHERE has_assignment AND r.name IN ($base, $candidate) LIMIT 1"
)


def partial(connection: Connection, scene: Scene) -> list[str]:
    """Return a note on each program, where no program of both runs has a peak."""
    base = scene.baseline.run
    if base is None:
        return []
    asked: dict[str, Any] = {"base": base.name, "candidate": scene.candidate.name}
    if connection.execute(_HAS_ASSIGNMENT, asked).fetchall():
        return []
    rows = run_query(connection, "partial_memory_diff", asked).dicts()
    return [note for row in rows if (note := _note(row))]


def _note(row: dict[str, Any]) -> str:
    """Return what moved of a program; empty where nothing is known to have."""
    which = "reserved" if row["delta_reserved_bytes"] is not None else "least"
    if not row[f"delta_{which}_bytes"]:
        return ""
    base, candidate = row[f"base_{which}_bytes"], row[f"candidate_{which}_bytes"]
    said = "the memory report" if which == "reserved" else "its HLO: at least"
    text = f"{PARTIAL}{row['program']}, by {said} {bytes_from_to(base, candidate)}"
    text += f" ({signed_bytes(row[f'delta_{which}_bytes'])})"
    parts = [
        f"{what} {signed_bytes(row[f'delta_{name}_bytes'])}"
        for name, what in (
            ("argument", "arguments"),
            ("result", "results"),
            ("largest", "largest array of one instruction"),
        )
        if row[f"delta_{name}_bytes"]
    ]
    return f"{text}{': ' if parts else ''}{', '.join(parts)}."
