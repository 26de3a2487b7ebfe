"""Parts of queries answered once, for all queries of a connection that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from hlodb.queries.catalogue import Catalogue
from hlodb.queries.macros import install_temporary, redirect, restore
from hlodb.queries.run import Value, call_sql
from hlodb.schema.connection import Connection


@contextmanager
def answered_once(
    connection: Connection,
    parts: Sequence[str],
    parameters: Mapping[str, Value],
    catalogue: Catalogue,
) -> Iterator[None]:
    """Answer `parts`, each after those it reads; within the block nothing else does.

    Every call of a part gives this answer, whatever its parameters: ask only queries
    with the same ones, that hand no others on.
    """
    tables = {part: f"answer_of_{part}" for part in parts}
    try:
        for part, table in tables.items():
            query = catalogue[part]
            install_temporary(connection, query, catalogue)
            known = {p.name for p in query.parameters} & parameters.keys()
            given = {name: parameters[name] for name in sorted(known)}
            connection.execute(
                f"CREATE TEMP TABLE {table} AS {call_sql(query, given)}",
                list(given.values()),
            )
            redirect(connection, query, f"temp.{table}")
        yield
    finally:
        for part, table in tables.items():
            restore(connection, catalogue[part])
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
