"""Queries as table macros of DuckDB: `FROM peak_by_space(run := 'nightly')`.

A query hands its parameters on: where it reads another one, parameters of the same name
get the same value, unless the call sets them. So `FROM value_places() AS v` in a query
with `run` and `program` becomes `value_places(run := run, program := program)`.

DuckDB binds a macro when it is made, with the bodies of the macros that it calls, and
of those that these call: what a query reads has to be there, and had better be small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary, WeakSet

from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.renewal import has_macros
from hlodb.queries.sql_text import macro_body, source_names
from hlodb.schema.connection import Connection
from hlodb.schema.stored import public_tables

_HIDING: WeakSet[Connection] = WeakSet()
"""Connections with macros of a user, which may hide those of the warehouse."""

_MADE: WeakKeyDictionary[Connection, set[str]] = WeakKeyDictionary()
"""Built-in queries that connections have as macros of their own."""

_FEW = 4
"""Making so many takes no longer than looking whether they are there."""


def install_macros(connection: Connection) -> None:
    """Write every built-in query into the warehouse as a table macro."""
    catalogue = load_catalogue()
    ordered = in_order(catalogue.values(), catalogue)
    _make(connection, ordered, catalogue, temporary=False)
    for query in ordered:
        connection.execute(_comment_sql(query))


def _make(
    connection: Connection,
    ordered: Sequence[Query],
    catalogue: Catalogue,
    *,
    temporary: bool,
) -> None:
    """Make macros while what each reads is a row of nulls: half of the time."""
    read = {other.name: other for query in ordered for other in reads(query, catalogue)}
    for query in read.values():
        connection.execute(_macro_sql(query, _nulls(query), temporary=temporary))
    for query in reversed(ordered):
        connection.execute(macro_sql(query, catalogue, temporary=temporary))


def install_temporary(
    connection: Connection, query: Query, catalogue: Catalogue
) -> None:
    """Make `query`, and those it reads, as macros of this connection only.

    The warehouse may have the very same, as after an ingest by this hlodb. Then none is
    made, which would take up to 0.1 s.
    """
    needed = in_order([query], catalogue)
    if _are_there(connection, needed):
        return
    if not all(each.is_built_in for each in needed):
        _HIDING.add(connection)
        _MADE.pop(connection, None)
    made = _MADE.get(connection) or set()
    for each in needed:
        if each.name not in made:
            connection.execute(macro_sql(each, catalogue, temporary=True))


def install_together(
    connection: Connection, names: Iterable[str], catalogue: Catalogue
) -> None:
    """Make all these queries, and those they read, for one that asks them all."""
    needed = in_order((catalogue[name] for name in names), catalogue)
    if not all(each.is_built_in for each in needed) or _are_there(connection, needed):
        return
    _make(connection, needed, catalogue, temporary=True)
    _MADE.setdefault(connection, set()).update(query.name for query in needed)


def redirect(connection: Connection, query: Query, table: str) -> None:
    """Let all that read `query` on this connection read a table of its rows instead."""
    body = f"SELECT * FROM {table}"
    connection.execute(_macro_sql(query, body, temporary=True))
    _MADE.setdefault(connection, set()).add(query.name)


def restore(connection: Connection, query: Query) -> None:
    """Undo `redirect`."""
    connection.execute(f"DROP MACRO TABLE IF EXISTS temp.main.{query.name}")
    _MADE.get(connection, set()).discard(query.name)


def _are_there(connection: Connection, queries: list[Query]) -> bool:
    """Return whether the warehouse has macros of the same SQL for `queries`."""
    return (
        len(queries) > _FEW
        and connection not in _HIDING
        and all(query.is_built_in for query in queries)
        and has_macros(connection)
    )


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


def macro_sql(query: Query, catalogue: Catalogue, *, temporary: bool = False) -> str:
    """Return the statement that makes the macro."""
    body = macro_body(query.sql, handed_on(query, catalogue))
    return _macro_sql(query, body, temporary=temporary)


def handed_on(query: Query, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return by name of each query that `query` reads the parameters both have."""
    own = {p.name for p in query.parameters}
    return {
        other.name: [p.name for p in other.parameters if p.name in own]
        for other in reads(query, catalogue)
    }


def _macro_sql(query: Query, body: str, *, temporary: bool = False) -> str:
    kind = "TEMP MACRO" if temporary else "MACRO"
    parameters = ", ".join(
        f"{p.name} {p.type} := {p.default}" for p in query.parameters
    )
    return f"CREATE OR REPLACE {kind} {query.name}({parameters}) AS TABLE\n{body}"


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
