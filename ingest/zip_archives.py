"""Members of a zip archive, by its table of contents."""

from __future__ import annotations

import calendar
import stat
import struct
import zipfile
import zlib
from typing import BinaryIO

from hlodb.ingest.archives import (
    Member,
    Refuse,
    reason_to_refuse,
    safe_path,
)
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.limits import Limits, Refusal, RefusedFile
from hlodb.ingest.streams import too_expansive

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
    """Give the sound members of a zip archive, in the order of its table."""
    members: list[tuple[Member, zipfile.ZipInfo]] = []
    seen: set[str] = set()
    for number, info in enumerate(archive.infolist(), start=1):
        if info.filename.endswith("/"):
            continue
        path = safe_path(info.filename)
        reason = _zip_reason(info, path, seen, limits)
        if reason:
            refuse(RefusedFile(printable(info.filename), reason))
            continue
        seen.add(path)
        members.append((Member(number, path, info.file_size, _zip_time(info)), info))
    return members


def open_zip(raw: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Open a zip archive; Refusal where it is broken, or a bomb as a whole.

    Members that share their bytes can each look harmless.
    """
    packed_bytes = _check_directory(raw, limits)
    try:
        archive = zipfile.ZipFile(raw)
    except BROKEN_ZIP as broken:
        raise Refusal(f"broken zip archive ({broken})") from broken
    members = archive.infolist()
    if len(members) > limits.archive_members:
        raise Refusal(f"more than {limits.archive_members:,} members")
    unpacked_bytes = sum(member.file_size for member in members)
    if _too_expansive(unpacked_bytes, packed_bytes, limits):
        raise Refusal(too_expansive(limits))
    return archive


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
