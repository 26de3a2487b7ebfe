"""New warehouses with every query: copies of one that is kept in the user's cache.

To make the tables and to bind every query takes more than a second; they are the same
in every new file of one version of hlodb and of DuckDB.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from hlodb.errors import WarehouseError
from hlodb.queries.renewal import renew_macros, source_digest
from hlodb.schema import creation
from hlodb.schema.connection import DatabaseError, library_version
from hlodb.schema.creation import create_file, write_empty
from hlodb.schema.waiting import open_file
from hlodb.schema.writer_lock import Busy
from hlodb.version import __version__


def provide_warehouse(path: Path) -> None:
    """Make an empty warehouse with every query at `path`, where nothing lies yet.

    Where the copy in the cache cannot be made or read, nothing is made, and whoever
    opens the file for writing makes it from the beginning, or says what is wrong.
    """
    if os.path.lexists(path) or not path.parent.is_dir():
        return
    with suppress(OSError, DatabaseError, WarehouseError, Busy):
        kept = cached_warehouse()
        if not kept.exists():
            _keep(kept)
        create_file(path, lambda draft: _copy(kept, draft))


def cached_warehouse() -> Path:
    """Return where the empty warehouse of this version is kept.

    The folder is `hlodb` in `$XDG_CACHE_HOME`, or in `~/.cache`. Raises OSError where
    there is no home.
    """
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(folder):
        raise FileNotFoundError(folder)
    digest = source_digest(Path(__file__).parent, Path(creation.__file__).parent)
    name = f"warehouse-{__version__}-{library_version}-{digest[:16]}.duckdb"
    return Path(folder) / "hlodb" / name


def _keep(kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    create_file(kept, _write_with_queries)
    for other in kept.parent.glob("warehouse-*.duckdb"):
        if other != kept:
            other.unlink(missing_ok=True)


def _write_with_queries(draft: Path) -> None:
    write_empty(draft)
    with closing(open_file(draft, read_only=False)) as connection:
        renew_macros(connection)


def _copy(kept: Path, draft: Path) -> None:
    """Copy a file to the disk, so that its name never stands for half of it."""
    with kept.open("rb") as source, draft.open("xb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
