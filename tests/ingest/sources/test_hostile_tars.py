"""Tar archives made to do harm, or broken."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from hlodb.ingest.sources.discover import Limits, RefusedFile
from hlodb.ingest.sources.limits import DEFAULT_LIMITS
from hlodb.ingest.sources.units import read_tar_units
from tests.ingest.dumps import packed_tar
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


def member(
    name: str, type_: bytes = tarfile.REGTYPE, linkname: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = type_, linkname
    return info


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
    name = f"{info.name[:4096]}…" if len(info.name) > 4096 else info.name
    assert read(packed_tar(SOUND, [info])) == ([GOOD], [RefusedFile(name, reason)])


def test_tar_bomb() -> None:
    packed = gzip.compress(packed_tar({GOOD: HLO, "x.txt": bytes(100_000_000)}))
    small = Limits(expansion_free_bytes=1000)
    paths, refused = read(packed, small)
    assert paths == [GOOD]
    assert RefusedFile("a", f"the rest is not read: {GROWS}") in refused


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
            # Python 3.13 passes over such a header.
            ("broken tar archive", "the archive ends without its end mark"),
        ),
    ],
)
def test_tar_with_hostile_headers(tail: bytes, reason: str | tuple[str, str]) -> None:
    paths, refused = read(START + tail)
    assert paths[:1] == [GOOD]
    reasons = (reason,) if isinstance(reason, str) else reason
    assert any(r in told for path, told, _ in refused if path == "a" for r in reasons)


def test_tar_of_nothing_but_long_names() -> None:
    chain = header("x", "2", b"L") + b"xx".ljust(512, b"\0")
    paths, refused = read(START + chain * 5000 + END)
    assert paths == [GOOD]
    assert [path for path, *_ in refused] == ["a"]


def test_tar_of_names_that_are_too_many() -> None:
    names = [member(f"{n:03}{'a' * 90}") for n in range(20)]
    small = Limits(directory_bytes=1000)
    paths, refused = read(packed_tar(SOUND, names), small)
    assert (paths[0], len(paths)) == (GOOD, 11)
    assert refused == [
        RefusedFile("a", "the rest is not read: its names take more than 1,061 bytes")
    ]


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_tar_of_headers_that_are_too_many(kind: bytes) -> None:
    """One member after the other with headers that are kept, or many of one member."""
    each = 600_000
    headers = b""
    for number in range(10):
        text = b"%d k%d=" % (each, number)
        record = text + b"x" * (each - len(text) - 1) + b"\n"
        headers += header("x", f"{each:o}", kind) + record.ljust(each + 64, b"\0")
        assert len(headers) % 512 == 0
        headers += header(f"m{number}", "0") if kind == tarfile.XGLTYPE else b""
    paths, refused = read(START + headers + header("last", "0") + END)
    assert paths[:1] == [GOOD] and "last" not in paths
    [(path, reason, _)] = refused
    assert path == "a" and " of " in reason and "headers" in reason


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
    assert [path for path, *_ in refused] == ["a"]


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
