"""Runs a canned query, or SQL of one's own, and gives a Result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from hlodb.errors import HlodbError, UsageError
from hlodb.queries.bounds import require_within
from hlodb.queries.catalogue import Catalogue, find_query, load_catalogue
from hlodb.queries.compose import Composed, compose_query, compose_text
from hlodb.queries.query import Parameter, Query
from hlodb.queries.result import Result, plain_column
from hlodb.queries.sql_text import parameter_names
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.harmless import require_harmless
from hlodb.text import nearest, not_held

Value = str | int | float | bool | list[int] | list[str] | None

_TRUE = {"true", "yes", "1", "on"}
_FALSE = {"false", "no", "0", "off"}


def run_query(
    connection: Connection,
    name: str,
    parameters: Mapping[str, Value] | None = None,
    catalogue: Catalogue | None = None,
    answered: Mapping[str, str] | None = None,
) -> Result:
    """Return the answer of the query `name`; parameters are bound, never pasted.

    `catalogue` is the built-in one unless given; `answered` is as `answered_once`
    yields it. Raises UsageError for an unknown query or parameter, for a run or program
    that the warehouse doesn't hold, and for a number that is too small or too large.
    """
    catalogue = load_catalogue() if catalogue is None else catalogue
    parameters = parameters or {}
    query = find_query(catalogue, name)
    require_sound(connection, query, parameters)
    try:
        statements = composed(query, parameters, catalogue, answered)
        with shared_answers(connection, statements, parameters) as select:
            rows = connection.execute(select, bound(select, parameters)).fetchall()
    except DatabaseError as error:
        raise HlodbError(f"query {query.name} ({query.path}): {error}") from error
    return Result(query.columns, rows, query.leading)


def run_page(
    connection: Connection,
    query: Query,
    parameters: Mapping[str, Value],
    *,
    offset: int = 0,
    limit: int | None = None,
) -> Result:
    """Return some rows of an answer of `run_query`, with the number of all of them.

    The whole answer stays in the database: it may be larger than the rows' room.
    """
    require_sound(connection, query, parameters)
    try:
        statements = composed(query, parameters, load_catalogue())
        with shared_answers(connection, statements, parameters) as select:
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE whole_answer AS {select}",
                bound(select, parameters),
            )
            [(total,)] = connection.execute(
                "SELECT count(*) FROM temp.whole_answer"
            ).fetchall()
            rows = connection.execute(
                "FROM temp.whole_answer LIMIT ? OFFSET ?",
                [total if limit is None else limit, offset],
            ).fetchall()
    except DatabaseError as error:
        raise HlodbError(f"query {query.name} ({query.path}): {error}") from error
    return Result(query.columns, rows, query.leading, total)


def row_count(
    connection: Connection,
    query: Query,
    parameters: Mapping[str, Value],
    catalogue: Catalogue,
) -> int:
    """Return the number of rows that `run_query` gives of a query in the catalogue."""
    statements = composed(query, parameters, catalogue)
    with shared_answers(connection, statements, parameters) as select:
        count = f"SELECT count(*) FROM (\n{select}\n)"
        rows = connection.execute(count, bound(select, parameters)).fetchall()
    return int(rows[0][0])


def require_sound(
    connection: Connection, query: Query, parameters: Mapping[str, Value]
) -> None:
    """Raise UsageError for parameters that `run_query` refuses."""
    _require_parameters(query, parameters)
    _require_known_values(connection, query, parameters)


def run_sql(connection: Connection, sql: str, most: int | None = None) -> Result:
    """Return the rows of SQL of one's own, the first `most`.

    Raises UsageError, which says what DuckDB finds wrong. Columns that share a name get
    numbers, as in a table that DuckDB makes of them.
    """
    try:
        require_harmless(connection, sql)
        cursor = connection.execute(sql)
        rows = cursor.fetchall() if most is None else cursor.fetchmany(most)
    except DatabaseError as error:
        raise UsageError(str(error)) from error
    columns = [plain_column(d[0], str(d[1])) for d in cursor.description or []]
    names = _distinct(column.name for column in columns)
    named = zip(columns, names, strict=True)
    return Result(tuple(column._replace(name=name) for column, name in named), rows)


def _distinct(names: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        distinct, number = name, 0
        while distinct in found:
            number += 1
            distinct = f"{name}_{number}"
        found[distinct] = None
    return [*found]


def composed(
    query: Query,
    parameters: Iterable[str],
    catalogue: Catalogue,
    answered: Mapping[str, str] | None = None,
) -> Composed:
    """Return the statements of a query with parameters to bind by name.

    Lists are bound as JSON text: DuckDB takes a Python list apart value by value, and
    looks for pandas at each.
    """
    types = {p.name: p.type for p in query.parameters}
    given = {
        name: f"from_json(${name}, '[\"{types[name][:-2]}\"]')"
        if types[name].endswith("[]")
        else f"${name}"
        for name in parameters
    }
    return compose_query(query, given, catalogue, answered)


@contextmanager
def shared_answers(
    connection: Connection, statements: Composed, parameters: Mapping[str, Value]
) -> Iterator[str]:
    """Make the shared answers of a query, and yield the SELECT that reads them.

    All is one transaction, unless there is one already, so that all see the same rows.
    """
    if not statements.shared:
        yield statements.select
        return
    is_own = not _is_in_transaction(connection)
    if is_own:
        connection.execute("BEGIN TRANSACTION")
    try:
        for name, select in statements.shared.items():
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {name} AS {select}",
                bound(select, parameters),
            )
        yield statements.select
    except BaseException:
        # A file that a failing disk has made unusable can't even roll back.
        with suppress(DatabaseError):
            if is_own:
                connection.execute("ROLLBACK")
        raise
    for name in statements.shared:
        connection.execute(f"DROP TABLE temp.{name}")
    if is_own:
        connection.execute("COMMIT")


def _is_in_transaction(connection: Connection) -> bool:
    """Return whether two statements are of one transaction; to begin a second fails."""
    first, second = (
        connection.execute("SELECT system.main.txid_current()").fetchall()
        for _ in range(2)
    )
    return first == second


def bound(statement: str, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values to bind to a statement of `composed`: those that it reads."""
    read = parameter_names(statement)
    return {
        name: json.dumps(value) if isinstance(value, list) else value
        for name, value in parameters.items()
        if name in read
    }


def run_composed(
    connection: Connection,
    sql: str,
    parameters: Mapping[str, Value] | None = None,
    catalogue: Catalogue | None = None,
    answered: Mapping[str, str] | None = None,
) -> list[tuple[Any, ...]]:
    """Return the rows of SQL of ours that reads queries; lists are bound as JSON.

    `answered` is as for `run_query`.
    """
    catalogue = load_catalogue() if catalogue is None else catalogue
    parameters = parameters or {}
    statements = compose_text(sql, catalogue, answered)
    with shared_answers(connection, statements, parameters) as select:
        values = bound(select, parameters)
        return connection.execute(select, values or None).fetchall()


def explain(query: Query, parameters: Mapping[str, Value], catalogue: Catalogue) -> str:
    """Return the SQL that `run_query` carries out, as a script for the DuckDB CLI."""
    _require_parameters(query, parameters)
    given = {name: _literal(value) for name, value in parameters.items()}
    shared, select = compose_query(query, given, catalogue)
    made = (
        f"CREATE OR REPLACE TEMP TABLE {name} AS\n{answer};\n\n"
        for name, answer in shared.items()
    )
    return f"{''.join(made)}{select};"


def parse_parameters(query: Query, assignments: Iterable[str]) -> dict[str, Value]:
    """Return the typed values of `name=value` texts; an empty value is NULL.

    Raises UsageError for what is not of this form, unknown or of another type.
    """
    values: dict[str, Value] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UsageError(f"-p takes name=value, not {assignment!r}")
        _require_parameters(query, [name])
        parameter = next(p for p in query.parameters if p.name == name)
        values[name] = _parse_value(parameter, text)
    return values


def _parse_value(parameter: Parameter, text: str) -> Value:
    if text == "":
        return None
    try:
        match parameter.type:
            case "BIGINT":
                return int(text.replace("_", "").replace(",", ""))
            case "BIGINT[]":
                return [int(number) for number in text.split(",")]
            case "VARCHAR[]":
                return text.split(",")
            case "DOUBLE":
                return float(text)
            case "BOOLEAN":
                return _parse_flag(text)
    except ValueError as error:
        message = f"parameter {parameter.name!r} is {parameter.type}, not {text!r}"
        raise UsageError(message) from error
    return text


def _parse_flag(text: str) -> bool:
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise ValueError(text)


def _require_parameters(query: Query, names: Iterable[str]) -> None:
    known = [p.name for p in query.parameters]
    for name in names:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            hint = nearest(name, known)
            raise UsageError(
                f"query {query.name} has no parameter {name!r}, {has}{hint}"
            )


def _require_known_values(
    connection: Connection, query: Query, values: Mapping[str, Value]
) -> None:
    for parameter in query.parameters:
        value = values.get(parameter.name)
        if value is None:
            continue
        require_within(parameter, value)
        if parameter.choices and value not in parameter.choices:
            one_of = ", ".join(parameter.choices)
            hint = nearest(str(value), parameter.choices)
            message = f"parameter {parameter.name!r} is one of {one_of}, not {value!r}"
            raise UsageError(message + hint)
        if parameter.source is None:
            continue
        table, column = parameter.source
        run = values.get("run") if table == "modules" else None
        for each in value if isinstance(value, list) else [value]:
            if not connection.execute(
                f'SELECT 1 FROM "{table}" WHERE "{column}" = ? LIMIT 1', [each]
            ).fetchall():
                known = connection.execute(
                    f'SELECT DISTINCT "{column}" FROM "{table}"'
                ).fetchall()
                names = [name for (name,) in known]
                raise UsageError(_not_held(connection, parameter, each, names, run))


def _not_held(
    connection: Connection,
    parameter: Parameter,
    value: Value,
    known: Iterable[Any],
    run: Value,
) -> str:
    """Return a message that lists what the requested run has, else the warehouse."""
    if run is None:
        return not_held(parameter.name, value, known)
    rows = connection.execute(
        f"SELECT DISTINCT m.{parameter.name} FROM modules AS m"
        " JOIN runs AS r USING (run_id) WHERE r.name = ?",
        [run],
    ).fetchall()
    return not_held(parameter.name, value, (n for (n,) in rows), holder=f"run {run}")


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
