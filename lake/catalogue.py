"""The catalogue: a DuckDB file of views over the parts that are committed.

It is read-only for all, small, and made from the parts alone: whoever finds that it
shows an older state makes another one, beside the lake or in its place. What several
packages hold is shown once; runs get numbers in order of ingestion and distinct names.
"""

from __future__ import annotations

import json
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
    owning_tables,
    part_tables,
    quoted,
    shown,
    used,
)
from hlodb.lake.layout import (
    CATALOGUE,
    Contents,
    drafts,
    part_path,
    publish,
    read_contents,
    root_of,
)
from hlodb.lake.packages import COMMIT_KEY, WHOLE, Commit, package_prefix
from hlodb.queries.renewal import renew_macros
from hlodb.schema.connection import (
    Connection,
    DatabaseError,
    InvalidInputException,
    open_database,
)
from hlodb.schema.creation import create_schema
from hlodb.schema.stored import stored_tables
from hlodb.schema.versions import require_version
from hlodb.schema.waiting import BLOCK_BYTES, STORAGE_VERSION

_ATTEMPTS = 20


def open_lake(path: str | Path) -> Connection:
    """Return a connection that reads a lake as it is now.

    Raises UsageError where there is none, WarehouseError where it cannot be read.
    """
    root = root_of(path)
    contents = read_contents(root)
    connection = _open_current(root, contents)
    if connection is not None:
        return connection
    with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
        draft = Path(folder) / CATALOGUE
        make_catalogue(root, contents, draft)
        # Who reads next finds it made, unless this one may not write there.
        with suppress(OSError), drafts(root) as drafted:
            publish(Path(shutil.copy(draft, drafted)), root / CATALOGUE)
        # The open file stays readable when its name is gone.
        return _opened(draft, root)


def open_for_names(path: str | Path, names: Iterable[str]) -> Connection:
    """Return a connection that shows at least all runs of these names.

    Writers ask for no more: to make the catalogue anew takes longer than most ingests.
    Raises as `open_lake`.
    """
    root = root_of(path)
    contents = read_contents(root)
    prefixes = {package_prefix(name) for name in names}
    with suppress(DatabaseError, WarehouseError):
        connection = _opened(root / CATALOGUE, root)
        known = connection.execute("SELECT packages, marks FROM parts.state").fetchone()
        if known is not None:
            packages, marks = known
            new = {*contents.packages}.difference(packages)
            if marks == [*contents.marks] and not any(
                name.startswith(WHOLE) or name.rpartition("-")[0] in prefixes
                for name in new
            ):
                return connection
        connection.close()
    return open_lake(root)


def _open_current(root: Path, contents: Contents) -> Connection | None:
    """Open the catalogue of a lake, unless it shows another state."""
    try:
        connection = _opened(root / CATALOGUE, root)
    except (DatabaseError, WarehouseError):
        return None  # Missing, cut off, or of another schema: others are as good.
    with suppress(DatabaseError):
        state = connection.execute("SELECT digest FROM parts.state").fetchall()
        if state == [(contents.digest(root),)]:
            return connection
    connection.close()
    return None


def _opened(catalogue: Path, root: Path) -> Connection:
    connection = open_database(str(catalogue), read_only=True)
    try:
        require_version(connection, root)
        # Connections of one process share settings, and may have locked them.
        with suppress(InvalidInputException):
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET allowed_directories = {literals([root])}")
            connection.execute("SET parquet_metadata_cache = true")
            # Each its own: DuckDB's default is one for all who read the file.
            name = f"hlodb-lake-{os.getpid()}-{secrets.token_hex(4)}"
            spill = Path(tempfile.gettempdir()) / name
            connection.execute(f"SET temp_directory = {literal(spill)}")
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
        raise WarehouseError(f"cannot read {path}: {_first_line(error)}") from error


def refresh(root: Path) -> None:
    """Make the catalogue of a lake show what is committed now.

    Others may commit, or refresh, meanwhile: who replaces the file looks once more, so
    the last one leaves what the last commit made. Raises WarehouseError.
    """
    for _ in range(_ATTEMPTS):
        contents = read_contents(root)
        current = _open_current(root, contents)
        if current is not None:
            current.close()
            return
        with drafts(root) as folder:
            draft = folder / CATALOGUE
            make_catalogue(root, contents, draft)
            publish(draft, root / CATALOGUE)


def make_catalogue(root: Path, contents: Contents, draft: Path) -> None:
    """Write a catalogue of these contents at `draft`.

    Raises WarehouseError where a part is missing or cannot be read.
    """
    try:
        with closing(_begun(root, draft)) as connection:
            commits = _read_commits(connection, root, contents.packages)
            replaced = {name for commit in commits.values() for name in commit.replaces}
            live = [name for name in commits if name not in replaced]
            _fill_marks(connection, root, contents.marks, [commits[n] for n in live])
            _fill_runs(connection, root, live)
            shown_packages = {
                Path(file).stem: commits[Path(file).stem]
                for (file,) in connection.execute(
                    "SELECT file FROM parts.run_keys GROUP BY file ORDER BY min(run_id)"
                ).fetchall()
            }
            is_reduced, drops = _reduced(connection, root, [*shown_packages])
            for table in part_tables():
                kept = used(table, drops_timelines=drops) if is_reduced else None
                _make_view(connection, root, table, shown_packages, kept)
            reports = [name for name in contents.findings if name not in replaced]
            _fill_findings(connection, root, shown_packages, reports)
            connection.execute(
                "CREATE OR REPLACE TABLE parts.state AS SELECT $digest AS digest,"
                " $is_compact AS is_compact, $packages::VARCHAR[] AS packages,"
                " $marks::VARCHAR[] AS marks, $replaced::VARCHAR[] AS replaced",
                {
                    "digest": contents.digest(root),
                    "is_compact": not is_reduced and len(live) < 2 and not reports,
                    "packages": contents.packages,
                    "marks": contents.marks,
                    "replaced": _removable(commits, contents),
                },
            )
            renew_macros(connection)
    except (DatabaseError, OSError) as error:
        raise WarehouseError(f"cannot read {root}: {_first_line(error)}") from error


def _removable(commits: Mapping[str, Commit], contents: Contents) -> list[str]:
    """Return what others replace; nothing before what it replaces itself."""
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
    return ordered


def _reduced(
    connection: Connection, root: Path, packages: Sequence[str]
) -> tuple[bool, bool]:
    """Return whether parts have rows that no run uses any more; and of timelines."""
    if not packages:
        return False, False
    files = literals(part_path(root, "runs", name) for name in packages)
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


def _begun(root: Path, draft: Path) -> Connection:
    """Return a connection to a draft that has the macros of the catalogue before."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "default_block_size": str(BLOCK_BYTES),
        "storage_compatibility_version": STORAGE_VERSION,
    }
    with suppress(OSError, DatabaseError, WarehouseError):
        shutil.copyfile(root / CATALOGUE, draft)
        connection = open_database(str(draft), config=config)
        try:
            require_version(connection, draft)
            connection.execute("FROM parts.state").fetchall()
            return connection
        except BaseException:
            connection.close()
            raise
    draft.unlink(missing_ok=True)
    connection = open_database(str(draft), config=config)
    connection.execute("SET enable_progress_bar = false")
    create_schema(connection)
    connection.execute("CREATE SCHEMA parts")
    for table in part_tables():
        connection.execute(f"DROP TABLE {quoted(table)}")
    return connection


def _read_commits(
    connection: Connection, root: Path, packages: Sequence[str]
) -> dict[str, Commit]:
    if not packages:
        return {}
    files = literals(part_path(root, "runs", name) for name in packages)
    rows = connection.execute(
        "SELECT file_name, decode(value) FROM parquet_kv_metadata("
        f"{files}) WHERE decode(key) = {literal(COMMIT_KEY)} ORDER BY file_name"
    ).fetchall()
    found = {Path(file).stem: Commit(**json.loads(value)) for file, value in rows}
    if lost := {*packages} - found.keys():
        raise WarehouseError(
            f"{part_path(root, 'runs', min(lost))} was not written by hlodb"
        )
    return found


def _fill_marks(
    connection: Connection, root: Path, marks: Sequence[str], live: Sequence[Commit]
) -> None:
    connection.execute(
        "CREATE OR REPLACE TABLE parts.marks (run_key BIGINT, mark VARCHAR,"
        " happened_at TIMESTAMP, drops_timelines BOOLEAN)"
    )
    if marks:
        files = literals(part_path(root, "marks", name) for name in marks)
        connection.execute(f"INSERT INTO parts.marks FROM read_parquet({files})")
    connection.execute(
        "INSERT INTO parts.marks SELECT unnest(?::BIGINT[]), 'deleted', NULL, NULL",
        [[key for commit in live for key in commit.deletes]],
    )


def _fill_runs(connection: Connection, root: Path, live: Sequence[str]) -> None:
    """Choose the runs to show: each of one package, with its number and name."""
    files = [str(part_path(root, "runs", name)) for name in live]
    connection.execute("DELETE FROM runs")
    connection.execute(
        "CREATE OR REPLACE TABLE parts.run_keys (run_key BIGINT, run_id BIGINT,"
        " name VARCHAR, file VARCHAR)"
    )
    if not files:
        return
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE listed AS"
        f" SELECT *, filename AS file FROM read_parquet({literals(files)},"
        " filename = true)"
    )
    rows = connection.execute(
        "SELECT run_id, name, file FROM ("
        "SELECT DISTINCT ON (run_id) * FROM listed WHERE run_id NOT IN"
        " (SELECT run_key FROM parts.marks WHERE mark = 'deleted')"
        " ORDER BY run_id, file) ORDER BY ingested_at, place, name, run_id"
    ).fetchall()
    keys, names = [row[0] for row in rows], [row[1] for row in rows]
    chosen = [row[2] for row in rows]
    connection.execute(
        "INSERT INTO parts.run_keys SELECT unnest($keys::BIGINT[]),"
        " unnest(range(1, len($keys) + 1)), unnest($names::VARCHAR[]),"
        " unnest($files::VARCHAR[])",
        {"keys": keys, "names": _distinct(names), "files": chosen},
    )
    connection.execute(
        "INSERT INTO runs BY NAME SELECT l.* EXCLUDE (place, file, filename) REPLACE"
        " (k.run_id AS run_id, k.name AS name,"
        "  coalesce(l.pruned_at, p.pruned_at) AS pruned_at)"
        " FROM listed AS l"
        " JOIN parts.run_keys AS k ON k.run_key = l.run_id AND k.file = l.file"
        " LEFT JOIN (SELECT run_key, min(happened_at) AS pruned_at FROM parts.marks"
        "   WHERE mark = 'pruned' GROUP BY run_key) AS p ON p.run_key = l.run_id"
        " ORDER BY k.run_id"
    )
    connection.execute("DROP TABLE listed")


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
"""Held as well: behind a view, what asks about one run would read the modules of all."""


def _make_view(
    connection: Connection,
    root: Path,
    table: str,
    packages: Mapping[str, Commit],
    kept: str | None,
) -> None:
    """Make the view of a table: rows of each key from the first package that has it.

    `kept` selects the keys to show, None shows all.
    """
    folder = folder_of(table)
    files = _files(root, table, packages)
    whole, partial = files, list[str]()
    owners = f'parts."{folder}"'
    connection.execute(f"CREATE OR REPLACE TABLE {owners} (key BIGINT, file VARCHAR)")
    if len(files) > 1 or (files and kept is not None and key_of(table) != "run_id"):
        owning = [f for t in owning_tables(table) for f in _files(root, t, packages)]
        whole, partial = _share(
            connection, owners, table, files, owning, packages, kept
        )
    sources = [f"FROM read_parquet({literals(whole)})"] if whole else []
    if partial:
        sources.append(
            f"SELECT p.* EXCLUDE (filename) FROM read_parquet({literals(partial)},"
            f" filename = true) AS p SEMI JOIN {owners} AS o"
            f" ON o.key = p.{key_of(table)} AND o.file = p.filename"
        )
    parts = " UNION ALL ".join(sources or [no_rows(table)])
    joined = ""
    if "run_id" in stored_tables()[table]:
        joined = " JOIN parts.run_keys AS k ON k.run_key = t.run_id"
    kind = "TABLE" if table in {*_HELD, _OF_ALL_RUNS} else "VIEW"
    connection.execute(
        f"CREATE OR REPLACE {kind} {quoted(table)} AS"
        f" SELECT {shown(table)} FROM ({parts}) AS t{joined}"
    )


def _files(root: Path, table: str, packages: Mapping[str, Commit]) -> list[str]:
    """Return the parts of a table."""
    folder = folder_of(table)
    return [
        str(part_path(root, folder, name))
        for name, commit in packages.items()
        if folder in commit.folders
    ]


def _share(
    connection: Connection,
    owners: str,
    table: str,
    files: Sequence[str],
    owning: Sequence[str],
    packages: Iterable[str],
    kept: str | None,
) -> tuple[list[str], list[str]]:
    """Assign each key to one file; return files that keep all rows, and some rows.

    Parts `owning` say which of `packages` have a key; the first one owns it. `owners`
    then lists the keys of the files that keep some.
    """
    key = key_of(table)
    is_kept = "true" if kept is None or key == "run_id" else f"{key} IN ({kept})"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE held AS"
        f" SELECT DISTINCT {key} AS key, parse_filename(filename, true) AS package,"
        f" list_position({literals(packages)}, package) AS place, {is_kept} AS is_kept"
        f" FROM read_parquet({literals(owning)}, filename = true)"
    )
    counts = connection.execute(
        "SELECT package, count(*), count(*) FILTER (is_first AND is_kept)"
        " FROM (SELECT package, is_kept,"
        " place = min(place) OVER (PARTITION BY key) AS is_first FROM held)"
        " GROUP BY package"
    ).fetchall()
    whole = {package for package, total, owned in counts if owned == total}
    partial = {package for package, total, owned in counts if 0 < owned < total}
    parts = [file for file in files if Path(file).stem in partial]
    connection.execute(
        f"INSERT INTO {owners} SELECT key, file FROM (SELECT key, arg_min(package,"
        " place) AS package FROM held WHERE is_kept GROUP BY key)"
        " JOIN (SELECT unnest(?::VARCHAR[]) AS file)"
        " ON parse_filename(file, true) = package ORDER BY file, key",
        [parts],
    )
    connection.execute("DROP TABLE held")
    return [file for file in files if Path(file).stem in whole], parts


def _fill_findings(
    connection: Connection,
    root: Path,
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
        files = [
            path
            for name in (*names, *reports)
            if (path := part_path(root, table, name)).exists() or name in names
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
