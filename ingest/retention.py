"""Which runs are old enough to lose their details."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from hlodb.ingest.statements import statement
from hlodb.schema.connection import Connection


class Retention(NamedTuple):
    """What stays whole: the `keep` latest runs of a series, or those of this `age`.

    A run stays if either says so. `series` None means every series, each on its own;
    runs without a series count as one.
    """

    keep: int | None = None
    age: timedelta | None = None
    series: str | None = None


def runs_to_prune(connection: Connection, retention: Retention) -> dict[int, str]:
    """Give run_id → name of the runs that need not stay whole, in order."""
    rows = connection.execute(
        statement("list_prunable_runs"), retention._asdict()
    ).fetchall()
    return dict(rows)
