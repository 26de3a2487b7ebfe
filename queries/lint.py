"""Check query files: front matter, columns and their types.

Every query is bound on an empty warehouse, so that no name or type is only claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hlodb.errors import HlodbError
from hlodb.queries.catalogue import Catalogue, load_catalogue, read_queries
from hlodb.queries.contracts import column_difference
from hlodb.queries.macros import handed_on, in_order, macro_sql
from hlodb.queries.query import Query
from hlodb.queries.splits import split_faults
from hlodb.queries.sql_text import code_tokens
from hlodb.schema.connection import Connection, DatabaseError, in_memory
from hlodb.schema.creation import create_schema


def lint(folders: Sequence[Path] = ()) -> tuple[int, list[str]]:
    """Return the number of queries in `folders`, and a line `path:line: fault` each.

    Without a folder these are hlodb's own.
    """
    found = list(read_queries(folders))
    catalogue = {q.name: q for q in found if isinstance(q, Query)}
    known = load_catalogue() if folders else {}
    judged = [
        each for each in found if not (isinstance(each, Query) and each.name in known)
    ]
    faults = [str(each) for each in judged if isinstance(each, HlodbError)]
    with in_memory() as connection:
        create_schema(connection)
        made: set[str] = set()
        for query in judged:
            if not isinstance(query, Query):
                continue
            bound = _binding_faults(query, catalogue, connection, made)
            split = split_faults(query, catalogue)
            for fault in (*_unused_parameters(query, catalogue), *split, *bound):
                faults.append(f"{query.path}:1: {fault}")
    return len(judged), faults


def _binding_faults(
    query: Query,
    catalogue: Catalogue,
    connection: Connection,
    made: set[str],
) -> Iterator[str]:
    try:
        for each in in_order([query], catalogue):
            if each.name not in made:
                connection.execute(macro_sql(each, catalogue))
                made.add(each.name)
        given = connection.execute(f"DESCRIBE FROM {query.name}()").fetchall()
    except (HlodbError, DatabaseError) as error:
        yield str(error).removeprefix(f"{query.path}:1: ")
        return
    fault = column_difference(query, [(row[0], row[1]) for row in given])
    if fault is not None:
        yield fault


def _unused_parameters(query: Query, catalogue: Catalogue) -> Iterator[str]:
    used = {token[1:] for _, token in code_tokens(query.sql) if token[0] == "$"}
    used.update(*handed_on(query, catalogue).values())
    for parameter in query.parameters:
        if parameter.name not in used:
            yield f"parameter {parameter.name!r} is declared but not used"
