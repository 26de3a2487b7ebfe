"""Taking runs out again, and with them what no other run uses."""

from __future__ import annotations

import duckdb

from hlodb.ingest.normalise import DETAIL_TABLES, LOCATION_TABLES

Connection = duckdb.DuckDBPyConnection
_RUN_TABLES = ("modules", "dump_files", "rejects", "compiler_flags", "passes", "runs")


def forget_run(connection: Connection, run_id: int) -> None:
    """Delete a run and every detail that only it used. Belongs in a transaction."""
    for table in _RUN_TABLES:
        connection.execute(f'DELETE FROM "{table}" WHERE run_id = ?', [run_id])
    delete_orphans(connection)


def forget_paths(connection: Connection, run_id: int, paths: list[str]) -> None:
    """Delete what a run holds of some of its files; its details become orphans."""
    for table in ("modules", "dump_files", "rejects"):
        connection.execute(
            f'DELETE FROM "{table}" WHERE run_id = ? AND path IN (SELECT unnest(?))',
            [run_id, paths],
        )


def delete_orphans(connection: Connection) -> None:
    """Delete details of modules, locations and forms that nothing refers to."""
    for tables, key in (
        (DETAIL_TABLES, "module_id"),
        (LOCATION_TABLES, "locations_id"),
    ):
        for table in tables:
            name = ".".join(f'"{part}"' for part in table.split("."))
            connection.execute(
                f"DELETE FROM {name} WHERE {key} NOT IN (SELECT {key} FROM modules)"
            )
    connection.execute(
        "DELETE FROM store.instruction_forms"
        " WHERE form_id NOT IN (SELECT form_id FROM store.instructions)"
    )
