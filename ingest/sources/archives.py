"""What all archives have in common: how to know one, and which members to trust.

Names that lead out of the archive, links, devices and second members of one name are
refused; what is sound is read, as a stream, and never unpacked to disk.
"""

from __future__ import annotations

import calendar
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from hlodb.ingest.formats.scan import printable
from hlodb.ingest.recognise.file_kinds import ARCHIVE_SUFFIXES
from hlodb.ingest.sources.limits import Limits, Refusal, RefusedFile, shown_path
from hlodb.ingest.sources.streams import LimitedReader, too_expansive, too_large

ArchiveForm: TypeAlias = Literal["tar", "zip"]
Refuse: TypeAlias = Callable[[RefusedFile], None]

TAR_BLOCK = 512


class Member(NamedTuple):
    """A member worth reading; `number` is its place in the archive.

    `modified_at` is in seconds since 1970 (UTC); zip archives say no time zone, so
    theirs is taken as UTC.
    """

    number: int
    path: str
    size_bytes: int
    modified_at: float | None


def is_archive_name(name: str) -> bool:
    """Return whether a file is a packed directory, by its name."""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def archive_form(raw: BinaryIO, limits: Limits) -> ArchiveForm | None:
    """Return the form of an archive by its beginning; None where it is none."""
    reader = LimitedReader(raw, limits)
    head = reader.take(TAR_BLOCK)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if len(head) == TAR_BLOCK and (head[257:262] == b"ustar" or _has_checksum(head)):
        return "tar"
    return None


def _has_checksum(header: bytes) -> bool:
    """Return whether this is a tar header of 1979, which has no magic word."""
    try:
        stored = int(header[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return stored == sum(header[:148]) + 8 * ord(" ") + sum(header[156:])


def reason_to_refuse(path: str, size: int, seen: set[str], limits: Limits) -> str:
    """Return the reason not to read a member with this safe path; empty if none."""
    if not path:
        return "its name leads out of the archive"
    if len(path) > limits.path_characters:
        return f"its name is longer than {limits.path_characters:,} characters"
    if path in seen:
        return "a second member of this name; the first is read"
    if size < 0:
        return "its size is negative"
    if size > limits.file_bytes:
        return too_large(limits)
    if is_archive_name(path):
        return "an archive inside an archive; give it on its own"
    return ""


def safe_path(name: str) -> str:
    """Return a member's path inside the archive; empty where it leads out of it."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name:
        return ""
    if len(parts[0]) == 2 and parts[0][1] == ":":
        return ""
    return printable("/".join(part for part in parts if part not in ("", ".")))


_LARGEST_HEADER = 1 << 20
_HEADERS_OF_MEMBER = 4 << 20
# Whatever hostile headers make tarfile raise.
_BROKEN_TAR = (tarfile.TarError, ValueError, OverflowError, IndexError, RecursionError)


def tar_members(
    raw: BinaryIO, limits: Limits, refuse: Refuse, archive: str
) -> Iterator[tuple[Member, LimitedReader]]:
    """Yield each sound member and the reader at its first byte; pass on as you like.

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
    names_bytes = 0
    with tarfile.TarFile(fileobj=blocks) as tar:  # type: ignore[arg-type]
        number = 0
        while (info := tar.next()) is not None:
            # tarfile keeps every member it has met; nobody needs them.
            tar.members.clear()  # type: ignore[attr-defined]
            blocks.header_bytes = 0
            _check_global_headers(tar)
            number += 1
            if number > limits.archive_members:
                raise Refusal(f"more than {limits.archive_members:,} members")
            if info.isdir():
                continue
            path = safe_path(info.name)
            reason = _tar_reason(info, path, seen, limits)
            if reason:
                refuse(RefusedFile(shown_path(info.name, limits), reason))
                continue
            seen.add(path)
            names_bytes += len(path)
            if names_bytes > limits.directory_bytes:
                raise Refusal(f"its names take more than {names_bytes:,} bytes")
            member = Member(number, path, info.size, _seconds(info.mtime))
            yield member, reader
    if blocks.last != bytes(TAR_BLOCK):
        reason = reader.problem or "the archive ends without its end mark"
        refuse(RefusedFile(archive, f"{reason}; it may be cut short"))


def _check_global_headers(tar: tarfile.TarFile) -> None:
    """Refuse headers about all members, which tarfile keeps, where they are many."""
    kept = sum(len(k) + len(v) for k, v in tar.pax_headers.items())
    if kept > _LARGEST_HEADER:
        raise Refusal(f"headers about all members of {kept:,} characters")


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
        self.header_bytes = 0
        self._reader = reader

    def tell(self) -> int:
        return self._reader.tell()

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LARGEST_HEADER:
            raise Refusal(f"a header of {size:,} bytes")
        self.header_bytes += size
        if self.header_bytes > _HEADERS_OF_MEMBER:
            raise Refusal(f"a member with headers of {self.header_bytes:,} bytes")
        self.last = self._reader.take(size)
        return self.last

    def seek(self, offset: int) -> None:
        distance = offset - self.tell()
        if distance < 0:
            raise Refusal("a header that points backwards")
        self._reader.skip(distance)


BROKEN_ZIP = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
    zlib.error,
    EOFError,
)
"""Whatever a hostile zip archive makes zipfile raise, when opened or read."""


def zip_members(
    archive: zipfile.ZipFile, limits: Limits, refuse: Refuse
) -> list[tuple[Member, zipfile.ZipInfo]]:
    """Return the sound members of a zip archive, in the order of its table."""
    members: list[tuple[Member, zipfile.ZipInfo]] = []
    seen: set[str] = set()
    for number, info in enumerate(archive.infolist(), start=1):
        if info.filename.endswith("/"):
            continue
        path = safe_path(info.filename)
        reason = _zip_reason(info, path, seen, limits)
        if reason:
            refuse(RefusedFile(shown_path(info.filename, limits), reason))
            continue
        seen.add(path)
        members.append((Member(number, path, info.file_size, _zip_time(info)), info))
    return members


def open_zip(raw: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Open a zip archive; Refusal where it is broken, or a bomb as a whole.

    Members that share their bytes can each look harmless.
    """
    packed_bytes = _check_directory(raw, limits)
    contents = _ZipContents(raw, limits)
    try:
        archive = zipfile.ZipFile(contents)
    except BROKEN_ZIP as broken:
        raise Refusal(f"broken zip archive ({broken})") from broken
    contents.is_open = True
    members = archive.infolist()
    unpacked_bytes = sum(member.file_size for member in members)
    if _too_expansive(unpacked_bytes, packed_bytes, limits):
        raise Refusal(too_expansive(limits))
    return archive


class _ZipContents:
    """A zip archive for zipfile, which reads as much as is asked for at once.

    Until it `is_open`, the entries of its table of contents are counted on the way:
    zipfile makes an object of each.
    """

    def __init__(self, raw: BinaryIO, limits: Limits) -> None:
        self.is_open = False
        self.seek = raw.seek
        self.tell = raw.tell
        self.seekable = raw.seekable
        self._raw = raw
        self._limits = limits

    def read(self, size: int = -1) -> bytes:
        if self.is_open:
            return self._raw.read(size)
        if size < 0:  # The end of the archive, which a comment may follow.
            return self._raw.read(_LONGEST_END)
        if size > self._limits.directory_bytes:
            raise Refusal(f"a table of contents of {size:,} bytes")
        parts: list[bytes] = []
        entries = 0
        while size > 0 and (part := self._raw.read(min(size, _STEP))):
            # A mark that two parts share is missed, which is one in so many bytes.
            entries += part.count(_ENTRY)
            if entries > self._limits.archive_members:
                raise Refusal(f"more than {self._limits.archive_members:,} members")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


_ENTRY = b"PK\x01\x02"
_STEP = 1 << 20
_LONGEST_END = (1 << 16) + 22


def _too_expansive(unpacked_bytes: int, packed_bytes: int, limits: Limits) -> bool:
    return (
        unpacked_bytes > limits.expansion_free_bytes
        and unpacked_bytes > limits.expansion_ratio * packed_bytes
    )


def open_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    """Open one member; Refusal where its header is broken or the method unknown."""
    try:
        return archive.open(info)  # type: ignore[return-value]
    except BROKEN_ZIP as broken:
        raise Refusal(f"cannot be unpacked ({broken})") from broken


def _check_directory(raw: BinaryIO, limits: Limits) -> int:
    """Look at the table of contents before it is read; give the archive's size."""
    end = raw.seek(0, 2)
    raw.seek(max(0, end - (1 << 16) - 22))
    tail = raw.read()
    mark = tail.rfind(b"PK\x05\x06")
    if mark < 0 or len(tail) < mark + 22:
        raise Refusal("broken zip archive (its end is missing)")
    (size,) = struct.unpack_from("<I", tail, mark + 12)
    if size == 0xFFFFFFFF:
        wide = tail.rfind(b"PK\x06\x06", 0, mark)
        if 0 <= wide <= len(tail) - 48:
            (size,) = struct.unpack_from("<Q", tail, wide + 40)
    if size > limits.directory_bytes:
        raise Refusal(f"a table of contents of {size:,} bytes")
    raw.seek(0)
    return end


def _zip_reason(
    info: zipfile.ZipInfo, path: str, seen: set[str], limits: Limits
) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "a link; links are not followed"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "neither file nor folder"
    if info.flag_bits & 1:
        return "encrypted"
    if _too_expansive(info.file_size, info.compress_size, limits):
        return too_expansive(limits)
    return reason_to_refuse(path, info.file_size, seen, limits)


def _zip_time(info: zipfile.ZipInfo) -> float | None:
    year, month, day, *clock = info.date_time
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return float(calendar.timegm((year, month, day, *clock)))
