"""Original dumps read again, where they still exist, and compared with the stored rows.

The dumps go into a warehouse of their own, which is deleted in the end; then rows are
counted and hashed on both sides, by run, module or set of source lines.

Modules are stored once for all runs that hold them, with what any of their dumps adds.
So all runs are read before any is compared. Where no dump that was read gives a table
rows of a module, those that are stored came from another, gone or forgotten by now.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hlodb.ingest.load.run_records import Passes, RunRequest, recorded_files
from hlodb.ingest.load.statements import statement
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.pipeline.retry import is_fetched, unchanged_source
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.schema.connection import Connection
from hlodb.schema.stored import stored_tables
from hlodb.schema.warehouse import connect

_Sums: TypeAlias = dict[int, tuple[int, str]]
"""Rows and the sum of their hashes, by key."""

_NONE = (0, "")
_TABLES = stored_tables()
# How a file came in (parsed, or known from an equal one) is not what it holds.
_LEFT_OUT = {"dump_files": ", status"}
_VIEWS = {
    "run_id": ("modules", "dump_files"),
    "module_id": ("instructions",),
    "locations_id": ("locations", "stack_frames"),
}
"""What is stored by number, in order of arrival, or in pieces is compared as shown."""

_NUMBERED = frozenset(
    ("runs", "store.occurrences", "store.run_files", "store.instructions",
     "store.snapshots", "store.files", "store.location_sets")
)  # fmt: skip


class Difference(NamedTuple):
    """A table that holds other rows than the original gives; counts may be equal."""

    run: str
    path: str | None
    table: str
    stored_rows: int
    read_rows: int


class Reread(NamedTuple):
    """Names of runs whose dump was read again or is gone, and what differs.

    `unnamed`: runs with the addresses of their dumps that nobody named to be fetched.
    """

    read: list[str]
    gone: list[str]
    differences: list[Difference]
    unnamed: dict[str, str]


class _Stored(NamedTuple):
    run_id: int
    name: str
    origin: str
    passes: Passes


def reread(
    database: Path,
    run: str | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    fetched: Collection[str] = (),
) -> Reread:
    """Read the dumps of all runs again, or of one; give where the warehouse differs.

    A dump counts as gone where any of its files is missing or has changed. Of the
    addresses that the warehouse names, only those in `fetched` are asked: it may come
    from somebody else.
    """
    found = Reread([], [], [], {})
    compared: list[_Stored] = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "reread.duckdb"
        for stored in _stored_runs(database, run):
            if is_fetched(stored.origin) and stored.origin not in fetched:
                found.unnamed[stored.name] = stored.origin
                continue
            with connect(database) as connection:
                recorded = recorded_files(connection, stored.name) or {}
            source = unchanged_source(stored.name, stored.origin, recorded, limits)
            if source is None:
                found.gone.append(stored.name)
                continue
            request = RunRequest(name=stored.name, passes=stored.passes)
            ingest_sources([source], copy, request=request, limits=limits)
            found.read.append(stored.name)
            compared.append(stored)
        for stored in compared:
            found.differences.extend(_compared(database, copy, stored))
    return found


def _stored_runs(database: Path, run: str | None) -> list[_Stored]:
    with connect(database) as connection:
        rows = connection.execute(statement("list_origins"), {"run": run}).fetchall()
    return [_Stored(*row) for row in rows]


def _compared(database: Path, copy: Path, stored: _Stored) -> Iterator[Difference]:
    with connect(database) as here, connect(copy) as there:
        row = there.execute("SELECT run_id FROM runs WHERE name = ?", [stored.name])
        read_ids = [row[0] for row in row.fetchall()]
        for table in _tables_with("run_id"):
            one = _sums(here, table, "run_id", [stored.run_id]).get(
                stored.run_id, _NONE
            )
            other = _sums(there, table, "run_id", read_ids).get(read_ids[0], _NONE)
            if one != other:
                yield Difference(stored.name, None, table, one[0], other[0])
        for key in ("module_id", "locations_id"):
            held = here.execute(statement(f"list_{key}s"), {"run_id": stored.run_id})
            paths: dict[int, str] = dict(held.fetchall())
            for table in _tables_with(key):
                ones = _sums(here, table, key, [*paths])
                others = _sums(there, table, key, [*paths])
                for number, path in paths.items():
                    one, other = ones.get(number, _NONE), others.get(number, _NONE)
                    if other not in (_NONE, one):
                        yield Difference(stored.name, path, table, one[0], other[0])


def _tables_with(key: str) -> list[str]:
    """Return the tables whose rows are of a run, a module or a set of source lines."""
    stored = [
        table
        for table, columns in _TABLES.items()
        if key in columns
        and table not in _NUMBERED
        and (key == "run_id") == ("run_id" in columns)
    ]
    return [*stored, *_VIEWS[key]]


def _sums(connection: Connection, table: str, key: str, keys: Sequence[int]) -> _Sums:
    names = f"*COLUMNS(* EXCLUDE ({key}{_LEFT_OUT.get(table, '')}))"
    relation = ".".join(f'"{part}"' for part in table.split("."))
    rows = connection.execute(
        f"SELECT {key}, count(*), sum(hash({names}))::VARCHAR FROM {relation}"
        f" WHERE {key} IN (SELECT unnest(?::BIGINT[])) GROUP BY ALL",
        [list(keys)],
    ).fetchall()
    return {number: (count, hashes) for number, count, hashes in rows}
