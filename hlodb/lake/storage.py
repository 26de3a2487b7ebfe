"""Where the files of a lake are: a folder, or a bucket of an object store.

Either way a file appears whole under its name, and everybody who lists a folder sees it
from then on. Nothing else is asked of the place: no lock, no rename, no append.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hlodb.errors import UsageError, WarehouseError
from hlodb.paths import fault_of
from hlodb.printed_commands import url_of
from hlodb.schema.backup import sync
from hlodb.schema.connection import Connection, DatabaseError
from hlodb.schema.drafts import ABANDONED_SECONDS
from hlodb.schema.waiting import explain

_T = TypeVar("_T")
_DRAFTS = "drafts"


class Storage(Protocol):
    """Files under names such as `runs/all-1.parquet`."""

    address: str
    """What people and DuckDB call the place, without a slash at its end."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, none where it is not there."""

    def folders(self) -> list[str]:
        """Return the names of the folders, without that of drafts."""

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise FileNotFoundError."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Return a context manager of a path where a program can open a file."""

    def put(self, draft: Path, name: str) -> None:
        """Store a draft, whole, in place of what has its name. The draft goes."""

    def put_new(self, draft: Path, name: str) -> None:
        """Store a draft unless its name is taken already."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def is_older(self, name: str, seconds: float) -> bool:
        """Return whether a file is there, and nobody has changed it for so long."""

    def drafts(self) -> AbstractContextManager[Path]:
        """Return a context manager of an empty folder for files that will be put."""

    def remove_drafts(self) -> None:
        """Remove drafts of processes that were killed."""

    def prepare(self, connection: Connection) -> None:
        """Let a connection read the files."""


@contextmanager
def writing(address: str | Path) -> Iterator[None]:
    """Raise WarehouseError where the disk or DuckDB fails within the block."""
    try:
        yield
    except (OSError, DatabaseError) as error:
        raise WarehouseError(explain(address, error)) from error


def storage_at(path: str | Path) -> Storage:
    """Return the storage at a path or URL, whether or not a lake is there.

    Raises WarehouseError for a path that can be none.
    """
    url = url_of(path)
    if url is not None:
        return Bucket(url.rstrip("/"))
    fault = fault_of(path)
    if fault and not Path(path).is_dir():
        raise WarehouseError(f"cannot use {path}: {fault}; name a folder for the lake")
    return Folder(Path(path).resolve())


class Folder:
    """A folder of a file system that all writers reach."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder."""
        try:
            with os.scandir(self.path / folder) as entries:
                return [entry.name for entry in entries if entry.is_file()]
        except FileNotFoundError:
            return []

    def folders(self) -> list[str]:
        """Return the names of the folders."""
        with os.scandir(self.path) as entries:
            return [e.name for e in entries if e.is_dir() and e.name != _DRAFTS]

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self.path / name).read_bytes()

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield the path of a file. Raises WarehouseError for what is none."""
        path = self.path / name
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode):
                raise _not_plain(path)
        yield path

    def put(self, draft: Path, name: str) -> None:
        """Rename a draft, when it is on the disk."""
        path = self.path / name
        sync(draft)
        path.parent.mkdir(exist_ok=True)
        draft.replace(path)
        sync(path.parent)

    def put_new(self, draft: Path, name: str) -> None:
        """Link a draft to its name, when it is on the disk."""
        path = self.path / name
        sync(draft)
        path.parent.mkdir(exist_ok=True)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        except OSError:
            # A file system without hard links. Two that come here have equal rows.
            if not path.exists():
                draft.replace(path)
        sync(path.parent)

    def remove(self, name: str) -> None:
        """Remove a file."""
        (self.path / name).unlink(missing_ok=True)

    def is_older(self, name: str, seconds: float) -> bool:
        """Return whether a file is there, and nobody has changed it for so long."""
        return _is_older(self.path / name, seconds)

    @contextmanager
    def drafts(self) -> Iterator[Path]:
        """Yield a folder on the same disk, so that drafts can be renamed."""
        folder = self.path / _DRAFTS / f"{os.getpid()}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove_drafts(self) -> None:
        """Remove drafts that nobody changed for a day: others may be at work."""
        with suppress(FileNotFoundError):
            for draft in (self.path / _DRAFTS).iterdir():
                if _is_older(draft, ABANDONED_SECONDS):
                    shutil.rmtree(draft, ignore_errors=True)

    def prepare(self, connection: Connection) -> None:
        """Do nothing: DuckDB reads files.

        Raises WarehouseError for a link, which would be read wherever it leads, and for
        a pipe or a device, which has no end.
        """
        for folder in ("", *self.folders()):
            with suppress(FileNotFoundError), os.scandir(self.path / folder) as entries:
                for entry in entries:
                    is_file = entry.is_file(follow_symlinks=False)
                    if not is_file and not entry.is_dir(follow_symlinks=False):
                        raise _not_plain(entry.path)


def _not_plain(path: str | Path) -> WarehouseError:
    return WarehouseError(
        f"cannot read {path}: a link, a pipe or a device, and a lake holds none; put"
        " the file in its place"
    )


def _is_older(path: Path, seconds: float) -> bool:
    with suppress(OSError):  # Another process may have removed it just now.
        return time.time() - path.stat().st_mtime >= seconds
    return False


class Bucket:
    """A prefix in an object store that fsspec knows: S3, Google Cloud Storage, others.

    Uploads appear whole. Raises WarehouseError where the store refuses or fails, and
    UsageError where a package that speaks to it is missing.
    """

    def __init__(self, url: str) -> None:
        self.address = url
        try:
            # An extra, and slow to load.
            import fsspec

            self._files, self._path = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise UsageError(
                f"{url}: {error}. Install it with: pip install 'hlodb[remote]'"
            ) from error
        except Exception as error:
            raise self._failure("reach", error) from error

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects in a folder."""
        return [name for name, kind in self._listed(folder) if kind == "file"]

    def folders(self) -> list[str]:
        """Return the names of the folders."""
        return [name for name, kind in self._listed("") if kind == "directory"]

    def _listed(self, folder: str) -> list[tuple[str, str]]:
        path = f"{self._path}/{folder}".rstrip("/")

        def listing() -> list[dict[str, Any]]:
            # Others write meanwhile: what was listed before is out of date.
            self._files.invalidate_cache(path)
            found: list[dict[str, Any]] = self._files.ls(path, detail=True)
            return found

        try:
            entries = self._call("list", listing)
        except FileNotFoundError:
            return []
        return [
            (str(entry["name"]).rstrip("/").rpartition("/")[2], str(entry["type"]))
            for entry in entries
            if str(entry["name"]).rstrip("/") != path
        ]

    def read(self, name: str) -> bytes:
        """Return the content of an object."""
        content: bytes = self._call("read", self._files.cat_file, self._at(name))
        return content

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield the path of a copy of an object, on this machine."""
        with self.drafts() as folder:
            copy = folder / name.rpartition("/")[2]
            copy.write_bytes(self.read(name))
            yield copy

    def put(self, draft: Path, name: str) -> None:
        """Upload a draft."""
        self._call("write to", self._files.put_file, str(draft), self._at(name))
        draft.unlink()

    def put_new(self, draft: Path, name: str) -> None:
        """Upload a draft unless it is there; two who do so at once have equal rows."""
        if not self._call("read", self._files.exists, self._at(name)):
            self.put(draft, name)

    def remove(self, name: str) -> None:
        """Remove an object."""
        with suppress(FileNotFoundError):
            self._call("write to", self._files.rm_file, self._at(name))

    def is_older(self, name: str, seconds: float) -> bool:
        """Return whether an object is there, and nobody has changed it for so long."""
        with suppress(FileNotFoundError):
            changed = self._call("read", self._files.modified, self._at(name))
            return bool(time.time() - changed.timestamp() >= seconds)
        return False

    @contextmanager
    def drafts(self) -> Iterator[Path]:
        """Yield a folder of this machine."""
        with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
            yield Path(folder)

    def remove_drafts(self) -> None:
        """Do nothing: drafts are on the machines that write them."""

    def prepare(self, connection: Connection) -> None:
        """Let DuckDB read objects through the same client, not through an extension."""
        files = self._kept()
        with suppress(Exception):  # Connections of one process share what is known.
            connection.register_filesystem(files)

    def _kept(self) -> Any:
        """Return a file system that asks a network once for a block of a part."""
        from fsspec.asyn import AsyncFileSystem

        from hlodb.lake.kept_blocks import keeping

        if not isinstance(self._files, AsyncFileSystem):
            return self._files
        # What was listed is not asked for again, file by file; parts never change.
        for folder in self.folders():
            self._listed(folder)
        blocks = tempfile.mkdtemp(prefix="hlodb-lake-")
        atexit.register(shutil.rmtree, blocks, ignore_errors=True)
        return keeping(self._files, blocks)

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _call(self, doing: str, call: Callable[..., _T], *arguments: object) -> _T:
        """Call the client of the store, which raises whatever its makers chose."""
        try:
            return call(*arguments)
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._failure(doing, error) from error

    def _failure(self, doing: str, error: Exception) -> WarehouseError:
        reason = str(error) or type(error).__name__
        return WarehouseError(
            f"cannot {doing} {self.address}: {reason}; check the address and your"
            " access"
        )
