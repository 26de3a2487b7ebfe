"""Zip archives made to do harm, or broken."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Callable

import pytest

from hlodb.ingest.sources.discover import Limits, RefusedFile
from hlodb.ingest.sources.units import read_zip_units
from tests.ingest.dumps import FILES, packed_zip
from tests.ingest.sources.reading_archives import (
    DEVICE,
    GOOD,
    GROWS,
    HLO,
    LINK,
    OUT,
    SOUND,
    read,
)


def zip_with(change: Callable[[zipfile.ZipInfo], None], name: str = "x.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(GOOD, HLO)
        info = zipfile.ZipInfo(name)
        change(info)
        archive.writestr(info, b"BufferAssignment:\n")
    return packed.getvalue()


def linked(info: zipfile.ZipInfo) -> None:
    info.external_attr = 0o120777 << 16


def device(info: zipfile.ZipInfo) -> None:
    info.external_attr = 0o020666 << 16


def plain(info: zipfile.ZipInfo) -> None:
    info.date_time = (1980, 1, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("/etc/passwd", plain, OUT),
        ("../x.txt", plain, OUT),
        ("a\\..\\..\\x.txt", plain, OUT),
        ("c:/x.txt", plain, OUT),
        ("x.txt", linked, LINK),
        ("x.txt", device, DEVICE),
        ("x.zip", plain, "an archive inside an archive; give it on its own"),
    ],
)
def test_zip_members_that_are_refused(
    name: str, change: Callable[[zipfile.ZipInfo], None], reason: str
) -> None:
    assert read(zip_with(change, name)) == ([GOOD], [RefusedFile(name, reason)])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zip_with_two_members_of_one_name() -> None:
    second = "a second member of this name; the first is read"
    assert read(zip_with(plain, GOOD)) == ([GOOD], [RefusedFile(GOOD, second)])


def test_encrypted_zip_member() -> None:
    packed = bytearray(zip_with(plain))
    local = packed.index(b"PK\x03\x04", 1)
    central = packed.index(b"PK\x01\x02", packed.index(b"PK\x01\x02") + 1)
    packed[local + 6] |= 1
    packed[central + 8] |= 1
    assert read(bytes(packed)) == ([GOOD], [RefusedFile("x.txt", "encrypted")])


def test_zip_member_without_a_name() -> None:
    packed = zip_with(plain).replace(b"x.txt", b"\0.txt")
    assert read(packed) == ([GOOD], [RefusedFile("", OUT)])


def test_zip_member_with_wrong_content() -> None:
    packed = zip_with(plain).replace(b"BufferAssignment", b"BufferAssignmenT")
    assert read(packed) == (
        [GOOD],
        [RefusedFile("x.txt", "cannot be unpacked: Bad CRC-32 for file 'x.txt'")],
    )


def test_zip_member_of_unknown_compression() -> None:
    packed = bytearray(zip_with(plain))
    local = packed.index(b"PK\x03\x04", 1)
    central = packed.index(b"PK\x01\x02", packed.index(b"PK\x01\x02") + 1)
    packed[local + 8] = packed[central + 10] = 93
    paths, [refused] = read(bytes(packed))
    assert (paths, refused.path) == ([GOOD], "x.txt")
    assert refused.reason.startswith("cannot be unpacked")


def test_zip_bomb() -> None:
    small = Limits(expansion_free_bytes=1000)
    packed = packed_zip({GOOD: HLO, "x.txt": bytes(10_000_000)})
    assert read(packed, small) == ([GOOD], [RefusedFile("x.txt", GROWS)])


def test_zip_bomb_of_members_that_share_their_bytes() -> None:
    packed = packed_zip({"x.txt": bytes(500_000)})
    entry = packed[packed.index(b"PK\x01\x02") : packed.index(b"PK\x05\x06")]
    table = entry * 50
    start = packed.index(b"PK\x01\x02")
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 50, 50, len(table), start, 0)
    small = Limits(expansion_free_bytes=1000)
    assert read(packed[:start] + table + end, small) == (
        [],
        [RefusedFile("a", GROWS)],
    )


def test_zip_with_too_long_a_table_of_contents() -> None:
    packed = packed_zip(FILES)
    paths, refused = read(packed, Limits(directory_bytes=100))
    [(path, reason, _)] = refused
    assert (paths, path) == ([], "a")
    assert reason.startswith("a table of contents of ")
    assert read(packed, Limits(archive_members=3)) == (
        [],
        [RefusedFile("a", "more than 3 members")],
    )


def test_entries_of_a_zip_are_counted_as_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No more of the table is read than its first step; zipfile sees none of it."""
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"a"
    fields = (20, 20, 0, 0, 0, 33, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0)
    table = b"".join(
        struct.pack("<4s6H3I5H2I", b"PK\1\2", *fields) + b"%08x" % n
        for n in range(100_000)
    )
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 9, 9, len(table), len(local), 0)
    packed = io.BytesIO(local + table + end)
    most = 0

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            nonlocal most
            data = super().read(size)
            most += len(data)
            return data

    refused: list[RefusedFile] = []
    monkeypatch.setattr(zipfile, "ZipInfo", None)
    limits = Limits(archive_members=1000)
    units = read_zip_units(
        lambda: Watched(packed.getvalue()), "a", limits, refused.append
    )
    assert list(units) == []
    assert refused == [RefusedFile("a", "more than 1,000 members")]
    assert most < 1_300_000 < len(table)


def test_the_table_that_zipfile_reads_is_the_one_that_is_limited() -> None:
    """An end record of the wide form counts for zipfile, whatever the other says."""
    packed = packed_zip(SOUND | {"x.txt": random.Random(1).randbytes(60_000)})
    at = packed.index(b"PK\5\6")
    fields = (44, 45, 45, 0, 0, 1, 1, 50_000, at - 50_000)
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", *fields)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    paths, refused = read(
        packed[:at] + wide + locator + packed[at:], Limits(directory_bytes=10_000)
    )
    assert paths == []
    assert refused == [RefusedFile("a", "a table of contents of 50,000 bytes")]


@pytest.mark.parametrize("length", [4, 30, 100, -1])
def test_zip_cut_short(length: int) -> None:
    assert read(packed_zip(SOUND)[:length]) == (
        [],
        [RefusedFile("a", "broken zip archive (its end is missing)")],
    )
