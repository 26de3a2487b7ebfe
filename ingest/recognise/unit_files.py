"""Files of a unit as read, and what follows from their names and bytes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hlodb.ingest.hashing import hash64
from hlodb.ingest.recognise.file_kinds import Kind
from hlodb.ingest.recognise.recognition import Recognised, rank

ASSIGNMENT_KINDS: frozenset[Kind] = frozenset(
    ("buffer_assignment", "buffer_assignment_values", "live_range")
)
PARSED_KINDS: frozenset[Kind] = ASSIGNMENT_KINDS.union(
    ("hlo_text", "log", "hlo_proto", "hlo_snapshot", "executable", "xplane"),
    ("hlo_riegeli", "hlo_text_proto"),
    ("memory_report", "memory_report_proto"),
)
"""Kinds of file that make or complete a module, alone or with others."""

PLATFORM_OF_PREFIX = {
    "cpu": "cpu",
    "sm": "gpu",
    "gfx": "rocm",
    "gpu": "gpu",
    "tpu": "tpu",
}


class UnitFile(NamedTuple):
    """A file of a unit as read: its bytes and what it is.

    Of a unit that is not `is_detailed` only counts, fingerprints and memory are kept.
    Of a snapshot or executable `data` is the HLO alone, without `left_out_bytes` of
    arguments or machine code.
    """

    path: str
    data: bytes
    sha256: str
    recognised: Recognised
    is_detailed: bool = True
    left_out_bytes: int = 0

    def without_data(self) -> UnitFile:
        """Return the file without its bytes, which `left_out_bytes` counts then."""
        return self._replace(data=b"", left_out_bytes=self.size_bytes)

    @property
    def size_bytes(self) -> int:
        """Return the size of the whole file."""
        return len(self.data) + self.left_out_bytes


@dataclass(slots=True)
class FileReport:
    """A row of dump_files in the making."""

    path: str
    kind: str
    stage: str | None
    sha256: str
    size_bytes: int
    status: str = "loaded"
    module_id: int | None = None
    lines_total: int | None = None
    lines_unclaimed: int | None = None
    reason: str | None = None


def unit_digest(files: Sequence[UnitFile]) -> int:
    """Return a hash of kinds and bytes: units with equal digests hold equal modules."""
    parts = sorted(f"{f.recognised.kind} {f.sha256}" for f in files)
    return hash64("\n".join(parts))


def main_file(files: Sequence[UnitFile]) -> UnitFile:
    """Return the file that stands for the unit: HLO text, else a proto, else any."""
    for kinds in (
        ("hlo_text", "log"),
        ("hlo_proto", "hlo_riegeli", "hlo_snapshot", "hlo_text_proto"),
        ("executable", "xplane"),
    ):
        for file in files:
            if file.recognised.kind in kinds:
                return file
    return files[0]


def file_report(file: UnitFile) -> FileReport:
    """Return a file's row of dump_files before anything is known of its lines."""
    recognised = file.recognised
    return FileReport(
        file.path,
        recognised.kind,
        recognised.stage,
        file.sha256,
        file.size_bytes,
        reason=recognised.description or None,
    )


def occurrence_columns(file: UnitFile) -> dict[str, Any]:
    """Return the columns of `modules` that come from a file's name and place."""
    r = file.recognised
    return {
        "path": file.path,
        "module_number": r.module_number,
        "rank": rank(file.path),
        "stage": r.stage or "unknown",
        "pipeline": r.pipeline,
        "pass_after": r.pass_after,
        "pass_before": r.pass_before,
        "pass_step": r.pass_step,
        "platform": platform_of(r),
    }


def platform_of(recognised: Recognised) -> str | None:
    """Return the platform that a file name tells: cpu, gpu, rocm, tpu or None."""
    if recognised.cl:
        return "tpu"
    prefix = (recognised.platform_prefix or "").split("_")[0]
    for start, platform in PLATFORM_OF_PREFIX.items():
        if prefix.startswith(start):
            return platform
    return None
