"""Which runs are old enough to lose their details, and deleting runs or details.

Details of a module are there as long as a run that isn't pruned holds the module; its
metrics as long as any run does. What no other run uses goes, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hlodb.ingest.load.statements import statement
from hlodb.schema.connection import Connection
from hlodb.schema.stored import stored_tables


class Retention(NamedTuple):
    """What stays whole: the `keep` latest runs of a series, or those of this `age`.

    A run stays if either says so. `series` None means every series, each on its own;
    runs without a series count as one.
    """

    keep: int | None = None
    age: timedelta | None = None
    series: str | None = None


def runs_to_prune(connection: Connection, retention: Retention) -> dict[int, str]:
    """Return run_id → name of the runs that need not stay whole, in order."""
    rows = connection.execute(
        statement("list_prunable_runs"), retention._asdict()
    ).fetchall()
    return dict(rows)


METRIC_TABLES = frozenset(("memory_profile", "memory_timeline"))
"""What stays of a module when the runs that hold it are pruned."""


class _Shared(NamedTuple):
    """A table whose rows are there as long as `user` refers to them by `key`."""

    table: str
    key: str
    user: str


_SHARED = (
    _Shared("store.snapshots", "snapshot_id", "store.occurrences"),
    _Shared("store.paths", "path_id", "store.occurrences"),
    _Shared("store.files", "file_id", "store.run_files"),
    _Shared("store.instruction_forms", "form_id", "store.instructions"),
    _Shared("store.location_numbers", "numbering_id", "store.location_sets"),
    _Shared("store.location_lists", "list_id", "store.location_sets"),
    _Shared("store.stack_frames", "frames_id", "store.location_sets"),
)
_TABLES = stored_tables()
_RUN_TABLES = [name for name, c in _TABLES.items() if "run_id" in c]
_MODULE_TABLES = [
    name
    for name, columns in _TABLES.items()
    if "module_id" in columns and name not in {shared.table for shared in _SHARED}
]
# Rows of these have no path of their own.
_PATHS = {
    "store.occurrences": "path_id IN (SELECT path_id FROM store.paths WHERE {})",
    "store.run_files": "file_id IN (SELECT file_id FROM store.files WHERE {})",
}


def _quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.split("."))


def forget_run(connection: Connection, run_id: int) -> None:
    """Delete a run and every detail that only it used. Belongs in a transaction."""
    for table in _RUN_TABLES:
        connection.execute(f"DELETE FROM {_quoted(table)} WHERE run_id = ?", [run_id])
    delete_orphans(connection)


def forget_paths(
    connection: Connection, run_id: int, paths: Iterable[str] | None = None
) -> None:
    """Delete what a run holds of some of its files, or of all of them.

    Their details become orphans.
    """
    chosen = "$paths IS NULL OR path IN (SELECT unnest($paths::VARCHAR[]))"
    for table in _RUN_TABLES:
        if "path" not in _TABLES[table] and table not in _PATHS:
            continue
        connection.execute(
            f"DELETE FROM {_quoted(table)} WHERE run_id = $run_id"
            f" AND ({_PATHS.get(table, '{}').format(chosen)})",
            {"run_id": run_id, "paths": None if paths is None else list(paths)},
        )


def forget_refusals(connection: Connection, run_ids: Iterable[int]) -> None:
    """Delete what was said about files that were not read: it is to be said anew."""
    connection.execute(
        "DELETE FROM rejects WHERE code = 'refused'"
        " AND run_id IN (SELECT unnest(?::BIGINT[]))",
        [list(run_ids)],
    )


def prune_runs(
    connection: Connection, run_ids: Iterable[int], *, drop_timelines: bool = False
) -> None:
    """Delete the details of runs, not their metrics. Belongs in a transaction.

    What a run that isn't pruned holds as well stays whole. `drop_timelines` deletes
    memory_timeline, too.
    """
    connection.execute(
        "UPDATE runs SET pruned_at = ?::TIMESTAMP"
        " WHERE pruned_at IS NULL AND run_id IN (SELECT unnest(?::BIGINT[]))",
        [datetime.now(UTC).replace(tzinfo=None), list(run_ids)],
    )
    delete_orphans(connection)
    if drop_timelines:
        connection.execute(statement("delete_timelines"))


def forget_metrics(connection: Connection, module_ids: Iterable[int]) -> None:
    """Delete what pruned runs kept of modules that are about to be stored whole."""
    pruned = connection.execute("SELECT 1 FROM runs WHERE pruned_at IS NOT NULL")
    if pruned.fetchone() is None:
        return
    for table in sorted(METRIC_TABLES):
        connection.execute(
            f"DELETE FROM {table} WHERE module_id IN (SELECT unnest(?::BIGINT[]))",
            [list(module_ids)],
        )


def restore_pruned(connection: Connection, run_id: int) -> None:
    """Make a pruned run empty, so that it can be ingested anew; leave others alone."""
    pruned = connection.execute(
        "UPDATE runs SET pruned_at = NULL"
        " WHERE run_id = ? AND pruned_at IS NOT NULL RETURNING run_id",
        [run_id],
    ).fetchall()
    if pruned:
        forget_paths(connection, run_id)
        delete_orphans(connection)


def delete_orphans(connection: Connection) -> None:
    """Delete details, metrics and other contents that nothing refers to."""
    connection.execute(statement("list_used_modules"))
    for table in _MODULE_TABLES:
        what = "measured" if table in METRIC_TABLES else "detailed"
        connection.execute(
            f"DELETE FROM {_quoted(table)} WHERE module_id NOT IN"
            f" (SELECT module_id FROM used_modules WHERE {what})"
        )
    connection.execute(
        "DELETE FROM store.location_sets WHERE locations_id NOT IN"
        " (SELECT locations_id FROM used_modules"
        " WHERE detailed AND locations_id IS NOT NULL)"
    )
    for table, key, user in _SHARED:
        connection.execute(
            f"DELETE FROM {table} WHERE {key} NOT IN (SELECT {key} FROM {user})"
        )
    connection.execute("DROP TABLE used_modules")
