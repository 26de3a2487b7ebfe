"""Inputs that nobody should have to read: each made below a folder, by name."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from hlodb.ingest.limits import Limits
from tests.ingest.dumps import packed_tar, packed_zip, write

LIMITS = Limits(
    file_bytes=200_000,
    line_bytes=50_000,
    expansion_ratio=20,
    expansion_free_bytes=10_000,
    archive_members=20,
    directory_bytes=10_000,
    path_characters=100,
    held_bytes=100_000,
    nesting_depth=15,
)
"""Smaller than by default, so that the inputs can be small."""

NAME = "module_0001.jit_f.before_optimizations.txt"
AFTER = "module_0001.jit_f.cpu_after_optimizations"
SOUND = b"""\
HloModule jit_f, entry_computation_layout={(f32[3]{0})->f32[3]{0}}

ENTRY %main.1 (x.2: f32[3]) -> f32[3] {
  ROOT %x.2 = f32[3]{0} parameter(0)
}
"""
_GOOD = {NAME: SOUND}

Make = Callable[[Path], Path]


def _folder(**files: bytes) -> Make:
    return lambda below: write(below / "dump", {NAME: SOUND} | files)


def _one(data: bytes, name: str = NAME) -> Make:
    return lambda below: write(below / "dump", {name: data})


def _beside(name: str, data: bytes) -> Make:
    """Give a sound dump with one more file."""
    return lambda below: write(below / "dump", _GOOD | {name: data})


def _file(name: str, data: bytes) -> Make:
    return lambda below: write(below, {name: data}) / name


def _tar(*members: tarfile.TarInfo) -> Make:
    return _file("a.tar", packed_tar(_GOOD, members))


def _member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def _zip(name: str, mode: int = 0o100644, data: bytes = b"x") -> Make:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(NAME, SOUND)
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return _file("a.zip", packed.getvalue())


def _extended(**headers: str) -> tarfile.TarInfo:
    """Give a member whose extended (pax) header says something else."""
    info = _member("x.txt")
    info.pax_headers = headers
    return info


_SPARSE = _extended(**{"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 50)})


def _far_apart(below: Path) -> Path:
    """Make three modules whose assignments come when all else has been read."""
    texts = {f"module_000{n}.jit_f.cpu_after_optimizations": SOUND for n in (1, 2, 3)}
    files = {f"{name}.txt": text + b"/" * 45_000 for name, text in texts.items()}
    files |= {f"{name}-buffer-assignment.txt": _assignment("") for name in texts}
    return write(below, {"a.tar": packed_tar(files)}) / "a.tar"


def _crowded_zip(below: Path) -> Path:
    packed = packed_zip(_GOOD | {f"{n}{'x' * 90}.log": b"" for n in range(100)})
    return write(below, {"a.zip": packed}) / "a.zip"


def _twin_zip(below: Path) -> Path:
    twin = NAME.replace("0001", "0002")
    packed = packed_zip(_GOOD | {twin: b"x"}).replace(twin.encode(), NAME.encode())
    return write(below, {"a.zip": packed}) / "a.zip"


def _packed_often(times: int) -> bytes:
    """Pack again and again, as a file that unpacks to itself (a quine) would be."""
    data = SOUND
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


def _overlapping_zip(below: Path) -> Path:
    """Make many entries of the table of contents point at one member."""
    packed = packed_zip({NAME: bytes(9_000)})
    start = packed.index(b"PK\x01\x02")
    entry, end = packed[start : packed.index(b"PK\x05\x06")], packed[-22:]
    entries = b"".join(
        entry.replace(NAME.encode(), NAME.replace("0001", f"{n:04}").encode())
        for n in range(15)
    )
    end = end[:8] + struct.pack("<HHI", 15, 15, len(entries)) + end[16:]
    return write(below, {"a.zip": packed[:start] + entries + end}) / "a.zip"


def _link(target: str, name: str = "x.txt") -> Make:
    def make(below: Path) -> Path:
        dump = write(below / "dump", _GOOD)
        (dump / name).symlink_to(target)
        return dump

    return make


def _fifo(below: Path) -> Path:
    dump = write(below / "dump", _GOOD)
    os.mkfifo(dump / "module_0002.jit_g.before_optimizations.txt")
    return dump


def _encrypted(below: Path) -> Path:
    packed = bytearray(packed_zip(_GOOD | {"x.txt": b"x"}))
    at = packed.rindex(b"PK\x01\x02")
    packed[at + 8] |= 1
    local = packed.rindex(b"PK\x03\x04")
    packed[local + 6] |= 1
    return write(below, {"a.zip": bytes(packed)}) / "a.zip"


def _hlo(body: str) -> bytes:
    return f"HloModule f\n\nENTRY %f (x: f32[]) -> f32[] {{\n{body}\n}}\n".encode()


def _assignment(body: str) -> bytes:
    return f"BufferAssignment:\n{body}".encode()


_NESTED = lzma.compress(gzip.compress(bytes(100_000)))

ARCHIVES: dict[str, Make] = {
    "tar: absolute path": _tar(_member("/etc/cron.d/x")),
    "tar: path that leads out (zip slip)": _tar(_member("../../x.txt")),
    "tar: backslashes that lead out": _tar(_member("..\\..\\x.txt")),
    "tar: link to a file outside": _tar(_member("x", tarfile.SYMTYPE, "/etc/passwd")),
    "tar: hard link": _tar(_member("x.txt", tarfile.LNKTYPE, "/etc/shadow")),
    "tar: device": _tar(_member("x.txt", tarfile.CHRTYPE)),
    "tar: FIFO": _tar(_member("x.txt", tarfile.FIFOTYPE)),
    "tar: two members of one name": _tar(_member(NAME)),
    "tar: very long name": _tar(_member("a" * 200)),
    "tar: archive in the archive": _tar(_member("inner.tar.gz")),
    "tar: very many members": _tar(*(_member(f"{n}.log") for n in range(30))),
    "tar: extended header that leads out": _tar(_extended(path="../../x.txt")),
    "tar: extended header of 2 MB": _tar(_extended(comment="a" * 2_000_000)),
    "tar: extended header with a size of an exabyte": _tar(
        _extended(size=f"{1 << 60}")
    ),
    "tar: extended header with a negative size": _tar(_extended(size="-1")),
    "tar: sparse file of a petabyte": _tar(_SPARSE),
    "tar: names that differ in case": _tar(_member(NAME.upper())),
    "tar: companions that lie far apart": _far_apart,
    "tar: cut short": _file("a.tar", packed_tar(_GOOD | {"b.txt": bytes(5000)})[:3000]),
    "tar: garbage": _file("a.tar", b"no tar at all" * 100),
    "tar.gz: bomb": _file(
        "a.tar.gz", gzip.compress(packed_tar({NAME: bytes(180_000)}))
    ),
    "zip: path that leads out (zip slip)": _zip("../../x.txt"),
    "zip: drive letter": _zip("C:\\x.txt"),
    "zip: link": _zip("x.txt", 0o120777, b"/etc/passwd"),
    "zip: bomb": _zip("x.txt", data=bytes(190_000)),
    "zip: archive in the archive (42.zip)": _zip("inner.zip", data=bytes(9_000)),
    "zip: two members of one name": _twin_zip,
    "zip: device": _zip("x.txt", 0o020666),
    "zip: very large table of contents": _crowded_zip,
    "zip: members that share their bytes": _overlapping_zip,
    "zip: encrypted member": _encrypted,
    "zip: cut short": _file("a.zip", packed_zip(_GOOD)[:-30]),
}
"""The attacks that archives are known for."""

FILES: dict[str, Make] = {
    "gz: bomb": _beside("x.txt.gz", gzip.compress(bytes(180_000))),
    "gz: cut short": _beside(
        "module_0002.g.before_optimizations.txt.gz", gzip.compress(SOUND)[:60]
    ),
    "gz within gz, 100 deep": _beside("x.txt.gz", _packed_often(100)),
    "xz: bytes flipped": _beside("x.txt.xz", lzma.compress(SOUND)[:-20] + bytes(20)),
    "xz within gz": _beside("x.txt.xz", _NESTED),
    "larger than the limit": _beside("x.txt", SOUND + bytes(300_000)),
    "a line longer than the limit": _beside("x.txt", SOUND + b"/" * 60_000),
    "link to a directory": _link("."),
    "link to nothing": _link("nowhere"),
    "link to a device": _link("/dev/zero"),
    "FIFO": _fifo,
    "directory that is empty": lambda below: write(below / "dump", {"d/x": b""}) / "e",
    "no dump at all": _one(b"print('hello')\n", "x.py"),
    "binary under a dump's name": _beside(f"{AFTER}.txt", bytes(range(256)) * 4),
    "HTML under a dump's name": _beside(f"{AFTER}.txt", b"<!doctype html><html>404"),
    "empty file": _beside(f"{AFTER}.txt", b""),
    "UTF-16": _beside(f"{AFTER}.txt", SOUND.decode().encode("utf-16")),
    "NUL bytes": _one(SOUND.replace(b"parameter", b"para\0meter")),
    "bytes that are no UTF-8": _one(SOUND.replace(b"x.2", b"x\xff\xfe")),
    "HLO cut in a line": _one(SOUND[:-20]),
    "HLO cut between lines": _one(SOUND[: SOUND.rindex(b"}")]),
    "HLO cut before ENTRY": _one(SOUND[: SOUND.index(b"ENTRY")]),
    "HLO without a module": _one(SOUND[SOUND.index(b"ENTRY") :]),
    "brackets that never close": _one(_hlo("  ROOT %x = f32[] add(" + "(" * 20_000)),
    "shape of 10,000 brackets": _one(_hlo(f"  ROOT %x = {'(' * 10_000} add()")),
    "comments that never close": _one(_hlo("  ROOT %x = f32[] " + "/*" * 20_000)),
    "strings that never close": _one(_hlo('  %x = f32[] add(), a="' + '\\"' * 20_000)),
    "instruction without a shape": _one(_hlo("  ROOT %x = add(%y)")),
    "shape of tuples 5,000 deep": _one(
        _hlo(f"  ROOT %x = {'(' * 5_000}f32[]{')' * 5_000} add()")
    ),
    "digits that are no ASCII": _one(_hlo("  ROOT %x = f32[] parameter(²)")),
    "numbers beyond all bounds": _beside(
        f"module_0002.g.{'9' * 18}.after_a.before_b.txt",
        SOUND.replace(
            b"parameter(0)", b"parameter(99999999999), channel_id=" + b"9" * 30
        )
        .replace(b"jit_f,", b"jit_f, num_partitions=99999999999,")
        .replace(b"{0} ", b"{0:S(99999999999)E(99999)} "),
    ),
    "source line beyond all bounds": _one(
        SOUND.replace(b"(0)", b"(0), metadata={source_line=" + b"9" * 50 + b"}")
    ),
    "dimension beyond all bounds": _one(_hlo(f"  ROOT %x = f32[{'9' * 400}] add()")),
    "assignment cut short": _beside(
        f"{AFTER}-buffer-assignment.txt",
        _assignment(
            "allocation 0: size 12, parameter 0\n value: <0 x @0> (size=12,off"
        ),
    ),
    "assignment with a negative size": _beside(
        f"{AFTER}-buffer-assignment.txt", _assignment("allocation 0: size -12, temp:\n")
    ),
    "assignment with a size beyond all bounds": _beside(
        f"{AFTER}-buffer-assignment.txt",
        _assignment(f"allocation 0: size {'9' * 30}, preallocated-temp:\n"),
    ),
    "assignment of garbage": _beside(
        f"{AFTER}-buffer-assignment.txt", _assignment("\x01\x02 nonsense\n" * 3)
    ),
    "message cut short": _beside(f"{AFTER}.hlo.pb", b"\x0a\xff\xff\xff\xff\x0fx"),
    "message of garbage": _beside(f"{AFTER}.hlo.pb", bytes(range(255, 0, -1))),
    "text proto nested deeper than the limit": _beside(
        "module_0001.jit_f.debug_options", b"a {" * 20 + b"}" * 20
    ),
    "text proto of 5,000 braces": _beside(
        "module_0001.jit_f.debug_options", b"a {" * 5_000
    ),
    "JSON of 40,000 brackets": _beside("memory_analysis.json", b"[" * 40_000),
}
"""Files and folders, broken or made to do harm."""

INPUTS = ARCHIVES | FILES
