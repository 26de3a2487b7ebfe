"""Dumps behind URLs, through fsspec (`pip install 'hlodb[remote]'`)."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from hlodb.errors import UsageError
from hlodb.ingest.recognise.file_names import split_name
from hlodb.ingest.sources.archives import is_archive_name, safe_path
from hlodb.ingest.sources.limits import Limits
from hlodb.ingest.sources.units import Entry

try:
    import fsspec
except ImportError:  # an extra
    fsspec = None

_INSTALL = "Install it with: pip install 'hlodb[remote]'"
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_DEEPEST = 16

_T = TypeVar("_T")


def remote_entries(url: str, limits: Limits) -> list[Entry]:
    """List the file at a URL, or the files below it, or those that a `*` matches.

    Paths are relative to the folder named. Raises UsageError: fsspec or a backend of
    it missing, nothing there, no access.
    """
    if fsspec is None:
        raise UsageError(f"{url}: reading URLs needs fsspec. {_INSTALL}")
    system, path = _told(url, lambda: fsspec.core.url_to_fs(url))
    found = _told(url, lambda: _find(system, path))
    if not found:
        raise UsageError(f"{url}: nothing is there. Check the address and your access.")
    folder = path if path not in found and "*" not in path else _folder(path)
    return [
        Entry(
            _relative(name, folder),
            info.get("size"),
            _modified_at(info),
            partial(_open, system, name, limits),
            system.unstrip_protocol(name),
        )
        for name, info in sorted(found.items())
    ]


def _told(url: str, call: Callable[[], _T]) -> _T:
    """Call into fsspec, whose backends raise whatever their clients raise."""
    try:
        return call()
    except ImportError as error:
        raise UsageError(f"{url}: {error}. {_INSTALL}") from error
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise UsageError(f"{url}: cannot be read ({reason}).") from error


def _find(system: Any, path: str) -> dict[str, dict[str, Any]]:
    if "*" in path:
        matches: dict[str, dict[str, Any]] = system.glob(path, detail=True)
        return {n: info for n, info in matches.items() if info["type"] == "file"}
    # To ask a web server for the listing of a file would load the whole of it.
    plain = _without_query(path)
    named_as_file = is_archive_name(plain) or split_name(plain).kind is not None
    if named_as_file and system.exists(path) and not _is_folder(system, path):
        return {path: system.info(path)}
    if system.isdir(path):
        below: dict[str, dict[str, Any]] = system.find(
            path, maxdepth=_DEEPEST, detail=True
        )
        return below
    return {path: system.info(path)} if system.exists(path) else {}


def _is_folder(system: Any, path: str) -> bool:
    # On the web everything is a file.
    return not _is_web(system) and system.isdir(path)


def _is_web(system: Any) -> bool:
    protocols = system.protocol
    return "http" in (protocols if isinstance(protocols, tuple) else (protocols,))


def _without_query(path: str) -> str:
    return path.split("?")[0]


def _folder(path: str) -> str:
    plain = _without_query(path).split("*")[0]
    return plain[: plain.rfind("/") + 1]


def _relative(name: str, folder: str) -> str:
    plain = _without_query(name)
    inside = safe_path(plain.removeprefix(folder).lstrip("/"))
    return inside or plain.rsplit("/", 1)[-1]


def _modified_at(info: dict[str, Any]) -> float | None:
    for key in _TIMES:
        time = info.get(key)
        if isinstance(time, datetime):
            return time.timestamp()
        if isinstance(time, (int, float)):
            return float(time)
    return None


def _open(system: Any, name: str, limits: Limits) -> BinaryIO:
    # Not every web server can serve a part of a file; a plain stream always works.
    is_web = _is_web(system)
    options = {"block_size": 0} if is_web else {}
    file = _as_os_error(lambda: system.open(name, "rb", **options))
    remote = cast(BinaryIO, _RemoteFile(file, can_seek=not is_web))
    if is_web and _without_query(name).lower().endswith(".zip"):
        return _in_memory(remote, limits)
    return remote


def _in_memory(remote: BinaryIO, limits: Limits) -> BinaryIO:
    """Load what must be read from its end; it is cut at the limit for one file."""
    loaded = io.BytesIO()
    with remote:
        while loaded.tell() < limits.file_bytes and (more := remote.read(1 << 20)):
            loaded.write(more)
    loaded.seek(0)
    return loaded


class _RemoteFile(io.RawIOBase):
    """A file of fsspec; whatever its backend raises comes out as OSError."""

    def __init__(self, file: Any, can_seek: bool) -> None:
        self._file = file
        self._can_seek = can_seek

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._can_seek

    def readinto(self, buffer: Any) -> int:
        data: bytes = _as_os_error(lambda: self._file.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(_as_os_error(lambda: self._file.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _as_os_error(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except OSError:
        raise
    except Exception as error:
        raise OSError(str(error) or type(error).__name__) from error
