"""What two warehouses show differently: tables row by row, queries in their order."""

from __future__ import annotations

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.tables import PUBLIC

_CLOCK = {"runs": " EXCLUDE (ingested_at)"}
# Of every file and catalogue its own.
_LEFT_OUT = {"warehouse_info"}


def differing_tables(one: Connection, other: Connection) -> list[str]:
    """Return the public tables whose rows differ, times of ingestion aside."""
    return [
        table.name
        for table in PUBLIC.sorted_tables
        if table.name not in _LEFT_OUT
        and _sums(one, table.name) != _sums(other, table.name)
    ]


def _sums(connection: Connection, table: str) -> object:
    columns = f"*COLUMNS(*{_CLOCK.get(table, '')})"
    return connection.execute(
        f'SELECT count(*), sum(hash({columns}))::VARCHAR FROM "{table}"'
    ).fetchone()


def differing_queries(one: Connection, other: Connection) -> list[str]:
    """Return the canned queries whose answers differ, or that neither answers."""
    catalogue = load_catalogue()
    return [
        name
        for name in catalogue
        if sorted(map(repr, run_query(one, name, None, catalogue).rows))
        != sorted(map(repr, run_query(other, name, None, catalogue).rows))
    ]
