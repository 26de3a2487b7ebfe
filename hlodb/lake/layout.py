"""What files a lake has, and what makes their rows visible.

    LAKE/hlodb-lake.json           versions of the layout and of the schema
    LAKE/lake.duckdb               the catalogue: views over the parts, macros, runs
    LAKE/TABLE/PACKAGE.parquet     a part: the rows that a package has of a table
    LAKE/keys/PACKAGE.parquet      the keys of its parts, which other packages may share
    LAKE/runs/PACKAGE.parquet      written last: with it the whole package is there
    LAKE/marks/MARK.parquet        runs that were deleted or pruned
    LAKE/drafts/                   unfinished files, not in a bucket

A file appears whole, under its name, and parts never change. So nobody needs a lock:
readers list the folder `runs`, and see no part of a package that it does not name.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import UsageError, WarehouseError
from hlodb.lake import VERSION_FILE
from hlodb.lake.storage import Folder, Storage, storage_at
from hlodb.schema.drafts import ABANDONED_SECONDS
from hlodb.schema.versions import SCHEMA_VERSION, schema_digest

CATALOGUE = "lake.duckdb"
LAYOUT_VERSION = 1
_VERSIONS = {
    "layout_version": LAYOUT_VERSION,
    "schema_version": SCHEMA_VERSION,
    "schema_digest": schema_digest(),
}
_PART = ".parquet"


def create_lake(path: Path) -> None:
    """Make an empty lake; one that is there already stays as it is.

    Raises UsageError where `path` holds something else, WarehouseError where it cannot
    be written.
    """
    storage = storage_at(path)
    try:
        if isinstance(storage, Folder):
            storage.path.mkdir(exist_ok=True)
        names = [*storage.names(""), *storage.folders()]
        if VERSION_FILE in names:
            return
        if names:
            raise UsageError(f"{path} is no lake, and holds {min(names)}")
        with storage.drafts() as folder:
            draft = folder / VERSION_FILE
            draft.write_text(json.dumps(_VERSIONS) + "\n", encoding="utf-8")
            storage.put(draft, VERSION_FILE)
    except OSError as error:
        raise WarehouseError(f"cannot make {path}: {error.strerror}") from error


def lake_at(path: str | Path) -> Storage:
    """Return the storage of a lake that this hlodb can read.

    Raises UsageError where there is none, WarehouseError where it has other versions.
    """
    storage = storage_at(path)
    address = storage.address
    try:
        found = json.loads(storage.read(VERSION_FILE))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"there is no lake at {address}: `hlodb lake create {address}`"
        ) from error
    except (OSError, ValueError) as error:
        raise WarehouseError(
            f"cannot read {address}/{VERSION_FILE}: {error}"
        ) from error
    # The digest is missing where an earlier build of this version made the lake.
    if not isinstance(found, dict) or {**_VERSIONS, **found} != _VERSIONS:
        raise WarehouseError(
            f"{address} is a lake of {_named(found)}, this hlodb reads"
            f" {_named(_VERSIONS)}: `hlodb lake unpack` of the hlodb that wrote it"
            " makes a file, `hlodb migrate` updates that, `hlodb lake pack` packs it"
        )
    return storage


def _named(versions: object) -> str:
    known = versions if isinstance(versions, dict) else {}
    digest = known.get("schema_digest")
    return (
        f"layout {known.get('layout_version')}, schema {known.get('schema_version')}"
        f"{f' (tables {digest})' if digest else ''}"
    )


class Contents(NamedTuple):
    """Names of what is committed: packages, marks, and findings of single reports."""

    packages: tuple[str, ...]
    marks: tuple[str, ...]
    findings: tuple[str, ...]

    def digest(self, address: str) -> str:
        """Return a digest by which a catalogue knows the state that it shows."""
        return blake2b(repr((address, self)).encode(), digest_size=16).hexdigest()


FINDINGS_PREFIX = "report-"
"""How parts of `finding_events` begin that belong to no package."""


def read_contents(lake: Storage) -> Contents:
    """List what is committed now."""
    events = names_in(lake, "finding_events")
    return Contents(
        names_in(lake, "runs"),
        names_in(lake, "marks"),
        tuple(name for name in events if name.startswith(FINDINGS_PREFIX)),
    )


def names_in(lake: Storage, folder: str) -> tuple[str, ...]:
    """Return the names of the parts in a folder, sorted."""
    names = lake.names(folder)
    return tuple(sorted(n.removesuffix(_PART) for n in names if n.endswith(_PART)))


def part_name(folder: str, name: str) -> str:
    """Return the name of the file of a part."""
    return f"{folder}/{name}{_PART}"


def part_address(lake: Storage, folder: str, name: str) -> str:
    """Return what DuckDB calls a part."""
    return f"{lake.address}/{part_name(folder, name)}"


def remove_abandoned(lake: Storage) -> None:
    """Remove what killed writers left: drafts, and parts that were never committed.

    Only those that nobody changed for a day: their writer may be on another machine.
    """
    lake.remove_drafts()
    committed = {*names_in(lake, "runs"), *read_contents(lake).findings}
    for folder in lake.folders():
        if folder not in ("runs", "marks"):
            for name in names_in(lake, folder):
                part = part_name(folder, name)
                if name not in committed and lake.is_older(part, ABANDONED_SECONDS):
                    lake.remove(part)
