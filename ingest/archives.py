"""What all archives have in common: how to know one, and which members to trust.

Names that lead out of the archive, links, devices and second members of one name are
refused; what is sound is read, as a stream, and never unpacked to disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from hlodb.ingest.file_kinds import ARCHIVE_SUFFIXES
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.limits import Limits, RefusedFile
from hlodb.ingest.streams import LimitedReader, too_large

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
    """Tell by its name whether a file is a packed directory."""
    return name.lower().endswith(ARCHIVE_SUFFIXES)


def archive_form(raw: BinaryIO, limits: Limits) -> ArchiveForm | None:
    """Tell by its beginning whether a stream is an archive, and of which form."""
    reader = LimitedReader(raw, limits)
    head = reader.take(TAR_BLOCK)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if len(head) == TAR_BLOCK and (head[257:262] == b"ustar" or _has_checksum(head)):
        return "tar"
    return None


def _has_checksum(header: bytes) -> bool:
    """Tell whether this is a tar header of 1979, which has no magic word."""
    try:
        stored = int(header[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return stored == sum(header[:148]) + 8 * ord(" ") + sum(header[156:])


def reason_to_refuse(path: str, size: int, seen: set[str], limits: Limits) -> str:
    """Say why a member with this safe path is not read; empty if it is."""
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
    """Give a member's path inside the archive; empty where it leads out of it."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name:
        return ""
    if len(parts[0]) == 2 and parts[0][1] == ":":
        return ""
    return printable("/".join(part for part in parts if part not in ("", ".")))
