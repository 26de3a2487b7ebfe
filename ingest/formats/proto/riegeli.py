"""Messages that XLA writes as the records of a Riegeli file.

    file     ::= chunk*          24 bytes of block header at every multiple of 64 KiB
    chunk    ::= hash size hash type+count decoded_size data      40 bytes of header
    'r' data ::= compression LENGTH sizes values       sizes of the records, then they

`--xla_dump_hlo_as_riegeli` and executables for GPUs split a message: the first record
is a SplitProtoManifest, whose field 1 names the message and each field 2 stands for one
further record. Those with a field 2 (`proto_merge`) are parts of the message, to be
merged; the others are the content of single large fields (machine code, constants),
which nobody here reads. A profile has no manifest: each record is a part of it.

XLA 0.12 compresses HLO with Snappy. Brotli, and transposed chunks (type `t`), are not
read; no dump has been seen with them.
Sources: riegeli `doc/riegeli_records_file_format.md`, xla `util/split_proto`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import zstandard

from hlodb.ingest.formats.proto.wire import BYTES, payload_of, varint, wire_fields

SIGNATURE = bytes.fromhex("83af70d10d884a3f")
"""What stands at byte 16 of every file, and in the first of its headers."""

_BLOCK, _BLOCK_HEADER, _CHUNK_HEADER = 1 << 16, 24, 40
_MESSAGE_TYPE, _PARTS, _MERGED = 1, 2, 2
_FREE_BYTES, _MOST_EXPANSION = 1 << 24, 1000
_MOST_BYTES = 1 << 30
_REMEDY = "dump again with --xla_dump_hlo_as_text or --xla_dump_hlo_as_proto"


class RecordsMessage(NamedTuple):
    """The message that records make, its type where they name it, and what is wrong."""

    message: bytes
    message_type: str
    fault: str


class _Unreadable(ValueError):
    """A sound form of records that is not read here."""


def is_riegeli(data: bytes) -> bool:
    """Return whether bytes are a Riegeli file."""
    return data.startswith(SIGNATURE)


def split_message(data: bytes) -> bytes:
    """Return a split message without its large single fields; b"" where it breaks."""
    found = message_of_records(data)
    return b"" if found.fault or not found.message_type else found.message


def message_of_records(data: bytes) -> RecordsMessage:
    """Return the message in a file, without its large single fields; never raises."""
    records: list[bytes] = []
    fault = ""
    try:
        for record in _records(_without_block_headers(data)):
            records.append(record)
    except _Unreadable as error:
        fault = f"{error}; {_REMEDY}"
    except (ValueError, IndexError, struct.error, zlib.error, zstandard.ZstdError) as e:
        fault = f"broken Riegeli records ({e}); was the file copied as text?"
    if not records:
        return RecordsMessage(b"", "", fault or "a Riegeli file without records")
    manifest, *parts = records
    message_type = _message_type(manifest)
    if not message_type:
        return RecordsMessage(b"".join(records), "", fault)
    kinds = [
        manifest[field.payload : field.end]
        for field in wire_fields(manifest)
        if (field.number, field.wire_type) == (_PARTS, BYTES)
    ]
    if len(parts) < len(kinds) and not fault:
        fault = f"{len(kinds) - len(parts)} of {len(kinds)} records are missing"
    merged = b"".join(
        part
        for kind, part in zip(kinds, parts, strict=False)
        if any(field.number == _MERGED for field in wire_fields(kind))
    )
    return RecordsMessage(merged, message_type, fault)


def _message_type(manifest: bytes) -> str:
    """Return the type that a manifest names; other messages begin with no name."""
    name = payload_of(manifest, _MESSAGE_TYPE).decode(errors="replace")
    is_name = all(part.isidentifier() for part in name.split("."))
    return name if is_name and "." in name else ""


def _without_block_headers(data: bytes) -> bytes:
    # The first of them ends the signature.
    return b"".join(
        data[start + _BLOCK_HEADER : start + _BLOCK]
        for start in range(0, len(data), _BLOCK)
    )


def _records(data: bytes) -> Iterator[bytes]:
    place = total = 0
    while place < len(data):
        _, size, _, kind, _ = struct.unpack_from("<5Q", data, place)
        start = place + _CHUNK_HEADER
        place = start + size
        if place > len(data):
            raise ValueError(f"a chunk has {len(data) - start:,} of its {size:,} bytes")
        letter = chr(kind & 0xFF)
        if letter == "r":
            for record in _simple(data[start:place]):
                total += len(record)
                yield record
        elif letter == "t":
            raise _Unreadable("Riegeli records in transposed chunks are not read")
        elif letter not in "smp":
            raise ValueError("a chunk of an unknown type")
        if total > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES:,} bytes of records")


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
    if end != len(values):
        raise ValueError("records of other sizes than the chunk says")


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
    if compression == "b":
        raise _Unreadable("Riegeli records compressed with Brotli are not read")
    raise ValueError("an unknown compression")


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
