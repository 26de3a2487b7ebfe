"""What compressed files begin with, and what unpacks them."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

import zstandard

_LZMA_MEMORY = 1 << 30


class _Decompressor(Protocol):
    """What lzma and bz2 offer; gzip and zstd are brought to it below."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


class _Unzstd:
    # The library cannot bound its output, but 4 bytes become 128 KiB at most.
    _STEP = 512

    def __init__(self) -> None:
        self._zstd = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._zstd.eof

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return self._zstd.unused_data + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        waiting = self._waiting + data
        self._waiting = waiting[self._STEP :]
        return self._zstd.decompress(waiting[: self._STEP])


_BROKEN = (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError)


class Compression(NamedTuple):
    """A way to compress: `broken` is what its machines raise of bad data."""

    start: re.Pattern[bytes]
    name: str
    make: Callable[[], _Decompressor]
    broken: tuple[type[Exception], ...] = _BROKEN


_COMPRESSIONS = (
    Compression(re.compile(rb"\x1f\x8b\x08"), "gzip", _Gunzip),
    Compression(
        re.compile(rb"\xfd7zXZ\x00"),
        "xz",
        lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY),
    ),
    Compression(re.compile(rb"\x28\xb5\x2f\xfd"), "zstd", _Unzstd),
    Compression(
        re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bzip2", bz2.BZ2Decompressor
    ),
)


def compression_of(head: bytes) -> Compression | None:
    """Tell by its first ten bytes how a file is compressed; None where it isn't."""
    return next((c for c in _COMPRESSIONS if c.start.match(head)), None)
