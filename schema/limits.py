"""What a database file may reach, set before anything in it is looked up.

A file may come from somebody else. Its macros and views can have the names of DuckDB's
own functions and tables, so a statement that asks for one runs what its author wrote.
Such SQL then reaches the file itself and the named folders: no other file, no network,
no extension.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.schema.connection import Connection, InvalidInputException, open_database

Config = Mapping[str, str | bool]

_NO_EXTENSIONS: Config = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
ALONE: Config = {**_NO_EXTENSIONS, "enable_external_access": False}
"""Settings of a file that reaches nothing else."""


def open_limited(
    path: str | Path,
    *,
    read_only: bool = False,
    folders: Iterable[str | Path] = (),
    files: Iterable[str | Path] = (),
    config: Config | None = None,
    settings: Mapping[str, str] | None = None,
    prepare: Callable[[Connection], None] | None = None,
) -> Connection:
    """Open a database file that reaches `folders` and `files` besides, nothing else.

    A folder may be a URL if `prepare` lets DuckDB read such addresses: before that it
    takes one for the name of a folder on this machine. `config` is the same for all
    connections of a process to one file; `settings` are those of the first. Raises as
    DuckDB does.
    """
    require_plain_name(path)
    reach = {
        "allowed_directories": [f"{str(folder).rstrip('/')}/" for folder in folders],
        "allowed_paths": [*map(str, files)],
    }
    is_alone = not any(reach.values())
    # DuckDB takes names of folders only when the database is open.
    connection = open_database(
        str(path),
        read_only=read_only,
        config={**(ALONE if is_alone else _NO_EXTENSIONS), **(config or {})},
    )
    try:
        if prepare:
            prepare(connection)
        # Connections of one process to one file share settings, and may have locked
        # them: then they are as they are to be.
        with suppress(InvalidInputException):
            # Without this DuckDB draws a bar into the standard output, amid our data.
            connection.execute("SET enable_progress_bar = false")
            for name, value in (settings or {}).items():
                connection.execute(f"SET {name} = {_quoted(value)}")
            for name, values in ({} if is_alone else reach).items():
                connection.execute(f"SET {name} = {_constant(values)}")
        with suppress(InvalidInputException):
            connection.execute("SET enable_external_access = false")
        _require_limits(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def require_plain_name(path: str | Path) -> None:
    """Raise WarehouseError for a name with a question mark.

    DuckDB takes what follows it for parameters of an address, and its log of changes
    then has a name that the limits do not admit.
    """
    if "?" in Path(path).name:
        raise WarehouseError(f"cannot use {path}: rename it, without a question mark")


def _require_limits(connection: Connection, path: str | Path) -> None:
    found = connection.execute(
        "SELECT system.main.current_setting('enable_external_access')"
    ).fetchall()
    if found != [(False,)]:
        raise WarehouseError(f"cannot use {path}: DuckDB does not limit what it reads")


def _constant(values: Iterable[str]) -> str:
    """Return a list as one text: in SQL, `[…]` calls a function that can be hidden."""
    elements = (re.sub(r"([\\'])", r"\\\1", value) for value in values)
    text = ", ".join(f"'{element}'" for element in elements)
    return _quoted(f"[{text}]")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def close_to_the_world(connection: Connection) -> None:
    """Keep SQL that others wrote from settings and from variables of this process."""
    with suppress(InvalidInputException):  # Locked already.
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET lock_configuration = true")
