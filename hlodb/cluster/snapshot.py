"""The state of a lake that all tasks of one query read, whatever others write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import zstandard

from hlodb.lake.catalogue import make_catalogue
from hlodb.lake.layout import CATALOGUE, lake_at, read_contents
from hlodb.lake.storage import storage_at
from hlodb.schema.connection import Connection
from hlodb.schema.limits import open_limited


class Snapshot(NamedTuple):
    """The address of a lake, and its catalogue, compressed."""

    address: str
    catalogue: bytes


def take_snapshot(lake: str | Path) -> Snapshot:
    """Return the state of a lake as it is now.

    Raises UsageError where there is none, WarehouseError where it cannot be read.
    """
    storage = lake_at(lake)
    with tempfile.TemporaryDirectory(prefix="hlodb-task-") as folder:
        draft = Path(folder) / CATALOGUE
        make_catalogue(storage, read_contents(storage), draft)
        return Snapshot(storage.address, zstandard.compress(draft.read_bytes()))


@contextmanager
def opened(snapshot: Snapshot, memory: str) -> Iterator[Connection]:
    """Open a private copy of the catalogue, on one thread and within `memory`.

    Its temporary files are its own: DuckDBs that share a folder for them read each
    other's pages.
    """
    with tempfile.TemporaryDirectory(prefix="hlodb-task-") as folder:
        file = Path(folder) / CATALOGUE
        file.write_bytes(zstandard.decompress(snapshot.catalogue))
        opened = open_limited(
            file,
            folders=[snapshot.address],
            settings={
                "threads": "1",
                "memory_limit": memory,
                "temp_directory": str(Path(folder) / "spill"),
                "parquet_metadata_cache": "true",
            },
        )
        with closing(opened) as connection:
            storage_at(snapshot.address).prepare(connection)
            yield connection
