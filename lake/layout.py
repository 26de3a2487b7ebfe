"""Where the files of a lake lie, what makes them visible, and how they appear.

    LAKE/hlodb-lake.json           versions of the layout and of the schema
    LAKE/lake.duckdb               the catalogue: views over the parts, macros, runs
    LAKE/TABLE/PACKAGE.parquet     a part: the rows that a package has of a table
    LAKE/runs/PACKAGE.parquet      written last: with it the whole package is there
    LAKE/marks/MARK.parquet        runs that were deleted or pruned
    LAKE/drafts/                   what is being written

A file appears whole, under its name, and never changes. So nobody needs a lock: readers
list the folder `runs`, and see no part of a package that it does not name.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import UsageError, WarehouseError
from hlodb.lake import VERSION_FILE, is_lake
from hlodb.schema.backup import sync
from hlodb.schema.drafts import ABANDONED_SECONDS
from hlodb.schema.versions import SCHEMA_VERSION

CATALOGUE = "lake.duckdb"
LAYOUT_VERSION = 1
_VERSIONS = {"layout_version": LAYOUT_VERSION, "schema_version": SCHEMA_VERSION}
_PART = ".parquet"


def create_lake(path: Path) -> None:
    """Make an empty lake; one that is there already stays as it is.

    Raises UsageError where `path` holds something else, WarehouseError where it cannot
    be written.
    """
    if is_lake(path):
        return
    try:
        path.mkdir(exist_ok=True)
        if others := [entry.name for entry in path.iterdir() if entry.name != "drafts"]:
            raise UsageError(f"{path} is no lake, and holds {sorted(others)[0]}")
        with drafts(path) as folder:
            draft = folder / VERSION_FILE
            draft.write_text(json.dumps(_VERSIONS) + "\n", encoding="utf-8")
            publish(draft, path / VERSION_FILE)
    except OSError as error:
        raise WarehouseError(f"cannot make {path}: {error.strerror}") from error


def root_of(path: str | Path) -> Path:
    """Return the real path of a lake that this hlodb can read.

    Raises UsageError where there is none, WarehouseError where it has other versions.
    """
    root = Path(path).resolve()
    try:
        found = json.loads((root / VERSION_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"there is no lake at {path}: `hlodb lake create {path}`"
        ) from error
    except (OSError, ValueError) as error:
        raise WarehouseError(f"cannot read {root / VERSION_FILE}: {error}") from error
    if found != _VERSIONS:
        raise WarehouseError(
            f"{path} is a lake of {_named(found)}, this hlodb reads"
            f" {_named(_VERSIONS)}: `hlodb lake unpack` of the hlodb that wrote it"
            " makes a file, `hlodb migrate` updates that, `hlodb lake pack` packs it"
        )
    return root


def _named(versions: object) -> str:
    known = versions if isinstance(versions, dict) else {}
    return f"layout {known.get('layout_version')}, schema {known.get('schema_version')}"


class Contents(NamedTuple):
    """Names of what is committed: packages, marks, and findings of single reports."""

    packages: tuple[str, ...]
    marks: tuple[str, ...]
    findings: tuple[str, ...]

    def digest(self, root: Path) -> str:
        """Return a digest by which a catalogue knows the state that it shows."""
        return blake2b(repr((str(root), self)).encode(), digest_size=16).hexdigest()


FINDINGS_PREFIX = "report-"
"""How parts of `finding_events` begin that belong to no package."""


def read_contents(root: Path) -> Contents:
    """List what is committed now."""
    events = names_in(root, "finding_events")
    return Contents(
        names_in(root, "runs"),
        names_in(root, "marks"),
        tuple(name for name in events if name.startswith(FINDINGS_PREFIX)),
    )


def names_in(root: Path, folder: str) -> tuple[str, ...]:
    """Return the names of the parts in a folder, sorted."""
    try:
        with os.scandir(root / folder) as entries:
            names = [e.name for e in entries if e.name.endswith(_PART)]
    except FileNotFoundError:
        return ()
    return tuple(sorted(name.removesuffix(_PART) for name in names))


def part_path(root: Path, folder: str, name: str) -> Path:
    """Return the path of a part."""
    return root / folder / f"{name}{_PART}"


@contextmanager
def drafts(root: Path) -> Iterator[Path]:
    """Yield an empty folder on the same disk for files that are to be published."""
    folder = root / "drafts" / f"{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(draft: Path, path: Path) -> None:
    """Rename a draft, whole and on the disk; it replaces one of that name."""
    sync(draft)
    path.parent.mkdir(exist_ok=True)
    draft.replace(path)
    sync(path.parent)


def publish_once(draft: Path, path: Path) -> bool:
    """Rename a draft unless there is such a file already; return whether it did."""
    sync(draft)
    path.parent.mkdir(exist_ok=True)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links. Two that come here at once have equal rows.
        if path.exists():
            return False
        draft.replace(path)
    sync(path.parent)
    return True


def remove_abandoned(root: Path) -> None:
    """Remove what killed writers left: drafts, and parts that were never committed.

    Only those that nobody changed for a day: their writer may be on another machine.
    """
    committed = {*names_in(root, "runs"), *read_contents(root).findings}
    for folder in root.iterdir():
        if folder.name == "drafts":
            for draft in folder.iterdir():
                if _is_old(draft):
                    shutil.rmtree(draft, ignore_errors=True)
        elif folder.is_dir() and folder.name not in ("runs", "marks"):
            for part in folder.glob(f"*{_PART}"):
                if part.name.removesuffix(_PART) not in committed and _is_old(part):
                    part.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    with suppress(OSError):  # Another process may have removed it just now.
        return time.time() - path.stat().st_mtime > ABANDONED_SECONDS
    return False
