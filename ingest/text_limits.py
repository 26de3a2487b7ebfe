"""Limits on texts: how long a line may be, how deep brackets may nest."""

from __future__ import annotations

from hlodb.ingest.file_kinds import NESTED_KINDS, TEXT_KINDS, Kind
from hlodb.ingest.formats.scan import deepest, remembered
from hlodb.ingest.limits import Limits, Refusal


def require_modest(data: bytes, kind: Kind, limits: Limits) -> None:
    """Raise Refusal where a text has too long a line or nests too deep."""
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
