"""Programs without a buffer assignment: what memory_analysis() says of both runs."""

from __future__ import annotations

from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.model.report import CAPTURED
from hlodb.reports.read.compared_runs import Scene
from hlodb.schema.connection import Connection
from hlodb.text import bytes_from_to, plain_bytes, signed_bytes


def captured(connection: Connection, scene: Scene) -> list[str]:
    """Return a note on each program whose memory moved by JAX's own account."""
    base = scene.baseline.run
    if base is None:
        return []
    asked: dict[str, Any] = {"base": base.name, "candidate": scene.candidate.name}
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
