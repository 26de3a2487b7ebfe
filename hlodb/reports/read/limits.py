"""The limits of a run's memory spaces, as reports judge by them."""

from __future__ import annotations

from collections.abc import Mapping

from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.model.facts import Run
from hlodb.reports.model.limits import Limit
from hlodb.schema.connection import Connection

Limits = Mapping[tuple[str | None, int, str], Limit]
"""Limits by platform of a program, number and name of a memory space."""


def refused_programs(connection: Connection, run: Run) -> list[str]:
    """Return the programs of a run that the compiler refused."""
    rows = run_query(connection, "refused_modules", {"run": run.name}).dicts()
    return sorted({row["program"] for row in rows})


def read_limits(connection: Connection, run: Run, settings: Settings) -> Limits:
    """Return the limits of every memory space of a run, see `memory_limits`."""
    asked = {**settings.limits(), "run_ids": [run.run_id]}
    return {
        (row["platform"], row["color"], row["space_name"]): Limit(
            row["limit_bytes"], row["limit_from"], row["nominal_bytes"], row["device"]
        )
        for row in run_query(connection, "memory_limits", asked).dicts()
    }
