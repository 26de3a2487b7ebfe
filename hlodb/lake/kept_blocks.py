"""Files of an object store, of which each block is asked for once.

fsspec has such a file system, too. It notes a block as there before it has come, so
another thread of DuckDB reads zeros instead; and its files keep each other alive until
no more can be opened.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

_BLOCK_BYTES = 1 << 22


def keeping(files: Any, folder: str) -> Any:
    """Return a file system that reads as `files` and keeps blocks in a local folder.

    It is for files that never change.
    """
    from fsspec.spec import AbstractFileSystem

    known: dict[str, _Kept] = {}
    lock = Lock()

    class Keeping(AbstractFileSystem):  # type: ignore[misc]
        protocol = files.protocol
        cachable = False

        def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
            if mode != "rb":
                raise OSError(f"{path} is only read")
            size = files.info(path)["size"]
            with lock:
                local = Path(folder) / str(len(known))
                kept = known.setdefault(path, _Kept(files, path, size, local))
            return _KeptFile(kept)

        def info(self, path: str, **options: Any) -> Any:
            return files.info(path, **options)

        def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
            return files.ls(path, detail=detail, **options)

        def modified(self, path: str) -> Any:
            return files.modified(path)

    return Keeping()


class _Kept:
    """The blocks of one file that have come, in a file on this machine."""

    def __init__(self, files: Any, path: str, size: int, local: Path) -> None:
        self.size = size
        self._files, self._path, self._local = files, path, local
        self._blocks: set[int] = set()
        self._lock = Lock()

    def read(self, start: int, count: int) -> bytes:
        """Return bytes of the file; ask for the blocks that are missing."""
        end = min(start + count, self.size)
        if end <= start:
            return b""
        with self._lock:
            for first, last in self._missing(
                start // _BLOCK_BYTES, end // _BLOCK_BYTES
            ):
                self._fetch(first, last)
        with self._local.open("rb") as file:
            return os.pread(file.fileno(), end - start, start)

    def _missing(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield first and last of each run of blocks that are missing."""
        missing = [n for n in range(first, last + 1) if n not in self._blocks]
        for _, run in groupby(enumerate(missing), lambda pair: pair[1] - pair[0]):
            numbers = [number for _, number in run]
            yield numbers[0], numbers[-1]

    def _fetch(self, first: int, last: int) -> None:
        start, end = first * _BLOCK_BYTES, min((last + 1) * _BLOCK_BYTES, self.size)
        content = self._files.cat_file(self._path, start=start, end=end)
        if len(content) != end - start:
            raise OSError(f"{self._path} ends before its {self.size:,} bytes")
        self._local.touch()
        with self._local.open("r+b") as file:
            os.pwrite(file.fileno(), content, start)
        self._blocks.update(range(first, last + 1))


class _KeptFile(io.RawIOBase):
    """A place in a file."""

    def __init__(self, kept: _Kept) -> None:
        self.size = kept.size
        self._kept = kept
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(
            whence, self.size
        )
        return self._at

    def read(self, count: int | None = -1) -> bytes:
        wanted = self.size if count is None or count < 0 else count
        found = self._kept.read(self._at, wanted)
        self._at += len(found)
        return found
