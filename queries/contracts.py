"""Whether the macros of a warehouse give what their queries promise.

DuckDB clients call them without hlodb. Another hlodb may have made them, or a person;
and what they read may have changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hlodb.queries.query import Query
from hlodb.schema.connection import Connection, DatabaseError

Typed = tuple[str, str]
"""A column's name and its type."""


class Breach(NamedTuple):
    """What a query promises and its macro doesn't give."""

    query: str
    text: str
    promised_columns: int
    given_columns: int
    """Those of the promised ones that it gives."""


def breaches(connection: Connection, queries: Iterable[Query]) -> Iterator[Breach]:
    """Bind every query's macro, which reads no data, and compare."""
    there = _macro_parameters(connection)
    for query in queries:
        given: list[Typed] = []
        try:
            text = _parameter_difference(query, there)
            if query.name in there:
                rows = connection.execute(f"DESCRIBE FROM {query.name}()").fetchall()
                given = [(row[0], row[1]) for row in rows]
                text = text or column_difference(query, given)
        except DatabaseError as error:
            text = str(error).partition("\n")[0]
        if text is not None:
            promised = {(c.name, c.type) for c in query.columns}
            kept = len(promised & {*given})
            yield Breach(query.name, text, len(promised), kept)


def column_difference(query: Query, given: list[Typed]) -> str | None:
    """Return how the columns of the SQL differ from the declared ones, or None."""
    declared = [(c.name, c.type) for c in query.columns]
    if given == declared:
        return None
    wrong = [f"{n} {t}" for n, t in given if (n, t) not in declared]
    missing = [f"{n} {t}" for n, t in declared if (n, t) not in given]
    said = [
        *([f"the SQL gives {', '.join(wrong)}"] if wrong else []),
        *([f"declared and not given: {', '.join(missing)}"] if missing else []),
    ]
    return f"columns differ: {'; '.join(said) or 'the SQL gives another order'}"


def _parameter_difference(query: Query, there: Mapping[str, list[str]]) -> str | None:
    if query.name not in there:
        return "the warehouse has no such macro"
    declared = [p.name for p in query.parameters]
    if there[query.name] == declared:
        return None
    return (
        f"parameters differ: the macro takes {_listed(there[query.name])},"
        f" declared: {_listed(declared)}"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _macro_parameters(
    connection: Connection,
) -> dict[str, list[str]]:
    """Return the parameters of each table macro that this database itself holds."""
    rows = connection.execute(
        "SELECT function_name, parameters FROM system.main.duckdb_functions()"
        " WHERE function_type = 'table_macro'"
        " AND database_name = system.main.current_database() AND schema_name = 'main'"
    ).fetchall()
    return dict(rows)
