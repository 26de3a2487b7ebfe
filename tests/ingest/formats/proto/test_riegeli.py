"""Split messages in Riegeli files, and Snappy against the one in pyarrow."""

import struct

import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.proto.riegeli import (
    RecordsMessage,
    is_riegeli,
    message_of_records,
    split_message,
    unsnappy,
)
from hlodb.ingest.formats.proto.wire import encoded

SIGNATURE = bytes.fromhex(
    "83af70d10d884a3f 0000000000000000 4000000000000000"
    "91bac23c9287e1a9 0000000000000000 e19f13c0e9b1c372"
    "7300000000000000 0000000000000000"
)
"""The first 64 bytes of every file: a block header, and a chunk without records."""

MERGED, MACHINE_CODE = encoded(2, b""), encoded(3, b"\x0a\x02\x08\x04\x10\x01")
MANIFEST = (
    encoded(1, b"xla.gpu.GpuExecutableProto")
    + encoded(2, MACHINE_CODE)
    + encoded(2, MERGED)
    + encoded(2, MERGED)
)
RECORDS = [MANIFEST, b"code" * 30_000, encoded(1, b"first"), encoded(2, b"second")]


def varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def chunk(kind: bytes, records: list[bytes], compression: str = "") -> bytes:
    values, sizes = b"".join(records), b"".join(varint(len(r)) for r in records)
    packed_values, packed_sizes = (
        packed(compression, values),
        packed(compression, sizes),
    )
    name = compression.encode() or b"\0"
    data = name + varint(len(packed_sizes)) + packed_sizes + packed_values
    count = kind[0] | len(records) << 8
    return struct.pack("<5Q", 0, len(data), 0, count, len(values)) + data


def packed(compression: str, data: bytes) -> bytes:
    if compression == "z":
        return varint(len(data)) + bytes(zstandard.ZstdCompressor().compress(data))
    if compression == "s":
        return varint(len(data)) + snappy(data)
    if compression == "b":
        return varint(len(data)) + brotli(data)
    return data


def snappy(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="snappy", asbytes=True))


def brotli(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="brotli", asbytes=True))


def file_of(*chunks: bytes) -> bytes:
    """Put chunks into a file: 24 bytes of block header at every 64 KiB."""
    data = SIGNATURE + b"".join(chunks)
    blocks = [data[:65536]]
    for start in range(65536, len(data), 65536 - 24):
        blocks.append(bytes(24) + data[start : start + 65536 - 24])
    return b"".join(blocks)


@pytest.mark.parametrize("compression", ["", "z", "s"])
def test_parts_to_be_merged_are_the_message(compression: str) -> None:
    whole = file_of(chunk(b"r", RECORDS, compression))
    assert is_riegeli(whole)
    assert split_message(whole) == encoded(1, b"first") + encoded(2, b"second")


def test_records_of_several_chunks_and_padding() -> None:
    chunks = [chunk(b"r", [record]) for record in RECORDS]
    padded = file_of(chunk(b"m", []), *chunks[:2], chunk(b"p", []), *chunks[2:])
    assert split_message(padded) == encoded(1, b"first") + encoded(2, b"second")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SIGNATURE,
        file_of(chunk(b"t", RECORDS)),
        file_of(chunk(b"r", RECORDS, "x")),
        file_of(chunk(b"r", RECORDS[:1])),
    ],
)
def test_files_that_hold_no_message(data: bytes) -> None:
    assert split_message(data) == b""


MERGED_PARTS = encoded(1, b"first") + encoded(2, b"second")
TYPE = "xla.gpu.GpuExecutableProto"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file_of(chunk(b"r", RECORDS, "s")), RecordsMessage(MERGED_PARTS, TYPE, "")),
        # A profile has no manifest: its records are parts of one message.
        (
            file_of(chunk(b"r", RECORDS[2:], "z")),
            RecordsMessage(MERGED_PARTS, "", ""),
        ),
        (
            file_of(chunk(b"r", RECORDS[:3])),
            RecordsMessage(encoded(1, b"first"), TYPE, "1 of 3 records are missing"),
        ),
        (
            file_of(chunk(b"r", RECORDS))[:-9],
            RecordsMessage(
                b"",
                "",
                "broken Riegeli records (a chunk has 120,060 of its 120,069 bytes); "
                "was the file copied as text?",
            ),
        ),
        (
            file_of(chunk(b"r", RECORDS), chunk(b"t", RECORDS)),
            RecordsMessage(
                MERGED_PARTS,
                TYPE,
                "Riegeli records in transposed chunks are not read; dump again with "
                "--xla_dump_hlo_as_text or --xla_dump_hlo_as_proto",
            ),
        ),
        (
            file_of(chunk(b"r", RECORDS, "x")),
            RecordsMessage(
                b"",
                "",
                "broken Riegeli records (an unknown compression); "
                "was the file copied as text?",
            ),
        ),
        (
            file_of(chunk(b"r", RECORDS, "b")),
            RecordsMessage(
                b"",
                "",
                "Riegeli records compressed with Brotli are not read; dump again with "
                "--xla_dump_hlo_as_text or --xla_dump_hlo_as_proto",
            ),
        ),
        (SIGNATURE, RecordsMessage(b"", "", "a Riegeli file without records")),
    ],
)
def test_what_is_wrong_with_records_is_said(
    data: bytes, message: RecordsMessage
) -> None:
    assert message_of_records(data) == message


def test_claims_of_huge_sizes_are_not_allocated() -> None:
    # A frame of 4 KiB that says it holds 30 MB, and a length that says less.
    huge = bytes(zstandard.ZstdCompressor().compress(bytes(30 << 20)))
    sizes = packed("z", varint(9))
    data = b"z" + varint(len(sizes)) + sizes + varint(9) + huge
    header = struct.pack("<5Q", 0, len(data), 0, ord("r") | 1 << 8, 9)
    assert split_message(file_of(header + data)) == b""
    with pytest.raises(ValueError, match="beyond all measure"):
        unsnappy(varint(1 << 40) + b"\0")


@given(st.lists(st.sampled_from([b"a", b"bc", bytes(70), b"xyz" * 30]), max_size=60))
def test_snappy_is_undone(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert unsnappy(snappy(data)) == data


@given(st.binary(max_size=60))
def test_broken_snappy_is_refused(data: bytes) -> None:
    try:
        unsnappy(data)
    except (ValueError, IndexError):
        return


@given(st.integers(64, 300), st.binary(max_size=3))
def test_broken_files_never_raise(place: int, change: bytes) -> None:
    whole = file_of(chunk(b"r", RECORDS[2:], "s"))
    split_message(whole[:place] + change + whole[place + len(change) :])
