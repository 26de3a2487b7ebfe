"""Checks query files: front matter, what they say they read, columns and their types.

Every query is bound on an empty warehouse, so that no name or type is only claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from hlodb.errors import HlodbError
from hlodb.queries.catalogue import Catalogue, read_queries
from hlodb.queries.contracts import column_difference
from hlodb.queries.macros import in_order, macro_sql
from hlodb.queries.query import Query
from hlodb.queries.sql_text import source_names
from hlodb.schema.connection import Connection, DatabaseError, in_memory
from hlodb.schema.creation import create_schema


def lint(folders: Iterable[Path] = ()) -> tuple[int, list[str]]:
    """Give the number of queries, and a line `path:line: fault` per fault."""
    found = list(read_queries(folders))
    faults = [str(each) for each in found if isinstance(each, HlodbError)]
    catalogue = {q.name: q for q in found if isinstance(q, Query)}
    with in_memory() as connection:
        create_schema(connection)
        known = _tables(connection) | catalogue.keys()
        made: set[str] = set()
        for query in catalogue.values():
            bound = _binding_faults(query, catalogue, connection, made)
            for fault in (*_need_faults(query, known), *bound):
                faults.append(f"{query.path}:1: {fault}")
    return len(found), faults


def _binding_faults(
    query: Query,
    catalogue: Catalogue,
    connection: Connection,
    made: set[str],
) -> Iterator[str]:
    try:
        for each in in_order([query], catalogue):
            if each.name not in made:
                connection.execute(macro_sql(each))
                made.add(each.name)
        given = connection.execute(f"DESCRIBE FROM {query.name}()").fetchall()
    except (HlodbError, DatabaseError) as error:
        yield str(error).removeprefix(f"{query.path}:1: ")
        return
    fault = column_difference(query, [(row[0], row[1]) for row in given])
    if fault is not None:
        yield fault


def _need_faults(query: Query, known: set[str]) -> Iterator[str]:
    used = source_names(query.sql) & known
    if unknown := set(query.needs) - known:
        yield f"needs what is no table or query: {', '.join(sorted(unknown))}"
    elif used - set(query.needs):
        names = ", ".join(sorted(used - set(query.needs)))
        yield f"reads {names} without saying so in `-- needs`"
    elif set(query.needs) - used:
        names = ", ".join(sorted(set(query.needs) - used))
        yield f"`-- needs` names what it doesn't read: {names}"


def _tables(connection: Connection) -> set[str]:
    rows = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'"
    )
    return {name for (name,) in rows.fetchall()}
