"""The catalogue: a DuckDB file of views over the parts that are committed.

It is read-only for all, small, and made from the parts alone: whoever finds that it
shows an older state makes another one, beside the lake or in its place. What several
packages hold is shown once; runs get numbers in order of ingestion and distinct names.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.lake.columns import (
    folder_of,
    key_of,
    literal,
    literals,
    no_rows,
    part_tables,
    quoted,
    shown,
    used,
)
from hlodb.lake.layout import CATALOGUE, Contents, names_in, part_address, read_contents
from hlodb.lake.packages import COMMIT_KEY, KEYS, Commit
from hlodb.lake.storage import Storage, writing
from hlodb.queries.renewal import renew_macros
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.creation import create_schema
from hlodb.schema.foreign import hiding_objects, listed
from hlodb.schema.limits import open_limited
from hlodb.schema.stored import REPORT_TABLES, stored_tables
from hlodb.schema.versions import require_version
from hlodb.schema.waiting import BLOCK_BYTES, STORAGE_VERSION, explain

_ATTEMPTS = 20

_log = logging.getLogger(__name__)


def open_lake(lake: Storage, folders: Iterable[Path] = ()) -> Connection:
    """Return a connection that reads a lake as it is now, and reaches `folders`.

    Raises WarehouseError where it cannot be read.
    """
    contents = read_contents(lake)
    connection = _open_current(lake, contents, folders)
    if connection is not None:
        return connection
    with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
        draft = Path(folder) / CATALOGUE
        make_catalogue(lake, contents, draft)
        # Who reads next finds it made, unless this one may not write there.
        with suppress(OSError, WarehouseError):
            _publish(lake, draft)
        # The open file stays readable when its name is gone.
        return _opened(draft, lake, folders)


def _publish(lake: Storage, draft: Path) -> None:
    """Put a copy of a catalogue in place. Raises OSError, WarehouseError."""
    with lake.drafts() as drafted:
        lake.put(Path(shutil.copy(draft, drafted)), CATALOGUE)


def _open_current(
    lake: Storage, contents: Contents, folders: Iterable[Path] = ()
) -> Connection | None:
    """Open the catalogue of a lake, unless it shows another state."""
    try:
        with lake.local(CATALOGUE) as file:
            connection = _opened(file, lake, folders)
    except (DatabaseError, WarehouseError, FileNotFoundError):
        return None  # Missing, cut off, or of another schema: others are as good.
    with suppress(DatabaseError):
        state = connection.execute("SELECT digest FROM parts.state").fetchall()
        if state == [(contents.digest(lake.address),)] and _is_ours(connection, lake):
            return connection
    connection.close()
    return None


def _is_ours(connection: Connection, lake: Storage) -> bool:
    """Return whether a catalogue has no macros or views that are not for it.

    Else a warning says so, and another is made of the parts.
    """
    found = hiding_objects(connection, is_lake=True)
    if found:
        _log.warning(
            "%s/%s has %s, which hide what hlodb or DuckDB defines, or reach out of the"
            " lake; it is made anew",
            lake.address,
            CATALOGUE,
            listed(found),
        )
    return not found


def _opened(catalogue: Path, lake: Storage, folders: Iterable[Path] = ()) -> Connection:
    # Each its own: DuckDB's default is one for all who read the file.
    name = f"hlodb-lake-{os.getpid()}-{secrets.token_hex(4)}"
    connection = open_limited(
        catalogue,
        read_only=True,
        folders=(lake.address, *folders),
        settings={
            "parquet_metadata_cache": "true",
            "temp_directory": str(Path(tempfile.gettempdir()) / name),
        },
        prepare=lake.prepare,
    )
    try:
        require_version(connection, catalogue, is_lake=True)
    except BaseException:
        connection.close()
        raise
    return connection


def read_every_part(connection: Connection, path: Path) -> None:
    """Read all rows that a lake shows; raise WarehouseError where that fails."""
    try:
        for table in part_tables():
            connection.execute(
                f"SELECT bit_xor(hash(t)) FROM {quoted(table)} AS t"
            ).fetchall()
    except DatabaseError as error:
        raise WarehouseError(cannot_read(str(path), error)) from error


def refresh(lake: Storage) -> None:
    """Make the catalogue of a lake show what is committed now.

    Others may commit, or refresh, meanwhile: who replaces the file looks once more, so
    the last one leaves what the last commit made. Raises WarehouseError.
    """
    for _ in range(_ATTEMPTS):
        contents = read_contents(lake)
        current = _open_current(lake, contents)
        if current is not None:
            current.close()
            return
        with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
            draft = Path(folder) / CATALOGUE
            make_catalogue(lake, contents, draft)
            try:
                with writing(lake.address):
                    _publish(lake, draft)
            except WarehouseError as error:
                _log.warning(
                    "the catalogue is not renewed: %s. Until it is, every reader makes"
                    " its own",
                    error,
                )
                return


def make_catalogue(lake: Storage, contents: Contents, draft: Path) -> None:
    """Write a catalogue of these contents at `draft`.

    Raises WarehouseError where a part is missing or cannot be read, and where the
    disk of the draft is full.
    """
    try:
        with closing(_begun(lake, draft)) as connection:
            commits = _read_commits(connection, lake, contents.packages)
            replaced = {name for commit in commits.values() for name in commit.replaces}
            live = [name for name in commits if name not in replaced]
            _fill_marks(connection, lake, contents.marks, [commits[n] for n in live])
            _fill_runs(connection, lake, live)
            shown_packages = {
                package: commits[package]
                for (package,) in connection.execute(
                    "SELECT package FROM parts.run_keys GROUP BY package"
                    " ORDER BY min(run_id)"
                ).fetchall()
            }
            is_reduced, drops = _reduced(connection, lake, [*shown_packages])
            _hold_keys(connection, lake, shown_packages, is_reduced=is_reduced)
            for table in part_tables():
                kept = used(table, drops_timelines=drops) if is_reduced else None
                _make_view(connection, lake, table, shown_packages, kept)
            connection.execute("DROP TABLE held")
            reports = [name for name in contents.findings if name not in replaced]
            _fill_findings(connection, lake, shown_packages, reports)
            connection.execute(
                "CREATE OR REPLACE TABLE parts.state AS SELECT $digest AS digest,"
                " $is_compact AS is_compact",
                {
                    "digest": contents.digest(lake.address),
                    "is_compact": not is_reduced and len(live) < 2 and not reports,
                },
            )
            _fill_replaced(connection, commits, contents)
            renew_macros(connection)
    except (DatabaseError, OSError) as error:
        raise WarehouseError(cannot_read(lake.address, error)) from error


def cannot_read(address: str, error: DatabaseError | OSError) -> str:
    """Return why a lake cannot be read: as `explain` says, else in DuckDB's words.

    What it says of a file does not hold for a lake.
    """
    known = explain(address, error)
    of_files = ("it is damaged", "it is no DuckDB file")
    if known.endswith(_first_line(error)) or any(word in known for word in of_files):
        return f"cannot read {address}: {_first_line(error)}"
    return known


def _fill_replaced(
    connection: Connection, commits: Mapping[str, Commit], contents: Contents
) -> None:
    """List what packages replace, in the order in which it may be removed.

    Nothing goes before what it replaces itself, or that would be shown again.
    """
    there = {*commits, *contents.findings}
    replaced = {name for c in commits.values() for name in c.replaces} & there
    ordered: list[str] = []
    while left := replaced.difference(ordered):
        free = [
            name
            for name in left
            if name not in commits or not left.intersection(commits[name].replaces)
        ]
        ordered += sorted(free or left)
    pairs = [
        (name, by)
        for name in ordered
        for by, commit in commits.items()
        if name in commit.replaces
    ]
    connection.execute(
        "CREATE OR REPLACE TABLE parts.replaced AS SELECT"
        " unnest(range(len($names))) AS place, unnest($names::VARCHAR[]) AS name,"
        " unnest($others::VARCHAR[]) AS replaced_by",
        {"names": [name for name, _ in pairs], "others": [by for _, by in pairs]},
    )


def _reduced(
    connection: Connection, lake: Storage, packages: Sequence[str]
) -> tuple[bool, bool]:
    """Return whether parts have rows that no run uses any more; and of timelines."""
    if not packages:
        return False, False
    files = literals(part_address(lake, "runs", name) for name in packages)
    [(is_reduced, drops)] = connection.execute(
        "SELECT count(*) FILTER (l.run_id NOT IN (SELECT run_key FROM parts.run_keys)"
        "   OR l.pruned_at IS NULL AND m.run_key IS NOT NULL) > 0,"
        " coalesce(bool_or(m.drops_timelines), false)"
        f" FROM read_parquet({files}) AS l LEFT JOIN parts.marks AS m"
        "   ON m.run_key = l.run_id AND m.mark = 'pruned'"
    ).fetchall()
    return bool(is_reduced or drops), bool(drops)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _begun(lake: Storage, draft: Path) -> Connection:
    """Return a connection to a draft that has the macros of the catalogue before."""
    with suppress(OSError, DatabaseError, WarehouseError):
        with lake.local(CATALOGUE) as file:
            shutil.copyfile(file, draft)
        connection = _drafted(lake, draft)
        try:
            require_version(connection, draft, is_lake=True)
            connection.execute("FROM parts.state").fetchall()
            if not hiding_objects(connection, is_lake=True):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
    draft.unlink(missing_ok=True)
    connection = _drafted(lake, draft)
    create_schema(connection)
    connection.execute("CREATE SCHEMA parts")
    for table in part_tables():
        connection.execute(f"DROP TABLE {quoted(table)}")
    return connection


def _drafted(lake: Storage, draft: Path) -> Connection:
    return open_limited(
        draft,
        folders=[lake.address],
        config={
            "default_block_size": str(BLOCK_BYTES),
            "storage_compatibility_version": STORAGE_VERSION,
        },
        prepare=lake.prepare,
    )


def _read_commits(
    connection: Connection, lake: Storage, packages: Sequence[str]
) -> dict[str, Commit]:
    if not packages:
        return {}
    files = literals(part_address(lake, "runs", name) for name in packages)
    rows = connection.execute(
        "SELECT file_name, decode(value) FROM parquet_kv_metadata("
        f"{files}) WHERE decode(key) = {literal(COMMIT_KEY)} ORDER BY file_name"
    ).fetchall()
    found = {Path(file).stem: Commit(**json.loads(value)) for file, value in rows}
    if lost := {*packages} - found.keys():
        raise WarehouseError(
            f"{part_address(lake, 'runs', min(lost))} was not written by hlodb"
        )
    return found


def _fill_marks(
    connection: Connection, lake: Storage, marks: Sequence[str], live: Sequence[Commit]
) -> None:
    connection.execute(
        "CREATE OR REPLACE TABLE parts.marks (run_key BIGINT, mark VARCHAR,"
        " happened_at TIMESTAMP, drops_timelines BOOLEAN)"
    )
    if marks:
        files = literals(part_address(lake, "marks", name) for name in marks)
        connection.execute(f"INSERT INTO parts.marks FROM read_parquet({files})")
    connection.execute(
        "INSERT INTO parts.marks SELECT unnest(?::BIGINT[]), 'deleted', NULL, NULL",
        [[key for commit in live for key in commit.deletes]],
    )


def _fill_runs(connection: Connection, lake: Storage, live: Sequence[str]) -> None:
    """Choose the runs to show: each of one package, with its number and name."""
    files = [part_address(lake, "runs", name) for name in live]
    connection.execute("DELETE FROM runs")
    connection.execute(
        "CREATE OR REPLACE TABLE parts.run_keys (run_key BIGINT, run_id BIGINT,"
        " name VARCHAR, package VARCHAR)"
    )
    if not files:
        return
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE listed AS"
        f" SELECT * EXCLUDE (filename), {_PACKAGE.format('filename')} AS package"
        f" FROM read_parquet({literals(files)}, filename = true)"
    )
    rows = connection.execute(
        "SELECT run_id, name, package FROM ("
        "SELECT DISTINCT ON (run_id) * FROM listed WHERE run_id NOT IN"
        " (SELECT run_key FROM parts.marks WHERE mark = 'deleted')"
        " ORDER BY run_id, package) ORDER BY ingested_at, place, name, run_id"
    ).fetchall()
    keys, names = [row[0] for row in rows], [row[1] for row in rows]
    connection.execute(
        "INSERT INTO parts.run_keys SELECT unnest($keys::BIGINT[]),"
        " unnest(range(1, len($keys) + 1)), unnest($names::VARCHAR[]),"
        " unnest($packages::VARCHAR[])",
        {"keys": keys, "names": _distinct(names), "packages": [row[2] for row in rows]},
    )
    connection.execute(
        "INSERT INTO runs BY NAME SELECT l.* EXCLUDE (place, package) REPLACE"
        " (k.run_id AS run_id, k.name AS name,"
        "  coalesce(l.pruned_at, p.pruned_at) AS pruned_at)"
        " FROM listed AS l"
        " JOIN parts.run_keys AS k ON k.run_key = l.run_id AND k.package = l.package"
        " LEFT JOIN (SELECT run_key, min(happened_at) AS pruned_at FROM parts.marks"
        "   WHERE mark = 'pruned' GROUP BY run_key) AS p ON p.run_key = l.run_id"
        " ORDER BY k.run_id"
    )
    connection.execute("DROP TABLE listed")


_PACKAGE = "parse_filename({}, true)"
"""The package of a part in SQL, from what DuckDB calls the file of a row."""


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names of which later ones that are taken get a number."""
    taken: dict[str, None] = {}
    for name in names:
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name}~{number}"
        taken[free] = None
    return [*taken]


_HELD = frozenset(
    ("store.location_sets", "store.location_numbers", "store.location_lists")
)
"""Tables that the catalogue holds itself: DuckDB counts the keys of a table, not those
of a part, and would else join all numbers with all lists."""

_OF_ALL_RUNS = "store.occurrences"
"""Held as well: behind a view, what asks about one run would read all."""


def _hold_keys(
    connection: Connection,
    lake: Storage,
    packages: Mapping[str, Commit],
    *,
    is_reduced: bool,
) -> None:
    """List the keys that packages have of each table, where it takes more than views.

    The first package that has a key owns it: of a module's memory reports the whole,
    for they are no part of its key, and another package may have one with allocations
    where the first lists none.
    """
    connection.execute(
        "CREATE OR REPLACE TABLE parts.owners (folder VARCHAR, key BIGINT,"
        " package VARCHAR)"
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE held (folder VARCHAR, key BIGINT,"
        " package VARCHAR, is_first BOOLEAN)"
    )
    files = _files(lake, KEYS, packages)
    if len(files) < (1 if is_reduced else 2):
        return
    reports = literals(REPORT_TABLES)
    connection.execute(
        "INSERT INTO held SELECT folder, key, package, place = min(place) OVER"
        f" (PARTITION BY if(folder IN {reports}, 'reports', folder), key)"
        f" FROM (SELECT folder, key, {_PACKAGE.format('filename')} AS package,"
        f" list_position({literals(packages)}, package) AS place"
        f" FROM read_parquet({literals(files)}, filename = true))"
    )


def _make_view(
    connection: Connection,
    lake: Storage,
    table: str,
    packages: Mapping[str, Commit],
    kept: str | None,
) -> None:
    """Make the view of a table: rows of each key from the package that owns it.

    `kept` selects the keys to show, None shows all.
    """
    folder = folder_of(table)
    files = _files(lake, folder, packages)
    is_of_runs = "run_id" in stored_tables()[table]
    joined = " JOIN parts.run_keys AS k ON k.run_key = t.run_id" if is_of_runs else ""
    if not files:
        source = f"({no_rows(table)})"
    elif is_of_runs:
        source = f"read_parquet({literals(files)}, filename = true)"
        joined += f" AND k.package = {_PACKAGE.format('t.filename')}"
    else:
        source = _owned(connection, lake, table, files, kept)
    kind = "TABLE" if table in {*_HELD, _OF_ALL_RUNS} else "VIEW"
    connection.execute(
        f"CREATE OR REPLACE {kind} {quoted(table)} AS"
        f" SELECT {shown(table)} FROM {source} AS t{joined}"
    )


def _files(lake: Storage, folder: str, packages: Mapping[str, Commit]) -> list[str]:
    """Return the addresses of the parts in a folder."""
    return [
        part_address(lake, folder, name)
        for name, commit in packages.items()
        if folder in commit.folders
    ]


def _owned(
    connection: Connection,
    lake: Storage,
    table: str,
    files: Sequence[str],
    kept: str | None,
) -> str:
    """Return what a table is read from: whole parts, and the keys that others own."""
    folder, key = folder_of(table), key_of(table)
    is_kept = "true" if kept is None else f"key IN ({kept})"
    counts = connection.execute(
        f"SELECT package, count(*), count(*) FILTER (is_first AND {is_kept})"
        " FROM held WHERE folder = ? GROUP BY package",
        [folder],
    ).fetchall()
    if not counts:
        return f"read_parquet({literals(files)})"
    whole = [name for name, total, owned in counts if owned == total]
    partial = sorted(name for name, total, owned in counts if 0 < owned < total)
    sources = []
    if chosen := [f for f in files if f in _addresses(lake, folder, whole)]:
        sources.append(f"FROM read_parquet({literals(chosen)})")
    if partial:
        connection.execute(
            "INSERT INTO parts.owners SELECT folder, key, package FROM held"
            f" WHERE folder = $folder AND is_first AND {is_kept}"
            " AND package IN (SELECT unnest($partial::VARCHAR[]))"
            " ORDER BY package, key",
            {"folder": folder, "partial": partial},
        )
        addresses = literals(_addresses(lake, folder, partial))
        sources.append(
            f"SELECT p.* EXCLUDE (filename) FROM read_parquet({addresses},"
            " filename = true) AS p SEMI JOIN (FROM parts.owners"
            f" WHERE folder = {literal(folder)}) AS o"
            f" ON o.key = p.{key} AND o.package = {_PACKAGE.format('p.filename')}"
        )
    return f"({' UNION ALL '.join(sources or [no_rows(table)])})"


def _addresses(lake: Storage, folder: str, packages: Iterable[str]) -> dict[str, None]:
    return {part_address(lake, folder, name): None for name in packages}


def _fill_findings(
    connection: Connection,
    lake: Storage,
    packages: Mapping[str, Commit],
    reports: Sequence[str],
) -> None:
    """Collect findings and their events, in order; what two recorded alike is one."""
    for table, insert in (
        ("findings", _INSERT_FINDINGS),
        ("finding_events", _INSERT_EVENTS),
    ):
        connection.execute(f"DELETE FROM {table}")
        names = [n for n, commit in packages.items() if table in commit.folders]
        recorded = {*names_in(lake, table)}
        files = [
            part_address(lake, table, name)
            for name in (*names, *reports)
            if name in names or name in recorded
        ]
        if files:
            source = f"read_parquet({literals(files)}, filename = true)"
            connection.execute(insert.format(source))


_INSERT_FINDINGS = """
INSERT INTO findings BY NAME
SELECT DISTINCT ON (finding_id) * EXCLUDE (filename)
FROM {} ORDER BY finding_id, filename
"""

_INSERT_EVENTS = """
INSERT INTO finding_events BY NAME
SELECT * EXCLUDE (filename) REPLACE (
  row_number() OVER (
    PARTITION BY finding_id ORDER BY happened_at, event_number, filename
  ) AS event_number
)
FROM (
  SELECT DISTINCT ON (
    finding_id, event, coalesce(report_id, concat(happened_at, actor))
  ) *
  FROM {}
  ORDER BY finding_id, happened_at, event_number, filename
)
ORDER BY finding_id, event_number
"""

_FINDINGS = {"findings": _INSERT_FINDINGS, "finding_events": _INSERT_EVENTS}
