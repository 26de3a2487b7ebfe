"""Packages: the rows of runs as parts, written from a warehouse that is a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hlodb.ingest.hashing import hash64
from hlodb.lake.columns import (
    PACKED_MODULES,
    folder_of,
    key_of,
    literal,
    packed,
    part_tables,
)
from hlodb.lake.layout import part_name
from hlodb.lake.storage import Storage
from hlodb.schema.connection import Connection

FORMAT = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 245760"
_UPLOADS = 8
"""Parts that are put in place at once: disks and networks take their time for each."""

KEYS = "keys"
"""The folder of the keys of a package: one part instead of one for each table, to find
out what packages share."""

COMMIT_KEY = "hlodb"
"""Key of the metadata in a part of `runs`: a Commit as JSON."""


WHOLE = "all-"
"""How packages begin that hold all runs of a lake or file."""
_SEVERAL = "runs-"

_MOST_CHARACTERS = 60
_NUMBER = re.compile(r"~[0-9]+$")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class Commit(NamedTuple):
    """What a part of `runs` says of its package.

    `folders`: where its parts are; `replaces`: names of packages and findings that it
    holds itself; `deletes`: keys of runs that are no longer shown.
    """

    folders: list[str]
    replaces: list[str]
    deletes: list[int]


class PackedRun(NamedTuple):
    """A run of a file: its number, name, and a text that says what it holds."""

    run_id: int
    name: str
    identity: str


_IDENTITIES = """
WITH held AS (
  SELECT run_id, md5(string_agg(concat_ws(chr(0), path, sha256), chr(1) ORDER BY path))
    AS digest
  FROM dump_files GROUP BY run_id
),
kept AS (
  SELECT run_id, count(*) FILTER (NOT is_detailed) AS reduced
  FROM modules GROUP BY run_id
)
SELECT
  r.run_id, r.name,
  concat_ws(
    chr(0), r.name, r.hlodb_version, h.digest, k.reduced, r.pruned_at IS NOT NULL
  ) AS identity
FROM runs AS r
LEFT JOIN held AS h USING (run_id)
LEFT JOIN kept AS k USING (run_id)
ORDER BY r.run_id
"""


def packed_runs(connection: Connection) -> list[PackedRun]:
    """Return the runs of a file; equal dumps under one name have equal identities."""
    return [PackedRun(*row) for row in connection.execute(_IDENTITIES).fetchall()]


def run_key(run: PackedRun, marked: Iterable[int] = ()) -> int:
    """Return the key of a run in a lake: one that no mark says is gone."""
    gone = frozenset(marked)
    number = 0
    while (key := hash64(f"{run.identity}\0{number}")) in gone:
        number += 1
    return key


def base_name(name: str) -> str:
    """Return the name of a run without the number that distinguishes equal names."""
    return _NUMBER.sub("", name)


def package_prefix(names: Sequence[str]) -> str:
    """Return how packages of runs of these names begin, before their keys."""
    if len(names) > 1:
        return f"{_SEVERAL}{len(names)}"
    name = _NOT_IN_NAMES.sub("-", base_name(names[0]) if names else "")
    return f"run-{name[:_MOST_CHARACTERS]}"


def package_name(names: Sequence[str], keys: Iterable[int]) -> str:
    """Return the name of a package of runs: the same for the same runs."""
    listed = [*keys]
    key = listed[0] if len(listed) == 1 else hash64(" ".join(map(str, sorted(listed))))
    return f"{package_prefix(names)}-{key % 2**64:016x}"


def is_of_many(package: str) -> bool:
    """Return whether a package's name does not say which runs it holds."""
    return package.startswith((WHOLE, _SEVERAL))


def write_package(
    connection: Connection,
    lake: Storage,
    folder: Path,
    name: str,
    keys: Mapping[int, int],
    *,
    is_whole: bool = False,
    replaces: Iterable[str] = (),
    deletes: Iterable[int] = (),
) -> None:
    """Write the runs in `keys` (number → key) as a package; its last part commits it.

    `folder` is for drafts, and the connection may write there. `is_whole`: these are
    all runs of the warehouse, and its findings come along.
    """
    _choose(connection, keys, is_whole=is_whole)
    selects = {
        folder_of(table): packed(table, is_whole=is_whole) for table in part_tables()
    }
    if is_whole:
        selects |= {name: f"FROM {name}" for name in ("findings", "finding_events")}
    with ThreadPoolExecutor(_UPLOADS) as pool:
        drafts = {part: folder / f"{part}.parquet" for part in selects}
        written = [
            part
            for part, select in selects.items()
            if copy_rows(connection, select, drafts[part])
        ]
        if held := _held_keys(written, drafts):
            drafts[KEYS] = folder / f"{KEYS}.parquet"
            copy_rows(connection, held, drafts[KEYS])
            written.append(KEYS)
        puts = [
            pool.submit(lake.put, drafts[part], part_name(part, name))
            for part in written
        ]
        for put in puts:
            put.result()
        commit = Commit(written, sorted(replaces), sorted(deletes))
        draft = folder / "runs.parquet"
        copy_rows(connection, _RUNS, draft, json.dumps(commit._asdict()))
        lake.put_new(draft, part_name("runs", name))


def _held_keys(parts: Iterable[str], drafts: Mapping[str, Path]) -> str:
    """Return the SELECT of the keys that parts have, of tables that packages share."""
    keys = {folder_of(table): key_of(table) for table in part_tables()}
    selects = [
        f"SELECT DISTINCT {literal(part)} AS folder, {keys[part]} AS key"
        f" FROM read_parquet({literal(drafts[part])})"
        for part in parts
        if keys.get(part, "run_id") != "run_id"
    ]
    return f"{' UNION ALL '.join(selects)} ORDER BY ALL" if selects else ""


_RUNS = (
    "SELECT k.run_key AS run_id, r.run_id AS place, r.* EXCLUDE (run_id)"
    " FROM runs AS r JOIN packed_runs AS k USING (run_id) ORDER BY r.run_id"
)


def _choose(connection: Connection, keys: Mapping[int, int], *, is_whole: bool) -> None:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE packed_runs AS"
        " SELECT unnest($ids::BIGINT[]) AS run_id, unnest($keys::BIGINT[]) AS run_key",
        {"ids": [*keys], "keys": [*keys.values()]},
    )
    if not is_whole:
        connection.execute(PACKED_MODULES)


def copy_rows(
    connection: Connection, select: str, path: Path, metadata: str | None = None
) -> int:
    """Write the rows of a SELECT as a Parquet file; return how many they are."""
    more = (
        ""
        if metadata is None
        else f", KV_METADATA {{{COMMIT_KEY}: {literal(metadata)}}}"
    )
    [(count,)] = connection.execute(
        f"COPY ({select}) TO {literal(path)} ({FORMAT}{more})"
    ).fetchall()
    return int(count)
