"""Bytes out of files that may be compressed, cut short or hostile."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

import zstandard

from hlodb.ingest.sources.limits import Limits, Refusal

_LZMA_MEMORY = 1 << 30


class _Decompressor(Protocol):
    """What lzma and bz2 offer; gzip, zlib and zstd are brought to it below."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflate:
    def __init__(self, wbits: int) -> None:
        self._zlib = zlib.decompressobj(wbits=wbits)

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
    Compression(re.compile(rb"\x1f\x8b\x08"), "gzip", lambda: _Inflate(31)),
    # As Python's zlib begins at every level but 2 to 5, whose second byte is a letter.
    Compression(re.compile(rb"\x78[\x01\x9c\xda]"), "zlib", lambda: _Inflate(15)),
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
    """Return a file's compression by its first ten bytes; None where there is none."""
    return next((c for c in _COMPRESSIONS if c.start.match(head)), None)


_CHUNK = 1 << 18
_PLAIN_CHUNK = 1 << 20

_START_BYTES = 10


class LimitedReader:
    """A stream read forward only, decompressed where its first bytes call for it.

    `problem` says why the content ended early; it is empty for sound streams.
    Raises Refusal where `limits` are passed, OSError where the stream can't be read.
    """

    def __init__(self, raw: BinaryIO, limits: Limits) -> None:
        """Begin at the current place of `raw`, which stays the caller's to close."""
        self.problem = ""
        self._raw = raw
        self._limits = limits
        self._consumed = 0
        self._position = 0
        self._pieces = self._decompressed()
        self._rest = memoryview(b"")

    def take(self, count: int) -> bytes:
        """Read the next `count` bytes, fewer only at the end."""
        parts: list[memoryview] = []
        missing = count
        while missing > 0:
            if not self._rest:
                self._rest = memoryview(next(self._pieces, b""))
                if not self._rest:
                    break
            part, self._rest = self._rest[:missing], self._rest[missing:]
            missing -= len(part)
            parts.append(part)
        self._position += count - missing
        if len(parts) == 1 and isinstance(whole := parts[0].obj, bytes):
            return whole if len(whole) == len(parts[0]) else bytes(parts[0])
        return b"".join(parts)

    def skip(self, count: int) -> None:
        """Pass over `count` bytes, or to the end."""
        while count > 0:
            passed = len(self.take(min(count, _CHUNK)))
            if not passed:
                break
            count -= passed

    def take_all(self) -> bytes:
        """Read all that is left; Refusal where that is too much for one file."""
        data = self.take(self._limits.file_bytes + 1)
        if len(data) > self._limits.file_bytes:
            raise Refusal(too_large(self._limits))
        return data

    def pieces(self) -> Iterator[bytes]:
        """Yield all that is left, bit by bit; Refusal if it is too much for a file.

        Nothing may have been taken from the reader before.
        """
        count = 0
        for piece in self._pieces:
            count += len(piece)
            if count > self._limits.file_bytes:
                raise Refusal(too_large(self._limits))
            yield piece

    def tell(self) -> int:
        """Return the number of uncompressed bytes passed so far."""
        return self._position

    def _decompressed(self) -> Iterator[bytes]:
        head = self._fill(b"")
        if (compression := compression_of(head)) is not None:
            return self._inflate(head, compression)
        return self._plain(head)

    def _plain(self, head: bytes) -> Iterator[bytes]:
        data = head
        while data:
            yield data
            data = self._read_raw(_PLAIN_CHUNK)

    def _inflate(self, data: bytes, compression: Compression) -> Iterator[bytes]:
        machine, produced = compression.make(), 0
        while True:
            try:
                piece = machine.decompress(data, _CHUNK)
            except compression.broken as broken:
                self.problem = f"its {compression.name} data is broken ({broken})"
                return
            if piece:
                produced += len(piece)
                self._check_ratio(produced)
                yield piece
            if machine.eof:
                # Another stream may follow, behind zeros as padding.
                data = self._fill(machine.unused_data.lstrip(b"\0")).lstrip(b"\0")
                if not compression.start.match(data):
                    self.problem = (
                        f"bytes follow its {compression.name} data" if data else ""
                    )
                    return
                machine = compression.make()
                continue
            data = self._read_raw() if machine.needs_input else b""
            if machine.needs_input and not data:
                self.problem = f"its {compression.name} data ends early"
                return

    def _fill(self, data: bytes) -> bytes:
        while len(data) < _START_BYTES and (more := self._read_raw()):
            data += more
        return data

    def _read_raw(self, count: int = _CHUNK) -> bytes:
        data = self._raw.read(count)
        self._consumed += len(data)
        return data

    def _check_ratio(self, produced: int) -> None:
        limits = self._limits
        if (
            produced > limits.expansion_free_bytes
            and produced > limits.expansion_ratio * self._consumed
        ):
            raise Refusal(too_expansive(limits))


def too_large(limits: Limits) -> str:
    """Return the refusal of a file that exceeds the limit of bytes."""
    return f"larger than {limits.file_bytes:,} bytes, the limit for one file"


def too_expansive(limits: Limits) -> str:
    """Return the refusal of compressed data that expands beyond the limit."""
    return (
        f"grows to more than {limits.expansion_ratio:,} times its size when "
        "decompressed, the limit"
    )
