"""Queries as table macros of DuckDB: `FROM peak_by_space(run := 'nightly')`.

They are for those who ask without hlodb, which composes statements (`compose`).

A query hands its parameters on: where it reads another one, parameters of the same name
get the same value, unless the call sets them. So `FROM value_places() AS v` in a query
with `run` and `program` becomes `value_places(run := run, program := program)`.

DuckDB binds a macro when it is made, with the bodies of the macros that it calls, and
of those that these call: what a query reads has to be there, and had better be small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.sql_text import macro_body, source_names
from hlodb.schema.connection import Connection
from hlodb.schema.stored import public_tables


def install_macros(connection: Connection) -> None:
    """Write every built-in query into the warehouse as a table macro.

    Macros are made while what each reads is a row of nulls: half of the time.
    """
    catalogue = load_catalogue()
    ordered = in_order(catalogue.values(), catalogue)
    read = {other.name: other for query in ordered for other in reads(query, catalogue)}
    for query in read.values():
        connection.execute(_macro_sql(query, _nulls(query)))
    for query in reversed(ordered):
        connection.execute(macro_sql(query, catalogue))
    for query in ordered:
        connection.execute(_comment_sql(query))


def in_order(queries: Iterable[Query], catalogue: Catalogue) -> list[Query]:
    """Return `queries` and those they read, each after what it reads.

    Raises UsageError where queries read one another in a circle.
    """
    done: dict[str, Query] = {}
    for query in queries:
        _visit(query, catalogue, done, ())
    return list(done.values())


def reads(query: Query, catalogue: Catalogue) -> Iterator[Query]:
    """Yield the queries that `query` reads itself."""
    for name in sorted(source_names(query.sql) & catalogue.keys()):
        yield catalogue[name]


def needs(query: Query, catalogue: Catalogue) -> list[str]:
    """Return the names of the tables and queries that `query` reads itself."""
    return sorted(source_names(query.sql) & (catalogue.keys() | public_tables()))


def macro_sql(query: Query, catalogue: Catalogue) -> str:
    """Return the statement that makes the macro."""
    body = macro_body(query.sql, handed_on(query, catalogue))
    return _macro_sql(query, body)


def handed_on(query: Query, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return by name of each query that `query` reads the parameters both have."""
    own = {p.name for p in query.parameters}
    return {
        other.name: [p.name for p in other.parameters if p.name in own]
        for other in reads(query, catalogue)
    }


def _macro_sql(query: Query, body: str) -> str:
    parameters = ", ".join(
        f"{p.name} {p.type} := {p.default}" for p in query.parameters
    )
    return f"CREATE OR REPLACE MACRO {query.name}({parameters}) AS TABLE\n{body}"


def _nulls(query: Query) -> str:
    columns = (f'NULL::{column.type} AS "{column.name}"' for column in query.columns)
    return f"SELECT {', '.join(columns)}"


def _visit(
    query: Query, catalogue: Catalogue, done: dict[str, Query], path: tuple[str, ...]
) -> None:
    if query.name in path:
        circle = " → ".join((*path, query.name))
        raise UsageError(f"{query.path}:1: queries read one another: {circle}")
    if query.name in done:
        return
    for other in reads(query, catalogue):
        _visit(other, catalogue, done, (*path, query.name))
    done[query.name] = query


def _comment_sql(query: Query) -> str:
    text = query.question.replace("'", "''")
    return f"COMMENT ON MACRO TABLE {query.name} IS '{text}'"
