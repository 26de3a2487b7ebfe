"""What the commands share: options, opening the warehouse, writing a result."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from hlodb.errors import UsageError
from hlodb.lake import is_lake
from hlodb.lake.opening import read_as_small, reading
from hlodb.printed_commands import DEFAULT_DB, named_db
from hlodb.queries.render.forms import BINARY_FORMATS, FORMATS, writer
from hlodb.queries.result import Result
from hlodb.schema.connection import Connection
from hlodb.schema.limits import close_to_the_world
from hlodb.terminal.narration import DB_IN_COMMANDS, narrate
from hlodb.text import counted, parse_limit

if TYPE_CHECKING:
    from hlodb.ingest.sources.discover import RunSource

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Utf8(click.types.StringParamType):
    """Text that is to be stored; an argument may hold any bytes."""

    name = "text"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail(f"{value!r} is not UTF-8", param, ctx)
        return value


UTF8 = _Utf8()


class _Utf8Path(click.Path):
    """The path of a file for DuckDB, which takes no other names."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        return super().convert(UTF8.convert(value, param, ctx), param, ctx)


class _Warehouse(_Utf8Path):
    """A file, or the folder of a lake."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        if is_lake(value):
            return Path(UTF8.convert(str(value), param, ctx))
        return super().convert(value, param, ctx)


def _set_lock_timeout(
    context: click.Context, _: click.Parameter, seconds: float | None
) -> None:
    """Set it as the environment variable would, for this command only."""
    if seconds is None:
        return
    before = os.environ.get("HLODB_LOCK_TIMEOUT")
    os.environ["HLODB_LOCK_TIMEOUT"] = str(seconds)
    context.call_on_close(lambda: _restore_lock_timeout(before))


def _restore_lock_timeout(before: str | None) -> None:
    if before is None:
        del os.environ["HLODB_LOCK_TIMEOUT"]
    else:
        os.environ["HLODB_LOCK_TIMEOUT"] = before


def _choose_db(context: click.Context, parameter: click.Parameter, db: Any) -> Any:
    """Return the file given with the command, else the one given before it."""
    before = context.obj
    source = context.get_parameter_source(parameter.name or "")
    if before is not None and source is not ParameterSource.COMMANDLINE:
        db = parameter.type.convert(before, parameter, context)
    context.meta[DB_IN_COMMANDS] = named_db(db)
    return db


def _db_of(kind: click.Path, metavar: str, help_text: str) -> Decorator:
    return click.option(
        "--db",
        metavar=metavar,
        envvar="HLODB_DB",
        default=DEFAULT_DB,
        show_default=True,
        show_envvar=True,
        type=kind,
        callback=_choose_db,
        help=help_text,
    )


_db = _db_of(
    _Warehouse(path_type=Path, dir_okay=False),
    "FILE|LAKE",
    "The warehouse: a file, or the folder of a lake.",
)
_file_db = _db_of(
    _Utf8Path(path_type=Path, dir_okay=False), "FILE", "The warehouse: a file."
)
_lock_timeout: Decorator = click.option(
    "--lock-timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, 1_000_000),
    expose_value=False,
    is_eager=True,
    callback=_set_lock_timeout,
    help="Time to wait for other processes.  [env: HLODB_LOCK_TIMEOUT; default: 60]",
)


def db_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --db, and --lock-timeout for as long as others have that file open."""
    return _db(_lock_timeout(command))


def file_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same for commands that only a file needs."""
    return _file_db(_lock_timeout(command))


_format: Decorator = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="Format of the rows.",
)
_WIDE = "hlodb.wide"


def _set_wide(context: click.Context, _: click.Parameter, wide: bool) -> None:
    context.meta[_WIDE] = wide


_wide: Decorator = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=_set_wide,
    help="Show every column of a table, not only the leading ones.",
)


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, and --wide for its default form, the table."""
    return _format(_wide(command))


_COLUMNS, _LIMIT = "hlodb.columns", "hlodb.limit"


def _set_columns(context: click.Context, _: click.Parameter, names: str | None) -> None:
    context.meta[_COLUMNS] = [name.strip() for name in (names or "").split(",") if name]


def _set_limit(context: click.Context, _: click.Parameter, limit: int | None) -> None:
    context.meta[_LIMIT] = limit


_columns: Decorator = click.option(
    "--columns",
    metavar="NAME,…",
    expose_value=False,
    callback=_set_columns,
    help="Give only these columns, in this order.",
)
_row_limit: Decorator = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=0),
    expose_value=False,
    callback=_set_limit,
    help="Give only the first N rows.",
)


def bounds_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --columns and --limit, which bound an answer in every format."""
    return _columns(_row_limit(command))


def is_bounded() -> bool:
    """Return whether --columns or --limit bound what this command prints."""
    meta = click.get_current_context().meta
    return bool(meta.get(_COLUMNS)) or meta.get(_LIMIT) is not None


def is_cut(result: Result) -> bool:
    """Return whether --limit leaves rows of an answer out."""
    limit = click.get_current_context().meta.get(_LIMIT)
    return limit is not None and limit < len(result.rows)


def _bounded(result: Result, context: click.Context) -> Result:
    """Return the part of an answer that --columns and --limit leave."""
    columns, limit = context.meta.get(_COLUMNS, ()), context.meta.get(_LIMIT)
    bounded = result.bounded(columns, limit)
    if len(bounded.rows) < len(result.rows):
        narrate(f"first {len(bounded.rows):,} of {counted(result.total, 'row')}")
    return bounded


def _limit(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Return the bytes of a limit."""
    if value is None:
        return None
    try:
        return parse_limit(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


limit_option: Decorator = click.option(
    "--limit",
    metavar="SIZE",
    callback=_limit,
    help="Memory that programs may use, such as 15.75GiB  [default: [[device]] of"
    " hlodb.toml, or what the compiler uses of the device]",
)
"""Adds --limit; a log or dump that names the limit goes before the default."""


class _Output(click.Path):
    """A file to write to; `-` is the standard output, None."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        return output_of(os.fsdecode(super().convert(value, param, ctx)))


def output_of(path: str) -> Path | None:
    """Return the file to write to; `-` is the standard output, None.

    Raises UsageError for a file in no folder: before the work, not after it.
    """
    if path == "-":
        return None
    output = Path(path)
    if not output.parent.is_dir():
        raise UsageError(f"cannot write {output}: {os.strerror(errno.ENOENT)}")
    return output


class Moment(click.DateTime):
    """A time as ISO 8601 has it; one without a zone is in UTC."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the time, to the second."""
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is no time such as 2026-01-31, 2026-01-31T02:00:00 or"
                " 2026-01-31T02:00:00+01:00",
                param,
                ctx,
            )
        if found.tzinfo is not None:
            found = found.astimezone(UTC)
        return found.replace(tzinfo=None, microsecond=0)


output_option: Decorator = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=_Output(path_type=Path, dir_okay=False),
    help="Write to a file; - is the standard output.",
)


@contextmanager
def dumps_as_warehouse(
    sources: Sequence[RunSource],
) -> Iterator[tuple[Path, list[str]]]:
    """Yield a warehouse of `sources` and the names of its runs; remove it afterwards.

    What ingest notes about them is printed.
    """
    # Loaded when asked for: most commands ingest nothing.
    from hlodb.ingest.pipeline.ingest import ingest_sources

    with TemporaryDirectory(prefix="hlodb-dumps-") as folder:
        file = Path(folder) / "dumps.duckdb"
        summaries = ingest_sources(sources, file)
        for summary in summaries:
            for note in summary.notes:
                narrate(note)
        yield file, [summary.name for summary in summaries]


@contextmanager
def open_for_reading(db: Path, small_bytes: int | None = None) -> Iterator[Connection]:
    """Yield a read-only connection from which no other file can be reached.

    A file below `small_bytes` is read as a small one.
    """
    with reading(db) as connection:
        if small_bytes is not None and db.is_file() and db.stat().st_size < small_bytes:
            read_as_small(connection)
        close_to_the_world(connection)
        yield connection


def write_result(result: Result, form: str, output: Path | None) -> None:
    """Write rows to `output`, else to the standard output.

    Raises UsageError where a binary form would go to a terminal.
    """
    if form in BINARY_FORMATS:
        refuse_terminal(form, output)
    context = click.get_current_context(silent=True)
    if context is not None:
        result = _bounded(result, context)
    if context is not None and context.meta.get(_WIDE):
        result = replace(result, leading=())
    with output_stream(output) as stream:
        writer(form)(result, stream)


def _refuse_warehouse(output: Path) -> None:
    context = click.get_current_context(silent=True)
    db = context.params.get("db") if context else None
    if db and db.exists() and output.exists() and output.samefile(db):
        raise UsageError(f"{output} is the warehouse; name another file to write to")


def refuse_terminal(form: str, output: Path | None) -> None:
    """Raise UsageError where a binary form would go to a terminal."""
    if output is None and sys.stdout.isatty():
        raise UsageError(f"{form} is binary: give --output FILE, or redirect")


@contextmanager
def output_stream(output: Path | None) -> Iterator[BinaryIO]:
    """Yield `output` to be written to, else the standard output.

    Raises UsageError where the file cannot be written, or is the warehouse.
    """
    if output is None:
        yield sys.stdout.buffer
        return
    _refuse_warehouse(output)
    try:
        with output.open("wb") as stream:
            yield stream
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error
