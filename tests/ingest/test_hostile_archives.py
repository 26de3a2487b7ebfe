"""Archives made to do harm, or broken: what is sound is read, the rest is told."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.archived_units import read_tar_units, read_zip_units
from hlodb.ingest.archives import safe_path
from hlodb.ingest.discover import Limits, RefusedFile, discover
from hlodb.ingest.limits import DEFAULT_LIMITS
from tests.ingest.dumps import FILES, packed_tar, packed_zip

GOOD = "module_0001.f.before_optimizations.txt"
HLO = b"HloModule f\n"
SOUND = {GOOD: HLO}


def read(
    packed: bytes, limits: Limits = DEFAULT_LIMITS
) -> tuple[list[str], list[RefusedFile]]:
    """Read an archive: (paths of files read, what was refused)."""
    form = read_zip_units if packed[:2] == b"PK" else read_tar_units
    refused: list[RefusedFile] = []
    units = form(lambda: io.BytesIO(packed), "a", limits, refused.append)
    return [file.path for unit in units for file in unit.files], refused


def member(
    name: str, type_: bytes = tarfile.REGTYPE, linkname: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = type_, linkname
    return info


LINK = "a link; links are not followed"
DEVICE = "neither file nor folder"
OUT = "its name leads out of the archive"


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (member("/etc/passwd"), OUT),
        (member("../x.txt"), OUT),
        (member("a/../../x.txt"), OUT),
        (member("..\\x.txt"), OUT),
        (member("C:\\x.txt"), OUT),
        (member("x.txt", tarfile.SYMTYPE, "/etc/passwd"), LINK),
        (member("x.txt", tarfile.LNKTYPE, GOOD), LINK),
        (member("x.txt", tarfile.CHRTYPE), DEVICE),
        (member("x.txt", tarfile.BLKTYPE), DEVICE),
        (member("x.txt", tarfile.FIFOTYPE), DEVICE),
        (member(GOOD), "a second member of this name; the first is read"),
        (member(f"./{GOOD}"), "a second member of this name; the first is read"),
        (member("x.tar.gz"), "an archive inside an archive; give it on its own"),
        (member("a" * 5000), "its name is longer than 4,096 characters"),
    ],
)
def test_tar_members_that_are_refused(info: tarfile.TarInfo, reason: str) -> None:
    assert read(packed_tar(SOUND, [info])) == ([GOOD], [RefusedFile(info.name, reason)])


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


GROWS = "grows to more than 1,000 times its size when decompressed, the limit"


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
    [(path, reason)] = refused
    assert (paths, path) == ([], "a")
    assert reason.startswith("a table of contents of ")
    assert read(packed, Limits(archive_members=3)) == (
        [],
        [RefusedFile("a", "more than 3 members")],
    )


@pytest.mark.parametrize("length", [4, 30, 100, -1])
def test_zip_cut_short(length: int) -> None:
    assert read(packed_zip(SOUND)[:length]) == (
        [],
        [RefusedFile("a", "broken zip archive (its end is missing)")],
    )


def test_tar_bomb() -> None:
    packed = gzip.compress(packed_tar({GOOD: HLO, "x.txt": bytes(100_000_000)}))
    small = Limits(expansion_free_bytes=1000)
    paths, refused = read(packed, small)
    assert paths == [GOOD]
    assert RefusedFile("a", f"the rest is not read: {GROWS}") in refused


def test_members_larger_than_the_limit() -> None:
    files = {"x.txt": bytes(2000), GOOD: HLO}
    reason = "larger than 1,000 bytes, the limit for one file"
    expected = ([GOOD], [RefusedFile("x.txt", reason)])
    assert read(packed_tar(files), Limits(file_bytes=1000)) == expected
    assert read(packed_zip(files), Limits(file_bytes=1000)) == expected


def test_too_many_members() -> None:
    files = {f"module_{n:04}.f.before_optimizations.txt": HLO for n in range(9)}
    paths, refused = read(packed_tar(files), Limits(archive_members=3))
    assert paths == sorted(files)[:3]
    assert refused == [
        RefusedFile("a", "the rest is not read: more than 3 members"),
    ]


def header(name: str, size: str, type_: bytes = tarfile.REGTYPE) -> bytes:
    """Build a tar header whose size field holds any text."""
    block = bytearray(member(name, type_).tobuf(tarfile.USTAR_FORMAT)[:512])
    block[124:136] = size.encode("latin-1").ljust(12, b"\0")[:12]
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


END = bytes(1024)
START = packed_tar(SOUND, end=False)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (
            header("x", "77777777777", tarfile.XHDTYPE),
            "a header of 8,589,934,592 bytes",
        ),
        (header("x", "77777777777", b"L"), "a header of 8,589,934,592 bytes"),
        (header("x", "\xff" * 12), "the archive ends without its end mark"),
        (header("x", "\xff" * 9 + "\0" * 3), "a header that points backwards"),
        (header("x.txt", "1000") + b"HloModule", "unexpected end of data"),
        (b"\1" * 512 + END, "the archive ends without its end mark"),
        (b"\1" * 100, "the archive ends without its end mark"),
        (b"", "the archive ends without its end mark"),
        (
            header("x", "31", tarfile.XHDTYPE)
            + b"31 GNU.sparse.size=nonsense....\n".ljust(512, b"\0")
            + header("y", "0"),
            "broken tar archive",
        ),
    ],
)
def test_tar_with_hostile_headers(tail: bytes, reason: str) -> None:
    paths, refused = read(START + tail)
    assert paths[:1] == [GOOD]
    assert any(reason in told for path, told in refused if path == "a")


def test_tar_of_nothing_but_long_names() -> None:
    chain = header("x", "2", b"L") + b"xx".ljust(512, b"\0")
    paths, refused = read(START + chain * 5000 + END)
    assert paths == [GOOD]
    assert [path for path, _ in refused] == ["a"]


def test_sparse_tar_member() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        info = member("x.txt")
        info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": "1099511627776"}
        tar.addfile(info)
        info = member(GOOD)
        info.size = len(HLO)
        tar.addfile(info, io.BytesIO(HLO))
    sparse = RefusedFile("x.txt", "a sparse file; pack it without --sparse")
    assert read(packed.getvalue()) == ([GOOD], [sparse])


@pytest.mark.parametrize(("cut", "whole"), [(600, 0), (2100, 1), (3600, 2)])
def test_tar_cut_short_gives_what_there_is(cut: int, whole: int) -> None:
    text = HLO * 50
    names = [f"module_000{n}.f.before_optimizations.txt" for n in range(3)]
    packed = packed_tar(dict.fromkeys(names, text))[:cut]
    refused: list[RefusedFile] = []
    units = read_tar_units(
        lambda: io.BytesIO(packed), "a", DEFAULT_LIMITS, refused.append
    )
    *sound, last = [file for unit in units for file in unit.files]
    assert [file.data for file in sound] == [text] * whole
    assert text.startswith(last.data)
    assert last.problem == "its archive ends early"
    assert [path for path, _ in refused] == ["a"]


class Counted(io.BytesIO):
    """Remembers how far it has been read."""

    furthest = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.furthest = max(self.furthest, self.tell())
        return data


def test_tar_hands_out_units_while_it_reads() -> None:
    text = HLO + b" " * 1_000_000
    files = {f"module_000{n}.f.before_optimizations.txt": text for n in range(9)}
    packed = packed_tar(files)
    opened: list[Counted] = []

    def open_archive() -> Counted:
        opened.append(Counted(packed))
        return opened[-1]

    units = read_tar_units(open_archive, "a", DEFAULT_LIMITS, lambda _: None)
    next(units)
    headers, contents = opened
    assert headers.closed
    assert contents.furthest < len(packed) / 4


def test_tar_whose_companions_lie_far_apart() -> None:
    text = b"BufferAssignment:\n" + b" " * 1000
    first = {f"module_000{n}.f-buffer-assignment.txt": text for n in range(5)}
    second = {f"module_000{n}.f-live-range.txt": HLO for n in range(5)}
    paths, refused = read(packed_tar({**first, **second}), Limits(held_bytes=2500))
    assert sorted(paths) == sorted([*list(first)[:2], *second])
    far = (
        "its companions lie too far off in the archive;"
        " pack it again with tar --sort=name"
    )
    assert refused == [RefusedFile(path, far) for path in list(first)[2:]]


def test_garbage_with_the_name_of_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(b"not a tar at all")
    [source] = discover([str(archive)])
    assert list(source.units()) == []
    reason = "neither a tar nor a zip archive, or cut short"
    assert source.refused == [RefusedFile("x.tar.gz", reason)]
    assert not source.has_dump


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.txt", "a/b.txt"),
        ("./a//b.txt", "a/b.txt"),
        ("a\\b.txt", "a/b.txt"),
        ("a..b/c...txt", "a..b/c...txt"),
        ("a/\udcff.txt", "a/\\udcff.txt"),
        ("", ""),
        ("/", ""),
        ("..", ""),
        ("a/..", ""),
        ("a\0b", ""),
        ("\\\\host\\share", ""),
    ],
)
def test_safe_path(name: str, expected: str) -> None:
    assert safe_path(name) == expected


PACKED = {
    "tar": packed_tar(FILES),
    "tar.gz": gzip.compress(packed_tar(FILES)),
    "zip": packed_zip(FILES),
}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(PACKED)),
    st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=20
    ),
    st.integers(0, 20_000),
)
def test_damaged_archives_end_in_files_and_refusals(
    form: str, changes: list[tuple[int, int]], length: int
) -> None:
    packed = bytearray(PACKED[form])
    for place, value in changes:
        packed[place % len(packed)] = value
    data = bytes(packed) if length % 2 else bytes(packed[: length % len(packed) + 2])
    paths, refused = read(data, Limits(file_bytes=1 << 20))
    assert len(paths) + len(refused) >= 0
