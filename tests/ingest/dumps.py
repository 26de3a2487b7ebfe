"""A small dump to pack in every way, and the ways to pack it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import zstandard

from hlodb.ingest.sources.discover import RunSource

MODULE = "module_0001.jit_f"
AFTER = f"{MODULE}.cpu_after_optimizations"

FILES: dict[str, bytes] = {
    f"{MODULE}.before_optimizations.txt": b"HloModule jit_f\n",
    f"{AFTER}-buffer-assignment-values.txt": b"\nTotal bytes used: 4 (4B)\n",
    f"{AFTER}-buffer-assignment.txt": b"BufferAssignment:\n",
    f"{AFTER}-live-range.txt": b"HloLiveRange (max 2):\n",
    f"{AFTER}.txt": b"HloModule jit_f, is_scheduled=true\n",
    f"{MODULE}.0000.p.after_pipeline-start.before_a.txt": b"HloModule jit_f\n\n",
    f"{MODULE}.0001.p.after_a.before_b.txt": b"HloModule jit_f\n\n\n",
    f"{MODULE}.debug_options": b"xla_a: 1\n",
    "rank_1/module_0001.jit_f.before_optimizations.txt": b"HloModule jit_f\n",
    f"{MODULE}/topology.pb": b"\x08\xaa\x01",
}

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    ".bz2": bz2.compress,
}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def packed_tar(
    files: dict[str, bytes], extra: Iterable[tarfile.TarInfo] = (), end: bool = True
) -> bytes:
    """Pack a tar archive; `extra` members have no content, `end` is its end mark."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size, info.mtime = len(data), 1_700_000_000
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info)
        length = tar.offset
    return packed.getvalue() if end else packed.getvalue()[:length]


def packed_zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            info = zipfile.ZipInfo(path, (2023, 11, 14, 22, 13, 20))
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def contents(source: RunSource) -> list[list[tuple[str, bytes]]]:
    """Return (path, data) per unit, in an order that doesn't depend on the packing."""
    units = sorted(source.units(), key=lambda unit: unit.key)
    return [[(file.path, file.data) for file in unit.files] for unit in units]


UNITS: list[list[tuple[str, bytes]]] = [
    [(path, FILES[path]) for path in paths]
    for paths in (
        [f"{MODULE}.debug_options"],
        [f"{MODULE}.before_optimizations.txt"],
        [f"{MODULE}.0000.p.after_pipeline-start.before_a.txt"],
        [f"{MODULE}.0001.p.after_a.before_b.txt"],
        [
            f"{AFTER}-buffer-assignment-values.txt",
            f"{AFTER}-buffer-assignment.txt",
            f"{AFTER}-live-range.txt",
            f"{AFTER}.txt",
        ],
        [f"{MODULE}/topology.pb"],
        ["rank_1/module_0001.jit_f.before_optimizations.txt"],
    )
]
