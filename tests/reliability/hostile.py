"""Inputs that nobody should have to read: each made below a folder, by name."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

from tests.ingest.dumps import write
from tests.reliability.hostile_archives import ARCHIVES
from tests.reliability.hostile_dump import AFTER, GOOD, NAME, SOUND, Make, assignment


def _one(data: bytes, name: str = NAME) -> Make:
    return lambda below: write(below / "dump", {name: data})


def _beside(name: str, data: bytes) -> Make:
    """Return a sound dump with one more file."""
    return lambda below: write(below / "dump", GOOD | {name: data})


def _link(target: str, name: str = "x.txt") -> Make:
    def make(below: Path) -> Path:
        dump = write(below / "dump", GOOD)
        (dump / name).symlink_to(target)
        return dump

    return make


def _fifo(below: Path) -> Path:
    dump = write(below / "dump", GOOD)
    os.mkfifo(dump / "module_0002.jit_g.before_optimizations.txt")
    return dump


def _packed_often(times: int) -> bytes:
    """Pack again and again, as a file that unpacks to itself (a quine) would be."""
    data = SOUND
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


def _hlo(body: str) -> bytes:
    return f"HloModule f\n\nENTRY %f (x: f32[]) -> f32[] {{\n{body}\n}}\n".encode()


_NESTED = lzma.compress(gzip.compress(bytes(100_000)))

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
    "flags larger than the limit": _beside(
        "module_0001.jit_f.debug_options", b"xla_a: 1\n" * 5_000
    ),
    "link to a file outside": _link("/etc/hostname"),
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
        assignment("allocation 0: size 12, parameter 0\n value: <0 x @0> (size=12,off"),
    ),
    "assignment with a negative size": _beside(
        f"{AFTER}-buffer-assignment.txt", assignment("allocation 0: size -12, temp:\n")
    ),
    "assignment with a size beyond all bounds": _beside(
        f"{AFTER}-buffer-assignment.txt",
        assignment(f"allocation 0: size {'9' * 30}, preallocated-temp:\n"),
    ),
    "assignment of garbage": _beside(
        f"{AFTER}-buffer-assignment.txt", assignment("\x01\x02 nonsense\n" * 3)
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
