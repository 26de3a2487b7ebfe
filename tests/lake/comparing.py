"""What two warehouses show differently: tables row by row, and queries."""

from __future__ import annotations

from collections.abc import Mapping

from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from hlodb.schema.tables import PUBLIC

_LEFT_OUT = {
    # When it came in; and how: parsed, or known from an equal file before.
    "runs": ("ingested_at", "pruned_at"),
    "dump_files": ("status",),
}
_OF_EACH_ITS_OWN = {"warehouse_info"}


def differing_tables(one: Connection, other: Connection) -> list[str]:
    """Return the public tables whose rows differ; runs count by name, not number."""
    return [
        table.name
        for table in PUBLIC.sorted_tables
        if table.name not in _OF_EACH_ITS_OWN
        and _sums(one, table.name) != _sums(other, table.name)
    ]


def _sums(connection: Connection, table: str) -> object:
    names = [column.name for column in PUBLIC.tables[table].columns]
    left_out = [*_LEFT_OUT.get(table, ()), *({"run_id"} & {*names})]
    dropped = f" EXCLUDE ({', '.join(left_out)})" if left_out else ""
    join, run = "", "NULL"
    if "run_id" in names and table != "runs":
        join, run = "JOIN runs AS of_run USING (run_id)", "of_run.name"
    return connection.execute(
        f"SELECT count(*), sum(hash({run}, *COLUMNS(t.*{dropped})))::VARCHAR"
        f' FROM "{table}" AS t {join}'
    ).fetchone()


def differing_queries(one: Connection, other: Connection) -> list[str]:
    """Return the canned queries whose rows differ; runs count by name, not number."""
    catalogue = load_catalogue()
    of_one, of_other = _run_names(one), _run_names(other)
    return [
        name
        for name in catalogue
        if _rows(one, name, catalogue, of_one)
        != _rows(other, name, catalogue, of_other)
    ]


def _run_names(connection: Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT run_id, name FROM runs").fetchall())


def _rows(
    connection: Connection, query: str, catalogue: Catalogue, names: Mapping[int, str]
) -> list[str]:
    answer = run_query(connection, query, None, catalogue)
    are_runs = [column.name.endswith("run_id") for column in answer.columns]
    return sorted(
        repr([names.get(v, v) if r else v for v, r in zip(row, are_runs, strict=True)])
        for row in answer.rows
    )
