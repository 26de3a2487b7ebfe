"""How much of an input is read before it counts as hostile, and what is then said.

A text is refused where a line is too long or where brackets nest too deep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hlodb.ingest.formats.scan import deepest, printable, remembered
from hlodb.ingest.recognise.file_kinds import FACT_KINDS, NESTED_KINDS, TEXT_KINDS, Kind
from hlodb.ingest.records import Tally


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a dump may make hlodb read; all can be set.

    `file_bytes`: the largest file, uncompressed.
    `fact_bytes`: the largest file of flags, targets, metadata or measured memory.
    `line_bytes`: the longest line of a text.
    `expansion_ratio`: bytes a compressed stream may become per byte read, beyond its
    first `expansion_free_bytes`.
    `archive_members`: files and folders in one archive.
    `held_bytes`: files of one tar archive waiting for their companions.
    `directory_bytes`: the table of contents of a zip archive, names in a tar archive.
    `path_characters`: the longest path.
    `nesting_depth`: brackets inside brackets of a text proto or of JSON, HIGHEST at
    most. HLO text needs no such limit: its scanner counts brackets and keeps no stack.
    """

    file_bytes: int = 1 << 30
    fact_bytes: int = 8 << 20
    line_bytes: int = 64 << 20
    expansion_ratio: int = 1000
    expansion_free_bytes: int = 16 << 20
    archive_members: int = 250_000
    held_bytes: int = 2 << 30
    directory_bytes: int = 256 << 20
    path_characters: int = 4096
    nesting_depth: int = 100


DEFAULT_LIMITS = Limits()

HIGHEST = {"nesting_depth": 100}
"""Limits that may not be higher: protobuf itself reads messages 100 deep."""


class RefusedFile(NamedTuple):
    """A file, folder or archive member that is not read, and why.

    One with `others` stands for so many that are not named.
    """

    path: str
    reason: str
    others: int = 0


class Refusals(Tally[RefusedFile]):
    """The first files of a run that are not read; the others are counted."""

    def append(self, item: RefusedFile) -> None:
        """Keep a refused file, or count those that it stands for."""
        if item.others:
            self.left_out += item.others
        else:
            super().append(item)

    def summed_up(self) -> list[RefusedFile]:
        """Return those that are kept, and one that stands for the others."""
        found = list(self)
        if self.left_out:
            reason = f"{self.left_out:,} more files are not read, for such reasons"
            found.append(RefusedFile(found[-1].path, reason, self.left_out))
        return found


def shown_path(path: str, limits: Limits) -> str:
    """Return a path as it is recorded: a longer one than the limit is cut."""
    cut = path[: limits.path_characters]
    return printable(cut if len(cut) == len(path) else f"{cut}…")


class Refusal(Exception):
    """Reading stops here: a limit is passed or the input cannot be trusted."""


def require_modest(data: bytes, kind: Kind, limits: Limits) -> None:
    """Raise Refusal where a text has too long a line or nests too deep."""
    if kind in FACT_KINDS and len(data) > limits.fact_bytes:
        limit = f"{limits.fact_bytes:,} bytes"
        raise Refusal(f"larger than {limit}, the limit for a file of its kind")
    if kind in TEXT_KINDS and _has_long_line(data, limits.line_bytes):
        raise Refusal(f"a line is longer than {limits.line_bytes:,} bytes, the limit")
    if kind in NESTED_KINDS and _nests_deeper(data, limits.nesting_depth):
        raise Refusal(f"brackets nest deeper than {limits.nesting_depth}, the limit")


def _has_long_line(data: bytes, most: int) -> bool:
    start = 0
    while len(data) - start > most:
        end = data.rfind(b"\n", start, start + most + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def _nests_deeper(data: bytes, most: int) -> bool:
    brackets = sum(map(data.count, (b"{", b"[", b"(")))
    return brackets > most and _deepest(data) > most


# The modules of a run mostly have equal flags and targets.
@remembered
def _deepest(data: bytes) -> int:
    return deepest(data.decode("utf-8", "replace"))
