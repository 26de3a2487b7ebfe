"""The attacks that archives are known for, by name."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
from pathlib import Path

from tests.ingest.dumps import packed_tar, packed_zip, write
from tests.reliability.hostile_dump import GOOD, NAME, SOUND, Make, assignment, one_file


def _tar(*members: tarfile.TarInfo) -> Make:
    return one_file("a.tar", packed_tar(GOOD, members))


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
    return one_file("a.zip", packed.getvalue())


def _extended(**headers: str) -> tarfile.TarInfo:
    """Return a member whose extended (pax) header says something else."""
    info = _member("x.txt")
    info.pax_headers = headers
    return info


_SPARSE = _extended(**{"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 50)})


def _far_apart(below: Path) -> Path:
    """Make three modules whose assignments come when all else has been read."""
    texts = {f"module_000{n}.jit_f.cpu_after_optimizations": SOUND for n in (1, 2, 3)}
    files = {f"{name}.txt": text + b"/" * 45_000 for name, text in texts.items()}
    files |= {f"{name}-buffer-assignment.txt": assignment("") for name in texts}
    return write(below, {"a.tar": packed_tar(files)}) / "a.tar"


def _crowded_zip(below: Path) -> Path:
    packed = packed_zip(GOOD | {f"{n}{'x' * 90}.log": b"" for n in range(100)})
    return write(below, {"a.zip": packed}) / "a.zip"


def _twin_zip(below: Path) -> Path:
    twin = NAME.replace("0001", "0002")
    packed = packed_zip(GOOD | {twin: b"x"}).replace(twin.encode(), NAME.encode())
    return write(below, {"a.zip": packed}) / "a.zip"


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


def _encrypted(below: Path) -> Path:
    packed = bytearray(packed_zip(GOOD | {"x.txt": b"x"}))
    at = packed.rindex(b"PK\x01\x02")
    packed[at + 8] |= 1
    local = packed.rindex(b"PK\x03\x04")
    packed[local + 6] |= 1
    return write(below, {"a.zip": bytes(packed)}) / "a.zip"


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
    "tar: cut short": one_file(
        "a.tar", packed_tar(GOOD | {"b.txt": bytes(5000)})[:3000]
    ),
    "tar: garbage": one_file("a.tar", b"no tar at all" * 100),
    "tar.gz: bomb": one_file(
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
    "zip: cut short": one_file("a.zip", packed_zip(GOOD)[:-30]),
}
"""The attacks that archives are known for."""
