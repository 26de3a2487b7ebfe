"""Warehouses that somebody else made: what they hide, and commands run on them.

`python -m tests.reliability.strangers FOLDER DB` carries out every command on a
warehouse in one process, and writes its exit codes and output as JSON. An audit hook
notes each file of the name CANARY or TARGET that Python opens; DuckDB opens files
without it, and shows what it read.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from hlodb.cli import main
from hlodb.queries.catalogue import load_catalogue
from hlodb.schema import limits
from hlodb.schema.stored import public_tables, stored_tables
from tests.conftest import DATA

CANARY = "canary.csv"
SECRET = "the-secret-of-the-canary"
TARGET = "target"

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("runs",),
    ("modules",),
    ("report", "--format", "json"),
    ("report", "--format", "comment", "--write", "html=page.html"),
    ("diff", "before", "after"),
    ("explain", "--run", "after"),
    ("fit",),
    ("site", "public"),
    ("export", "jit_cg", "--to", "perfetto"),
    ("export", "jit_cg", "--to", "folded"),
    ("triage",),
    ("query", "run_list"),
    ("query", "peak_contents"),
    ("query", "remedies"),
    ("sql", "FROM runs"),
    ("sql", "SELECT count(*), current_setting('threads') FROM modules"),
    ("sql", "FROM peak_by_space()"),
    ("check",),
    ("check", "--queries"),
    ("check", "--deep"),
    ("ingest", str(DATA / "seeds"), "--run", "more"),
    ("ingest", "--retry-rejects"),
    ("lake", "pack", "{db}", "packed.lake"),
    ("lake", "unpack", "{db}", "unpacked.duckdb"),
    ("backup", "copy.duckdb"),
    ("migrate",),
    ("prune", "--keep", "1"),
    ("compact",),
    ("rm", "before"),
)
"""Every command that opens a warehouse; `{db}` is it."""


def asked_names(database: Path) -> tuple[set[str], set[str]]:
    """Return the functions and the relations in all that hlodb asks of a warehouse."""
    asked: set[str] = set()
    opened = vars(limits)["open_database"]

    def traced(*values: Any, **options: Any) -> Any:
        return _Traced(opened(*values, **options), asked)

    os.chdir(database.parent)
    setattr(limits, "open_database", traced)  # noqa: B010
    try:
        for _ in carried_out(database):
            pass
    finally:
        setattr(limits, "open_database", opened)  # noqa: B010
    functions: set[str] = set()
    relations: set[str] = set()
    for sql in asked:
        tokens = _tokens(sql)
        for before, token, behind in zip(
            ["", *tokens], tokens, [*tokens[1:], ""], strict=False
        ):
            if behind == "(" and token.replace("_", "").isalnum():
                functions.add(token)
            elif before in ("from", "join", "into", "update", "table"):
                relations.add(token.strip('"'))
    return functions, relations


class _Traced:
    """A connection whose statements are noted."""

    def __init__(self, connection: Any, asked: set[str]) -> None:
        self._connection = connection
        self._asked = asked

    def execute(self, sql: Any, *values: Any) -> Any:
        self._asked.add(str(sql))
        return self._connection.execute(sql, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _tokens(sql: str) -> list[str]:
    data = sql.encode()
    starts = [start for start, _ in duckdb.tokenize(sql)]
    ends = [*starts[1:], len(data)]
    texts = (data[a:b].decode() for a, b in zip(starts, ends, strict=True))
    return [text.split("--")[0].strip().lower() for text in texts]


def carried_out(db: Path) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Carry out every command on a warehouse; yield its exit code and output."""
    for command in COMMANDS:
        words = [word.replace("{db}", str(db)) for word in command]
        options = [] if command[0] == "lake" else ["--db", str(db)]
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main([*words, *options])
        out.flush()
        text = out.buffer.getvalue().decode()
        yield command, code, text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def hide_functions(db: Path, names: set[str], payload: str) -> int:
    """Make macros of these names in a warehouse; return how many there are.

    `payload` is a SELECT of one value. Each takes up to four arguments, and is a table
    macro besides where DuckDB lets both be.
    """
    made = 0
    arguments = ("", "a", "a, b", "a, b, c", "a, b, c, d")
    with duckdb.connect(str(db)) as connection:
        for name in sorted(names):
            bodies = ", ".join(f"({each}) AS ({payload})" for each in arguments)
            for sql in (
                f"CREATE OR REPLACE MACRO {_quoted(name)} {bodies}",
                f"CREATE OR REPLACE MACRO {_quoted(name)}() AS TABLE {payload}",
            ):
                with contextlib.suppress(duckdb.Error):
                    connection.execute(sql)
                    made += 1
    return made


def replace_queries(db: Path, payload: str) -> int:
    """Replace every macro of hlodb's queries; they keep parameters and columns."""
    with duckdb.connect(str(db)) as connection:
        for query in load_catalogue().values():
            given = ", ".join(f"{p.name} := NULL" for p in query.parameters)
            columns = ", ".join(
                f"s.s::VARCHAR AS {_quoted(c.name)}" for c in query.columns
            )
            connection.execute(
                f"CREATE OR REPLACE MACRO {query.name}({given}) AS TABLE"
                f" SELECT {columns} FROM ({payload}) AS s(s)"
            )
        return len(load_catalogue())


def replace_relations(db: Path, names: set[str], payload: str) -> int:
    """Put views of these names in place of what is there; return how many."""
    made = 0
    with duckdb.connect(str(db)) as connection:
        for name in sorted(names):
            schema, dot, table = name.rpartition(".")
            full = f"{schema}{dot}{_quoted(table)}"
            for kind in ("VIEW", "TABLE"):
                with contextlib.suppress(duckdb.Error):
                    connection.execute(f"DROP {kind} {full} CASCADE")
            with contextlib.suppress(duckdb.Error):
                connection.execute(f"CREATE VIEW {full} AS {payload}")
                made += 1
    return made


def stored_names() -> set[str]:
    """Return the names of the tables that a file stores."""
    return {*stored_tables()}


def shown_names() -> set[str]:
    """Return the names of the views that people query."""
    return {*public_tables()} - {*stored_tables()}


def run(folder: Path, db: Path) -> dict[str, Any]:
    """Carry out all commands in `folder`; return their output and what was opened."""
    opened: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            name = os.path.basename(os.fsdecode(arguments[0]))
            if name in (CANARY, TARGET):
                opened.append(name)

    os.chdir(folder)
    sys.addaudithook(hook)
    outcomes = [(" ".join(c), code, text) for c, code, text in carried_out(db)]
    return {"outcomes": outcomes, "opened": opened}


if __name__ == "__main__":
    found = run(Path(sys.argv[1]), Path(sys.argv[2]))
    print(json.dumps(found))
