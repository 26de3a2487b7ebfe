"""Files hashed while the warehouse is opened and asked what it has of them.

Reading, hashing and DuckDB all leave the interpreter to others meanwhile. Who needs the
digests then begins with the last file, and meets the thread in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from math import inf
from pathlib import Path
from threading import Event, Lock, Thread
from typing import NamedTuple, Self

from hlodb.ingest.discover import RunSource
from hlodb.ingest.limits import Limits, Refusal
from hlodb.ingest.run_records import RunRequest
from hlodb.ingest.units import Entry, content_of


class FileDigest(NamedTuple):
    """What a file holds: the SHA-256 and the size of its content."""

    sha256: str
    size_bytes: int


def digest_of(entry: Entry, limits: Limits) -> FileDigest:
    """Read a file and hash it; raises Refusal or OSError where that fails."""
    digest, size_bytes = sha256(), 0
    for piece in content_of(entry, limits):
        digest.update(piece)
        size_bytes += len(piece)
    return FileDigest(digest.hexdigest(), size_bytes)


def older_runs(
    sources: Iterable[RunSource], database: Path, request: RunRequest
) -> list[RunSource]:
    """Give the runs that the warehouse may have unchanged, being no older than they."""
    if request.retry_rejects or not database.exists():
        return []
    written_at = database.stat().st_mtime
    return [source for source in sources if _newest_at(source) <= written_at]


def local_files(sources: Iterable[RunSource]) -> list[Entry]:
    """Give the files of runs that lie on this machine."""
    return [e for source in sources if source.is_local for e in source.entries]


def _newest_at(source: RunSource) -> float:
    times = [e.modified_at for e in source.entries if e.modified_at is not None]
    return max(times, default=inf)


class HashedAhead:
    """Digests of files by their origin, as far as a thread has come.

    It begins when it is told to, stops at a file that can't be read, and ends with the
    block that it is the context of: nothing is read any more, and no thread is left.
    """

    def __init__(self, limits: Limits) -> None:
        self.digests: dict[str, FileDigest] = {}
        self._under_way = ("", Lock())
        self._limits = limits
        self._is_over = Event()
        self._thread: Thread | None = None

    def begin(self, entries: Sequence[Entry]) -> None:
        """Hash these files, in their order."""
        if entries:
            self._thread = Thread(target=self._hash, args=(entries,), daemon=True)
            self._thread.start()

    def digest_of(self, entry: Entry) -> FileDigest:
        """Give what the thread has found, or is about to find, else as `digest_of`."""
        origin, is_done = self._under_way
        if origin and origin == entry.origin:
            with is_done:
                pass
        return self.digests.get(entry.origin) or digest_of(entry, self._limits)

    def _hash(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if self._is_over.is_set():
                return
            is_done = Lock()
            with is_done:
                self._under_way = (entry.origin, is_done)
                try:
                    self.digests[entry.origin] = digest_of(entry, self._limits)
                except (Refusal, OSError):
                    return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
