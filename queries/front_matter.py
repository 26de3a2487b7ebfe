"""Reads one query file: front matter in `--` lines, then one SELECT.

    -- title: Memory per memory space
    -- question: What does each program need in each memory space?
    -- definition: The exact computation, in words;
    --   further lines are indented.
    -- grain: module occurrence, colour
    -- empty: What to do where there are no rows (may be left out).
    -- leading: program, reserved_bytes (columns of the table; may be left out).
    -- split: programs (may be left out): the rows of a program of one process do not
    --   depend on its others, so that a cluster may ask program by program. Else a
    --   query is asked run by run, or without a parameter `run` of all runs at once.
    -- steps: sides, loops (may be left out): files of the folder beside it, each after
    --   those that it reads; `queries/steps.py` explains them.
    -- param run VARCHAR = NULL of runs.name: The run; NULL for the latest.
    -- param side VARCHAR = 'base' in base, candidate: Which of both.
    -- param slop DOUBLE = 0.0 from 0 to 1: Share that is kept free (or: from 0).
    -- column reserved_bytes BIGINT bytes lower_is_better: What is reserved.
    SELECT … WHERE r.name = $run

A parameter or column given by its name alone (`-- param run`) is the one that the
vocabulary declares. In the SQL a parameter is `$name`; a column called like one is
always qualified (`m.run`). Queries that the SQL reads get parameters of the same name
without being given them: `FROM module_list() AS m` reads those of `$run`.

A table of rules has no SQL: its rows are in `queries/rules/NAME.csv`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from hlodb.errors import UsageError
from hlodb.queries.blocks import with_blocks
from hlodb.queries.query import (
    COLUMN_TYPES,
    MOST_LEADING,
    NUMERIC_TYPES,
    PARAMETER_TYPES,
    POLARITIES,
    SPLITS,
    UNITS,
    Column,
    Parameter,
    Query,
    Vocabulary,
    default_leading,
)
from hlodb.queries.rule_tables import rules_sql
from hlodb.queries.sql_text import code_tokens, parameter_faults
from hlodb.queries.steps import Step, unread_steps, with_steps

SENTENCES = ("title", "question", "definition", "grain")
"""The keys that every query has, once."""

_OPTIONAL = ("empty", "leading", "split", "steps")
"""Keys that a query may have, once."""

_ENTRY = re.compile(r"-- (\w+)(?: +(\w+))?(.*)")
_PARAMETER = re.compile(
    r" (\w+(?:\[\])?) = (.+?)(?: of (\w+)\.(\w+)| in ([\w, ]+)"
    r"| from (-?\d+)(?: to (-?\d+))?)?: (\S.*)"
)
_COLUMN = re.compile(r" (\w+) (\w+) (\w+): (\S.*)")
_CONTINUATION = "--   "


class _Entry(NamedTuple):
    line: int
    key: str
    name: str | None
    rest: str


def parse_query(
    text: str,
    *,
    name: str,
    group: str,
    path: str,
    vocabulary: Vocabulary,
    steps: Mapping[str, Step] = MappingProxyType({}),
    is_checked: bool = False,
    is_built_in: bool = False,
) -> Query:
    """Return the query that `text` and its `steps` hold.

    Raises UsageError with `path:line` where the front matter is incomplete, or where
    the SQL uses what is not declared; SQL that `is_checked` is not checked again.
    """
    header, sql, sql_line = _split(text)
    entries = list(_entries(header, path))
    sentences = _sentences(entries, path)
    parameters = _parameters(entries, path, vocabulary)
    columns = _columns(entries, path, vocabulary)
    if not columns:
        _fail(path, 1, "declare every column of the result with `-- column`")
    if not sql and is_built_in and group == "rules":
        sql = rules_sql(name, columns)
    step_names = _steps(sentences.get("steps"), steps, path)
    if not is_checked:
        declared, shared = {p.name for p in parameters}, set(vocabulary.parameters)
        for step in (Step(path, sql, sql_line), *steps.values()):
            _check_sql(step.sql, declared, shared, step.path, step.first_line)
        for step in unread_steps(sql, steps):
            _fail(step.path, 1, "neither the query nor another step reads this one")
    return Query(
        name=name,
        group=group,
        path=path,
        title=sentences["title"],
        question=sentences["question"],
        definition=sentences["definition"],
        grain=sentences["grain"],
        parameters=parameters,
        columns=columns,
        sql=with_blocks(with_steps(sql, step_names, steps)),
        empty=sentences.get("empty"),
        leading=_leading(sentences.get("leading"), columns, path),
        is_built_in=is_built_in,
        declared_split=_split_by(sentences.get("split"), path),
    )


def parse_vocabulary(text: str, path: str) -> Vocabulary:
    """Return the shared parameters and columns; such a file holds nothing else."""
    header, sql, sql_line = _split(text)
    if sql:
        _fail(path, sql_line, "a vocabulary holds only `-- param` and `-- column`")
    entries = list(_entries(header, path))
    return Vocabulary(
        {p.name: p for p in _parameters(entries, path, Vocabulary())},
        {c.name: c for c in _columns(entries, path, Vocabulary())},
    )


def _split(text: str) -> tuple[list[str], str, int]:
    lines = text.splitlines()
    count = next(
        (i for i, line in enumerate(lines) if line.strip() and line[:2] != "--"),
        len(lines),
    )
    return lines[:count], "\n".join(lines[count:]).rstrip(), count + 1


def _entries(header: list[str], path: str) -> Iterator[_Entry]:
    current: _Entry | None = None
    more: list[str] = []
    for number, line in enumerate(header, 1):
        if line.startswith(_CONTINUATION) and current is not None:
            more.append(line[5:].strip())
        elif line.strip("- "):
            if current is not None:
                yield _continued(current, more)
            match = _ENTRY.fullmatch(line.rstrip())
            if not match:
                _fail(path, number, f"expected `-- key: text`, found {line!r}")
            current = _Entry(number, *match.groups())
            more.clear()
    if current is not None:
        yield _continued(current, more)


def _continued(entry: _Entry, more: list[str]) -> _Entry:
    return entry._replace(rest=" ".join((entry.rest, *more))) if more else entry


def _sentences(entries: list[_Entry], path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in entries:
        if entry.key in ("param", "column"):
            continue
        if entry.key not in (*SENTENCES, *_OPTIONAL):
            known = ", ".join((*SENTENCES, *_OPTIONAL, "param", "column"))
            _fail(path, entry.line, f"unknown key {entry.key!r}; known are {known}")
        if entry.key in found:
            _fail(path, entry.line, f"{entry.key!r} is declared twice")
        if entry.name or not entry.rest.startswith(": "):
            _fail(path, entry.line, f"expected `-- {entry.key}: text`")
        found[entry.key] = entry.rest[2:].strip()
    for key in SENTENCES:
        if not found.get(key):
            _fail(path, 1, f"`-- {key}: …` is missing")
    return found


def _parameters(
    entries: list[_Entry], path: str, vocabulary: Vocabulary
) -> tuple[Parameter, ...]:
    found: dict[str, Parameter] = {}
    for entry in (e for e in entries if e.key == "param"):
        name = _declared_name(entry, path, found)
        if entry.rest:
            found[name] = _parameter(name, entry, path)
        elif name in vocabulary.parameters:
            found[name] = vocabulary.parameters[name]
        else:
            _fail(path, entry.line, f"the vocabulary has no parameter {name!r}")
    return tuple(found.values())


def _parameter(name: str, entry: _Entry, path: str) -> Parameter:
    match = _PARAMETER.fullmatch(entry.rest)
    if not match:
        form = "-- param NAME TYPE = DEFAULT [of TABLE.COLUMN | in A, B | from 0 to 1]"
        _fail(path, entry.line, f"expected `{form}: text`")
    kind, default, table, column, words, least, most, doc = match.groups()
    _require_known("type", kind, PARAMETER_TYPES, entry, path)
    if least and kind not in NUMERIC_TYPES:
        _fail(path, entry.line, f"only numbers go `from` one to another, not {kind}")
    return Parameter(
        name,
        kind,
        default,
        (table, column) if table else None,
        tuple(re.split(r",\s*", words)) if words else (),
        doc,
        int(least) if least else None,
        int(most) if most else None,
    )


def _columns(
    entries: list[_Entry], path: str, vocabulary: Vocabulary
) -> tuple[Column, ...]:
    found: dict[str, Column] = {}
    for entry in (e for e in entries if e.key == "column"):
        name = _declared_name(entry, path, found)
        if entry.rest:
            found[name] = _column(name, entry, path)
        elif name in vocabulary.columns:
            found[name] = vocabulary.columns[name]
        else:
            _fail(path, entry.line, f"the vocabulary has no column {name!r}")
    return tuple(found.values())


def _column(name: str, entry: _Entry, path: str) -> Column:
    match = _COLUMN.fullmatch(entry.rest)
    if not match:
        _fail(path, entry.line, "expected `-- column NAME TYPE UNIT POLARITY: text`")
    _require_known("type", match[1], COLUMN_TYPES, entry, path)
    _require_known("unit", match[2], UNITS, entry, path)
    _require_known("polarity", match[3], POLARITIES, entry, path)
    return Column(name, match[1], match[2], match[3], match[4])


def _leading(
    text: str | None, columns: tuple[Column, ...], path: str
) -> tuple[str, ...]:
    """Return the declared leading columns, else those that suit most tables."""
    if text is None:
        return default_leading(columns)
    names = tuple(re.split(r",\s*", text))
    known = {column.name for column in columns}
    for name in names:
        if name not in known:
            _fail(path, 1, f"leading column {name!r} is not a column of the query")
    if len({*names}) != len(names) or len(names) > MOST_LEADING:
        _fail(path, 1, f"declare at most {MOST_LEADING} different leading columns")
    return names


def _split_by(text: str | None, path: str) -> str | None:
    if text is not None and text not in SPLITS:
        _fail(path, 1, f"unknown split {text!r}; known: {', '.join(SPLITS)}")
    return text


def _steps(text: str | None, steps: Mapping[str, Step], path: str) -> tuple[str, ...]:
    """Return the declared names of steps, which are those of the files."""
    names = tuple(re.split(r",\s*", text)) if text else ()
    if sorted(names) != sorted(steps):
        odd = ", ".join(sorted({*names} ^ steps.keys())) or "one is listed twice"
        _fail(path, 1, f"`-- steps: …` and the files of its folder differ: {odd}")
    return names


def _declared_name(entry: _Entry, path: str, found: Container[str]) -> str:
    if entry.name is None:
        _fail(path, entry.line, f"expected a name after `-- {entry.key}`")
    if entry.name in found:
        _fail(path, entry.line, f"{entry.key} {entry.name!r} is declared twice")
    return entry.name


def _require_known(
    what: str, word: str, known: tuple[str, ...], entry: _Entry, path: str
) -> None:
    if word not in known:
        _fail(path, entry.line, f"unknown {what} {word!r}; known: {', '.join(known)}")


def _check_sql(
    sql: str, declared: set[str], shared: set[str], path: str, first_line: int
) -> None:
    if not sql:
        _fail(path, first_line, "no SQL follows the front matter")
    for line, token in code_tokens(sql):
        if token == ";":
            _fail(path, first_line + line, "write one SELECT, without a semicolon")
    for line, fault in parameter_faults(sql, declared, shared):
        _fail(path, first_line + line, fault)


def _fail(path: str, line: int, message: str) -> NoReturn:
    raise UsageError(f"{path}:{line}: {message}")
