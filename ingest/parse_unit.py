"""The files of one unit → modules, file reports and rejects; pure, runs anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from hlodb.ingest.evidence import Evidence
from hlodb.ingest.file_kinds import TEXT_KINDS, Kind
from hlodb.ingest.formats.buffer_assignment import join_assignments, parse_assignment
from hlodb.ingest.formats.hlo_blocks import BlockCache
from hlodb.ingest.formats.hlo_text import parse_hlo
from hlodb.ingest.formats.memory_report import MemoryReport, parse_memory_report
from hlodb.ingest.formats.memory_report_proto import parse_memory_report_proto
from hlodb.ingest.identity import companion_digest
from hlodb.ingest.normalise import ModuleUnit
from hlodb.ingest.parse_log import parse_log
from hlodb.ingest.recognise import Recognised, rank
from hlodb.ingest.records import BufferAssignment, HloModule, Reject, Unclaimed
from hlodb.ingest.stand_in import with_named_only

ASSIGNMENT_KINDS: frozenset[Kind] = frozenset(
    ("buffer_assignment", "buffer_assignment_values", "live_range")
)
MODULE_KINDS: frozenset[Kind] = ASSIGNMENT_KINDS.union(("hlo_text", "log"))
"""Kinds of file that make a module, alone or with others."""

PARSED_KINDS: frozenset[Kind] = MODULE_KINDS.union(
    ("memory_report", "memory_report_proto")
)

PLATFORM_OF_PREFIX = {"cpu": "cpu", "sm": "gpu", "gfx": "rocm", "gpu": "gpu"}


class UnitFile(NamedTuple):
    """A file of a unit as read: its bytes and what it is."""

    path: str
    data: bytes
    sha256: str
    recognised: Recognised


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


@dataclass(slots=True)
class ParsedUnit:
    """What the files of one unit hold; `modules` share the unit's companions."""

    modules: list[ModuleUnit] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    rejects: list[tuple[str, Reject]] = field(default_factory=list)
    reports: list[MemoryReport] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)


def unit_digest(files: Sequence[UnitFile]) -> int:
    """Give a hash of kinds and bytes: units with equal digests hold equal modules."""
    parts = sorted(f"{f.recognised.kind} {f.sha256}" for f in files)
    digest = blake2b("\n".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def parse_unit(files: Sequence[UnitFile], cache: BlockCache[Any]) -> ParsedUnit:
    """Parse all files of one unit and put them together; never raises for bad input."""
    unit = ParsedUnit()
    hlos: list[tuple[UnitFile, HloModule]] = []
    parts: list[tuple[UnitFile, BufferAssignment]] = []
    digests: list[bytes] = []
    for file in files:
        kind = file.recognised.kind
        text = file.data.decode("utf-8", "replace") if kind in TEXT_KINDS else ""
        if kind == "log":
            log = parse_log(file.path, text, cache)
            hlos += [(file, module) for module in log.hlo.modules]
            unit.evidence += log.evidence
            _report(unit, file, log.hlo.rejects, log.hlo.unclaimed, log.hlo.lines_total)
            if log.is_empty:
                _reject_empty(unit, file)
        elif kind == "hlo_text":
            hlo = parse_hlo(text, cache)
            hlos += [(file, module) for module in hlo.modules]
            _report(unit, file, hlo.rejects, hlo.unclaimed, hlo.lines_total)
            if not hlo.modules and not hlo.rejects:
                _reject_empty(unit, file)
        elif kind in ASSIGNMENT_KINDS:
            parsed = parse_assignment(text)
            parts.append((file, parsed.assignment))
            digests.append(companion_digest(file.data))
            _report(unit, file, parsed.rejects, parsed.unclaimed, parsed.lines_total)
        elif kind == "memory_report":
            report = parse_memory_report(text)
            unit.reports.append(report.report)
            _report(unit, file, report.rejects, report.unclaimed, report.lines_total)
        elif kind == "memory_report_proto":
            exact = parse_memory_report_proto(file.data)
            unit.reports.insert(0, exact.report)
            _report(unit, file, exact.rejects, exact.unclaimed, None)
    _join(unit, files, hlos, parts, tuple(digests))
    return unit


def _report(
    unit: ParsedUnit,
    file: UnitFile,
    rejects: Sequence[Reject],
    unclaimed: Sequence[Unclaimed],
    lines_total: int | None,
) -> None:
    report = file_report(file)
    report.lines_total = lines_total
    report.lines_unclaimed = len(unclaimed)
    if rejects:
        report.status = "rejected"
        report.reason = rejects[0].message
    elif unclaimed:
        first = unclaimed[0]
        report.reason = f"line {first.line} was not understood: {first.text}"
    unit.files.append(report)
    unit.rejects += [(file.path, reject) for reject in rejects]


def _reject_empty(unit: ParsedUnit, file: UnitFile) -> None:
    reject = Reject(1, 1, "file", "no_module", "expected a HloModule", "")
    unit.files[-1].status = "rejected"
    unit.files[-1].reason = reject.message
    unit.rejects.append((file.path, reject))


def file_report(file: UnitFile) -> FileReport:
    """Give a file's row of dump_files before anything is known of its lines."""
    recognised = file.recognised
    return FileReport(
        file.path,
        recognised.kind,
        recognised.stage,
        file.sha256,
        len(file.data),
        reason=recognised.description or None,
    )


def _join(
    unit: ParsedUnit,
    files: Sequence[UnitFile],
    hlos: list[tuple[UnitFile, HloModule]],
    parts: list[tuple[UnitFile, BufferAssignment]],
    digests: tuple[bytes, ...],
) -> None:
    """Give the assignment to the unit's module, or to one that it alone describes."""
    digest = None if unit.rejects else unit_digest(files)
    assignment = join_assignments([a for _, a in parts]) if parts else None
    if assignment is not None and len(hlos) != 1:
        name = _fallback_name(parts[0][0])
        empty = HloModule(name, {}, (), [], [])
        hlos = [*hlos, (parts[0][0], empty)]
    for number, (file, hlo) in enumerate(hlos):
        is_last = number == len(hlos) - 1
        own = assignment if is_last else None
        if own is not None:
            hlo = with_named_only(hlo, own)
        part = sum(1 for f, _ in hlos[:number] if f.path == file.path)
        occurrence = occurrence_columns(file) | {"part": part, "unit_digest": digest}
        unit.modules.append(
            ModuleUnit(
                hlo,
                own,
                occurrence,
                digests if own is not None else (),
                tuple(unit.reports) if is_last else (),
            )
        )


def _fallback_name(file: UnitFile) -> str:
    return file.recognised.module_name or PurePosixPath(file.path).name.split(".")[0]


def occurrence_columns(file: UnitFile) -> dict[str, Any]:
    """Give the columns of `modules` that come from a file's name and place."""
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
    """Give the platform that a file name tells: cpu, gpu, rocm, tpu or None."""
    if recognised.cl:
        return "tpu"
    prefix = (recognised.platform_prefix or "").split("_")[0]
    for start, platform in PLATFORM_OF_PREFIX.items():
        if prefix.startswith(start):
            return platform
    return None
