"""Members of a tar archive, compressed or not, in one pass over the stream."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from hlodb.ingest.archives import (
    TAR_BLOCK,
    Member,
    Refuse,
    reason_to_refuse,
    safe_path,
)
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.limits import Limits, Refusal, RefusedFile
from hlodb.ingest.streams import LimitedReader

_LARGEST_HEADER = 1 << 20
# Whatever hostile headers make tarfile raise.
_BROKEN_TAR = (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError)


def tar_members(
    raw: BinaryIO, limits: Limits, refuse: Refuse, archive: str
) -> Iterator[tuple[Member, LimitedReader]]:
    """Give each sound member and the reader at its first byte; pass on as you like.

    Ends early, with a refusal for `archive` itself, where the archive is broken.
    """
    reader = LimitedReader(raw, limits)
    try:
        yield from _tar_members(reader, limits, refuse, archive)
    except Refusal as refusal:
        refuse(RefusedFile(archive, f"the rest is not read: {refusal}"))
    except _BROKEN_TAR as broken:
        refuse(RefusedFile(archive, f"the rest is not read: {_tell(broken, reader)}"))


def _tell(broken: BaseException, reader: LimitedReader) -> str:
    return reader.problem or f"broken tar archive ({broken or type(broken).__name__})"


def _tar_members(
    reader: LimitedReader, limits: Limits, refuse: Refuse, archive: str
) -> Iterator[tuple[Member, LimitedReader]]:
    blocks = _TarBlocks(reader)
    seen: set[str] = set()
    with tarfile.TarFile(fileobj=blocks) as tar:  # type: ignore[arg-type]
        number = 0
        while (info := tar.next()) is not None:
            # tarfile keeps every member it has met; nobody needs them.
            tar.members.clear()  # type: ignore[attr-defined]
            number += 1
            if number > limits.archive_members:
                raise Refusal(f"more than {limits.archive_members:,} members")
            if info.isdir():
                continue
            path = safe_path(info.name)
            reason = _tar_reason(info, path, seen, limits)
            if reason:
                refuse(RefusedFile(printable(info.name), reason))
                continue
            seen.add(path)
            member = Member(number, path, info.size, _seconds(info.mtime))
            yield member, reader
    if blocks.last != bytes(TAR_BLOCK):
        reason = reader.problem or "the archive ends without its end mark"
        refuse(RefusedFile(archive, f"{reason}; it may be cut short"))


def _seconds(mtime: float) -> float | None:
    return float(mtime) if 0 < mtime < 1 << 40 else None


def _tar_reason(
    info: tarfile.TarInfo, path: str, seen: set[str], limits: Limits
) -> str:
    if info.issym() or info.islnk():
        return "a link; links are not followed"
    if not info.isreg():
        return "neither file nor folder"
    if info.issparse():
        return "a sparse file; pack it without --sparse"
    return reason_to_refuse(path, info.size, seen, limits)


class _TarBlocks:
    """What tarfile needs of a file: forward only, and no large read.

    tarfile reads headers as large as they claim to be, and seeks wherever they say.
    """

    def __init__(self, reader: LimitedReader) -> None:
        self.last = b""
        self._reader = reader

    def tell(self) -> int:
        return self._reader.tell()

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LARGEST_HEADER:
            raise Refusal(f"a header of {size:,} bytes")
        self.last = self._reader.take(size)
        return self.last

    def seek(self, offset: int) -> None:
        distance = offset - self.tell()
        if distance < 0:
            raise Refusal("a header that points backwards")
        self._reader.skip(distance)
