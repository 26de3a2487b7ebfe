"""What keeps a query from being asked program by program, as it declares it may be."""

from __future__ import annotations

from collections.abc import Iterator

from hlodb.queries.catalogue import Catalogue
from hlodb.queries.macros import in_order, needs
from hlodb.queries.query import Query
from hlodb.queries.sql_text import code_tokens
from hlodb.schema.stored import stored_tables

_COLUMNS = ("run", "rank")
"""Columns by which rows of a program are joined with the runs that have it."""

_OF_PROGRAMS = frozenset(("runs", "modules", "module_memory", "located_instructions"))
"""Tables of runs that are, in a task, those of its programs."""

_SELECTING = "run_order"
"""The one query of all runs that may be read: it finds the latest."""


def split_faults(query: Query, catalogue: Catalogue) -> Iterator[str]:
    """Yield why a query that is split by programs cannot be."""
    if query.declared_split != "programs":
        return
    if not any(parameter.name == "run" for parameter in query.parameters):
        yield "split by programs, without the parameter 'run'"
    names = [column.name for column in query.columns]
    for name in _COLUMNS:
        if name not in names:
            yield f"split by programs, without the column {name!r}"
    if _has_limit(query.sql):
        yield "split by programs, and LIMIT counts the rows of all programs"
    for each in in_order([query], catalogue):
        read = {*needs(each, catalogue)}
        for table in sorted(read & _tables_of_runs()):
            yield f"split by programs, and {each.name} reads {table}, a table of runs"
        if each.split is None and each.name != _SELECTING and read & _OF_PROGRAMS:
            yield f"split by programs, and {each.name} reads all runs"


def _tables_of_runs() -> frozenset[str]:
    names = (name for name, columns in stored_tables().items() if "run_id" in columns)
    return frozenset(("dump_files", *names)) - _OF_PROGRAMS


def _has_limit(sql: str) -> bool:
    """Return whether the outermost SELECT has a LIMIT."""
    depth = 0
    for _, token in code_tokens(sql):
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token.upper() == "LIMIT":
            return True
    return False
