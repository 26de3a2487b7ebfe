"""Which SQL that others wrote is run at all.

Limits of the connection keep all SQL from other files. What they don't hold is refused
here: statements that write a file where DuckDB has to reach a folder, as in a lake, and
functions that do so, that end the process, or that run a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlodb.errors import UsageError
from hlodb.schema.connection import Connection, DatabaseError, tokenize
from hlodb.schema.foreign import UNSAFE_FUNCTIONS

_HARMLESS = frozenset(
    ("CALL", "CREATE", "DELETE", "DROP", "EXPLAIN", "INSERT", "PRAGMA", "SELECT", "SET",
     "TRANSACTION", "UPDATE", "VACUUM", "VARIABLE_SET")
)  # fmt: skip
"""Kinds of statements that write no file; a read-only connection refuses some."""

_TOKEN = re.compile(rb'"((?:[^"]|"")*)"|(\w+|[^\w\s])')


def require_harmless(connection: Connection, sql: str) -> None:
    """Raise UsageError for no statement, and for one that is not run.

    Raises DatabaseError for a mistake in the SQL.
    """
    statements = connection.extract_statements(sql)
    if not statements:
        raise UsageError("there is no statement in this SQL")
    aside = _databases_aside(connection)
    for statement in statements:
        kind = statement.type.name
        if kind == "SET" and aside:
            raise UsageError("SET and USE are not run: this file has objects aside")
        if kind == "EXPLAIN":
            kind = _explained_kind(connection, statement.query)
        if kind not in _HARMLESS:
            raise UsageError(f"{kind} statements are not run: SQL here reads only")
    for name, mark in _marked_names(sql):
        if mark == "(" and name in UNSAFE_FUNCTIONS:
            raise UsageError(f"the function {name}() is not run here")
        if mark == "." and name in aside:
            raise UsageError(
                f"objects of {name} are aside: drop those that hide others"
            )


def _databases_aside(connection: Connection) -> set[str]:
    """Return the file of which names are not looked up, where it is so."""
    rows = connection.execute(
        "SELECT database_name FROM system.main.duckdb_databases()"
        " WHERE NOT internal AND database_name <> system.main.current_database()"
    ).fetchall()
    return {name.lower() for (name,) in rows}


def _explained_kind(connection: Connection, sql: str) -> str:
    """Return the kind of the statement behind EXPLAIN and its options.

    An option may be behind it in brackets, and so may a statement.
    """
    rest = [*_tokens(sql)][1:]
    if rest and rest[0][1] == b"analyze":
        del rest[0]
    for behind in (0, _length_of_brackets(rest)):
        if behind < len(rest):
            text = sql.encode()[rest[behind][0] :].decode()
            try:
                statements = connection.extract_statements(text)
            except DatabaseError:
                continue
            return str(statements[0].type.name)
    return "EXPLAIN of such"


def _length_of_brackets(tokens: list[tuple[int, bytes]]) -> int:
    """Return how many tokens the brackets have with which a statement begins."""
    depth = 0
    for number, (_, token) in enumerate(tokens):
        depth += (token in (b"(", b"[")) - (token in (b")", b"]"))
        if depth == 0:
            return number + 1
    return len(tokens)


def _marked_names(sql: str) -> Iterator[tuple[str, str]]:
    """Yield each token with the one behind it, where that is a bracket or a dot."""
    name = b""
    for _, token in _tokens(sql):
        if token in (b"(", b"."):
            yield name.decode(errors="replace"), token.decode()
        name = token


def _tokens(sql: str) -> Iterator[tuple[int, bytes]]:
    """Yield where each token begins, in bytes, and its text; names in small letters.

    Strings and comments are none.
    """
    data = sql.encode()
    for start, kind in tokenize(sql):
        found = _TOKEN.match(data, start)
        if found is not None and kind.name not in ("comment", "string_const"):
            quoted, plain = found.groups()
            text = plain if quoted is None else quoted.replace(b'""', b'"')
            yield start, text.lower()
