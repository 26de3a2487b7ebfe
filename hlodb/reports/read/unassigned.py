"""Read programs without a buffer assignment: JAX's figures, HLO, memory reports."""

from __future__ import annotations

from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.read.compared_runs import ComparedRuns
from hlodb.schema.connection import Connection
from hlodb.text import bytes_from_to, plain_bytes, signed_bytes

CAPTURED = "memory_analysis() of "
"""How a note begins on a program without a buffer assignment, as capture stores it."""


PARTIAL = "without a buffer assignment, "
"""How a note begins on a program of which there are only HLO or memory reports."""


def captured(connection: Connection, compared: ComparedRuns) -> list[str]:
    """Return a note on each program whose memory moved by JAX's own account."""
    base = compared.baseline.run
    if base is None:
        return []
    asked: dict[str, Any] = {"base": base.name, "candidate": compared.candidate.name}
    rows = run_query(connection, "memory_analysis_diff", asked).dicts()
    return [
        _note(row)
        for row in rows
        if not row["has_assignment"] and row["delta_needed_bytes"]
    ]


def _note(row: dict[str, Any]) -> str:
    sizes = bytes_from_to(row["base_needed_bytes"], row["candidate_needed_bytes"])
    text = f"{CAPTURED}{row['program']}, which has no buffer assignment: {sizes}"
    text += f" ({signed_bytes(row['delta_needed_bytes'])})"
    parts = [
        f"{what} {signed_bytes(row[f'delta_{name}_bytes'])}"
        for name, what in (
            ("argument", "arguments"), ("output", "results"), ("temp", "temporaries")
        )
        if row[f"delta_{name}_bytes"]
    ]  # fmt: skip
    if (shared := row["delta_alias_bytes"]) < 0:
        parts.append(f"{plain_bytes(-shared)} no longer donated")
    elif shared:
        parts.append(f"{plain_bytes(shared)} now donated")
    return f"{text}: {', '.join(parts)}."


_HAS_ASSIGNMENT = (
    "SELECT 1 FROM modules JOIN runs AS r USING (run_id)"
    " WHERE has_assignment AND r.name IN ($base, $candidate) LIMIT 1"
)


def partial(connection: Connection, compared: ComparedRuns) -> list[str]:
    """Return a note on each program, where no program of both runs has a peak."""
    base = compared.baseline.run
    if base is None:
        return []
    asked: dict[str, Any] = {"base": base.name, "candidate": compared.candidate.name}
    if connection.execute(_HAS_ASSIGNMENT, asked).fetchall():
        return []
    rows = run_query(connection, "partial_memory_diff", asked).dicts()
    return [note for row in rows if (note := _partial_note(row))]


def _partial_note(row: dict[str, Any]) -> str:
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
