"""Blocks of queries answered once, for all queries of a connection that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

from hlodb.queries.catalogue import Catalogue
from hlodb.queries.run import Value, bound, composed, shared_answers
from hlodb.schema.connection import Connection

_NUMBERS = count(1)
"""Tell tables of one block apart: answers of other runs may stand meanwhile."""


@contextmanager
def answered_once(
    connection: Connection,
    blocks: Sequence[str],
    parameters: Mapping[str, Value],
    catalogue: Catalogue,
    given: Mapping[str, str] | None = None,
) -> Iterator[Mapping[str, str]]:
    """Answer `blocks`, each after those it reads, and yield the tables by their names.

    `run_query` takes them as `answered`: every call of a block then reads its table,
    whatever its parameters. So ask only queries with the same ones, that set no others.
    `given` are tables with answers that the caller has made.
    """
    tables = dict(given or {})
    made = []
    try:
        for name in blocks:
            query = catalogue[name]
            known = {p.name for p in query.parameters}
            asked = {k: v for k, v in parameters.items() if k in known}
            statements = composed(query, asked, catalogue, tables)
            table = f"temp.answer_{next(_NUMBERS)}_of_{name}"
            with shared_answers(connection, statements, asked) as select:
                connection.execute(
                    f"CREATE TEMP TABLE {table} AS {select}",
                    bound(select, asked),
                )
            tables[name] = table
            made.append(table)
        yield tables
    finally:
        for table in made:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
