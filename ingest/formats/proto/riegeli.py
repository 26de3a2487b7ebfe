"""Messages that XLA splits into the records of a Riegeli file.

    file     ::= chunk*          24 bytes of block header at every multiple of 64 KiB
    chunk    ::= hash size hash type+count decoded_size data      40 bytes of header
    'r' data ::= compression LENGTH sizes values       sizes of the records, then they

The first record of a split message is its SplitProtoManifest: field 1 names the
message, and each field 2 stands for one further record. Those with a field 2
(`proto_merge`) are parts of the message, to be merged; the others are the content of
single large fields (machine code, constants), which nobody here reads.
Sources: riegeli `doc/riegeli_records_file_format.md`, xla `util/split_proto`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import zstandard

from hlodb.ingest.formats.proto.wire import BYTES, varint, wire_fields

_SIGNATURE = bytes.fromhex("83af70d10d884a3f")
_BLOCK, _BLOCK_HEADER, _CHUNK_HEADER = 1 << 16, 24, 40
_MERGED = 2
_FREE_BYTES, _MOST_EXPANSION = 1 << 24, 1000


def is_riegeli(data: bytes) -> bool:
    """Return whether bytes are a Riegeli file."""
    return data.startswith(_SIGNATURE)


def split_message(data: bytes) -> bytes:
    """Return a split message without its large single fields; b"" where it breaks."""
    try:
        records = list(_records(_without_block_headers(data)))
    except (ValueError, IndexError, struct.error, zlib.error, zstandard.ZstdError):
        return b""
    manifest, *parts = records or [b""]
    kinds = [
        manifest[field.payload : field.end]
        for field in wire_fields(manifest)
        if (field.number, field.wire_type) == (2, BYTES)
    ]
    return b"".join(
        part
        for kind, part in zip(kinds, parts, strict=False)
        if any(field.number == _MERGED for field in wire_fields(kind))
    )


def _without_block_headers(data: bytes) -> bytes:
    # The first of them ends the signature.
    return b"".join(
        data[start + _BLOCK_HEADER : start + _BLOCK]
        for start in range(0, len(data), _BLOCK)
    )


def _records(data: bytes) -> Iterator[bytes]:
    place = 0
    while place + _CHUNK_HEADER <= len(data):
        _, size, _, kind, _ = struct.unpack_from("<5Q", data, place)
        start = place + _CHUNK_HEADER
        place = start + size
        if chr(kind & 0xFF) == "r":
            yield from _simple(data[start:place])
        elif chr(kind & 0xFF) not in "smp":
            raise ValueError("a chunk that is no simple one")


def _simple(chunk: bytes) -> Iterator[bytes]:
    compression = chr(chunk[0])
    size, start = varint(chunk, 1)
    sizes = _inflated(compression, chunk[start : start + size])
    values = _inflated(compression, chunk[start + size :])
    place = end = 0
    while place < len(sizes):
        count, place = varint(sizes, place)
        yield values[end : end + count]
        end += count


def _inflated(compression: str, data: bytes) -> bytes:
    if compression == "\0":
        return data
    size, start = varint(data, 0)
    _require_modest(size, data)
    if compression == "z":
        # What a frame says of its size is allocated, whatever the limit.
        _require_modest(zstandard.frame_content_size(data[start:]), data)
        return zstandard.ZstdDecompressor().decompress(data[start:], size)
    if compression == "s":
        return unsnappy(data[start:])
    raise ValueError("Brotli is not read")


def _require_modest(size: int, data: bytes) -> None:
    if size > _FREE_BYTES + _MOST_EXPANSION * len(data):
        raise ValueError("grows beyond all measure when decompressed")


def unsnappy(data: bytes) -> bytes:
    """Decompress a Snappy block; raises ValueError or IndexError where it is broken.

    Elements are literals and copies of what was written before (Snappy
    `format_description.txt`).
    """
    size, place = varint(data, 0)
    _require_modest(size, data)
    out = bytearray()
    while place < len(data):
        tag = data[place]
        place += 1
        if tag & 3 == 0:
            count = tag >> 2
            if count >= 60:
                width = count - 59
                count = int.from_bytes(data[place : place + width], "little")
                place += width
            out += data[place : place + count + 1]
            place += count + 1
            continue
        if tag & 3 == 1:
            count = 4 + (tag >> 2 & 7)
            offset = (tag >> 5) << 8 | data[place]
            place += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            count = 1 + (tag >> 2)
            offset = int.from_bytes(data[place : place + width], "little")
            place += width
        if not 0 < offset <= len(out) or len(out) > size:
            raise ValueError("a copy of what was not written")
        begin = len(out) - offset
        if offset >= count:
            out += out[begin : begin + count]
        else:
            out += (out[begin:] * (count // offset + 1))[:count]
    if len(out) != size:
        raise ValueError("a block that ends early")
    return bytes(out)
