"""Runs that could not be stored because the warehouse was locked: kept beside it.

    FILE.staged/NAME-3f9a1c02/  run.parquet      what was asked for, one row
                                files.parquet    the dump's files, a unit a row group
                                refused.parquet  what of the dump was not read, and why

A package appears under its name when it is whole. It holds the dump's own bytes, not
tables: absorbing it goes the way of every dump, so the warehouse ends with the same
content, whatever happened to it meanwhile and whichever hlodb wrote the package.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.staging_folder import staging_folder
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.archives import Refuse
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.limits import RefusedFile
from hlodb.ingest.sources.units import DumpFile, Unit, keys_of

_RUN = pa.schema(
    [
        ("source_name", pa.string()),
        ("origin", pa.string()),
        ("name", pa.string()),
        ("series", pa.string()),
        ("commit", pa.string()),
        ("labels", pa.string()),
        ("started_at", pa.timestamp("us")),
        ("passes", pa.string()),
    ]
)
_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("data", pa.large_binary()),
        ("modified_at", pa.float64()),
        ("problem", pa.string()),
        ("is_named", pa.bool_()),
    ]
)
_REFUSED = pa.schema(
    [("path", pa.string()), ("reason", pa.string()), ("others", pa.int64())]
)
_DRAFT = ".draft-"
_BROKEN = ".broken"
_DRAFT_SECONDS = 24 * 3600
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True)
class Package:
    """A staged run; `lock` keeps other processes from absorbing it as well."""

    folder: Path
    source: RunSource
    request: RunRequest
    lock: BinaryIO

    def remove(self) -> None:
        """Delete it: the warehouse holds the run now."""
        # Renamed first, so that a death on the way leaves a draft, not half a package.
        draft = self.folder.with_name(f"{_DRAFT}{self.folder.name}")
        self.folder.rename(draft)
        shutil.rmtree(draft)
        self.close()

    def close(self) -> None:
        """Leave it to the next ingest."""
        self.lock.close()


def stage_run(source: RunSource, request: RunRequest, database: Path) -> Path:
    """Write a run as a package; give its folder. Raises OSError."""
    stem = _NOT_IN_NAMES.sub("_", source.name).strip(".")[:80] or "run"
    name = f"{stem}-{secrets.token_hex(4)}"
    home = staging_folder(database)
    draft = home / f"{_DRAFT}{name}"
    draft.mkdir(parents=True)
    try:
        _write_files(source, draft / "files.parquet")
        refused = [refusal._asdict() for refusal in source.refused.summed_up()]
        _write_rows(refused, _REFUSED, draft / "refused.parquet")
        _write_rows([_run_row(source, request)], _RUN, draft / "run.parquet")
        _keep(draft)
        draft.rename(home / name)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    _keep(home)
    return home / name


def take_packages(database: Path) -> tuple[list[Package], list[str]]:
    """Return the staged runs that no other process absorbs just now, oldest first.

    Also gives notes about packages that can't be read; they are put aside.
    """
    home = staging_folder(database)
    packages: list[Package] = []
    notes: list[str] = []
    for folder in _whole_packages(home):
        try:
            package = _open_package(folder)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            aside = folder.with_name(f"{folder.name}{_BROKEN}")
            try:
                folder.rename(aside)
            except FileNotFoundError:
                continue  # Another process has just absorbed it.
            notes.append(f"{aside} is no sound package ({error}); ingest its dump anew")
            continue
        if package is not None:
            packages.append(package)
    return packages, notes


def _whole_packages(home: Path) -> Iterator[Path]:
    """Yield the folders of packages, oldest first; remove drafts that nobody ends."""
    for changed_at, folder in sorted(_changed_at(home)):
        if folder.name.startswith(_DRAFT):
            if time.time() - changed_at > _DRAFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        elif folder.suffix != _BROKEN and folder.is_dir():
            yield folder


def _changed_at(home: Path) -> list[tuple[float, Path]]:
    found: list[tuple[float, Path]] = []
    with suppress(FileNotFoundError):  # nothing was ever staged
        for folder in home.iterdir():
            with suppress(FileNotFoundError):  # named or absorbed just now
                found.append((folder.lstat().st_mtime, folder))
    return found


def _open_package(folder: Path) -> Package | None:
    _require_files(folder)
    lock = (folder / "run.parquet").open("rb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        [row] = pq.read_table(folder / "run.parquet").to_pylist()
        request = RunRequest(
            row["name"],
            row["series"],
            row["commit"],
            json.loads(row["labels"]),
            row["started_at"],
            row["passes"],
        )
        source = RunSource(
            row["source_name"],
            row["origin"],
            pq.read_metadata(folder / "files.parquet").num_rows,
            _read=partial(_read_units, folder),
        )
    except BlockingIOError:
        lock.close()
        return None
    except BaseException:
        lock.close()
        raise
    return Package(folder, source, request, lock)


def _require_files(folder: Path) -> None:
    """Raise ValueError for a link, a pipe or a device: others may have made them."""
    if folder.is_symlink():
        raise ValueError("a link")
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                raise ValueError(f"{entry.name} is no file")


def _read_units(folder: Path, refuse: Refuse) -> Iterator[Unit]:
    for row in pq.read_table(folder / "refused.parquet").to_pylist():
        refuse(RefusedFile(row["path"], row["reason"], row.get("others") or 0))
    paths = pq.read_table(folder / "files.parquet", columns=["path"])["path"]
    keys = keys_of(paths.to_pylist())
    with pq.ParquetFile(folder / "files.parquet") as packed:
        for number in range(packed.num_row_groups):
            files = [
                DumpFile(
                    row["path"],
                    row["data"],
                    recognise(
                        row["path"], row["data"], is_named=row.get("is_named", False)
                    ),
                    row["modified_at"],
                    row["problem"],
                    row.get("is_named", False),
                )
                for row in packed.read_row_group(number).to_pylist()
            ]
            yield Unit(keys[files[0].path], tuple(files))


def _write_files(source: RunSource, path: Path) -> None:
    with pq.ParquetWriter(path, _FILES, compression="zstd") as writer:
        for unit in source.units():
            rows = [
                {
                    "path": file.path,
                    "data": file.data,
                    "modified_at": file.modified_at,
                    "problem": file.problem,
                    "is_named": file.is_named,
                }
                for file in unit.files
            ]
            writer.write_table(pa.Table.from_pylist(rows, _FILES))


def _write_rows(
    rows: Sequence[Mapping[str, object]], schema: pa.Schema, path: Path
) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema), path)


def _run_row(source: RunSource, request: RunRequest) -> dict[str, object]:
    return {
        "source_name": source.name,
        "origin": source.origin,
        "name": request.name,
        "series": request.series,
        "commit": request.commit,
        "labels": json.dumps(dict(request.labels), sort_keys=True),
        "started_at": request.started_at,
        "passes": request.passes,
    }


def _keep(folder: Path) -> None:
    """Make sure that the disk has a folder and its files, not only the cache."""
    paths = [*(path for path in folder.iterdir() if path.is_file()), folder]
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
