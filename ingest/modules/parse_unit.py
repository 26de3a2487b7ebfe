"""The files of one unit → modules, file reports and rejects; pure, runs anywhere.

Text and proto of one stage are one module: the text gives the rows, the proto what only
it has, and the two are compared. A proto alone gives the same rows as the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from hlodb.ingest.formats.buffer_assignment.assignment import (
    join_assignments,
    parse_assignment,
)
from hlodb.ingest.formats.hlo_text.blocks import BlockCache
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.memory_reports.memory_report import (
    MemoryReport,
    parse_memory_report,
)
from hlodb.ingest.formats.proto.riegeli import is_riegeli, message_of_records
from hlodb.ingest.formats.scan import decoded
from hlodb.ingest.modules.assignment_completion import (
    supplement,
    supplemented,
    with_parameter_shapes,
)
from hlodb.ingest.modules.form_comparison import Described, compare_forms
from hlodb.ingest.modules.identity import companion_digest
from hlodb.ingest.modules.implied_instructions import (
    with_element_names,
    with_named_only,
)
from hlodb.ingest.modules.module_unit import ModuleUnit
from hlodb.ingest.recognise.file_kinds import Kind
from hlodb.ingest.recognise.unit_files import (
    FileReport,
    UnitFile,
    file_report,
    occurrence_columns,
    unit_digest,
)
from hlodb.ingest.records import (
    BufferAssignment,
    Evidence,
    HloModule,
    Reject,
    Unclaimed,
    column_of,
    summed_up,
    too_large,
    total,
)

if TYPE_CHECKING:
    from hlodb.ingest.formats.proto.hlo_proto import ParsedProto

Cache = BlockCache[Any]


@dataclass(slots=True)
class ParsedUnit:
    """What the files of one unit hold; `modules` share the unit's companions."""

    modules: list[ModuleUnit] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    rejects: list[tuple[str, Reject]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)


@dataclass(slots=True)
class _Parts:
    """What was read of a unit's files, before it is put together."""

    cache: Cache
    unit: ParsedUnit = field(default_factory=ParsedUnit)
    hlos: list[tuple[UnitFile, HloModule]] = field(default_factory=list)
    assignments: list[tuple[UnitFile, BufferAssignment]] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    protos: list[tuple[UnitFile, ParsedProto]] = field(default_factory=list)
    reports: list[tuple[UnitFile, MemoryReport]] = field(default_factory=list)

    def report(
        self,
        file: UnitFile,
        rejects: Sequence[Reject],
        unclaimed: Sequence[Unclaimed] = (),
        lines_total: int | None = None,
    ) -> None:
        """Account for a file that was read."""
        report = file_report(file)
        report.lines_total = lines_total
        report.lines_unclaimed = None if lines_total is None else total(unclaimed)
        if rejects:
            report.status = "rejected"
            report.reason = rejects[0].message
        elif unclaimed:
            first = unclaimed[0]
            report.reason = f"line {first.line} was not understood: {first.text}"
        self.unit.files.append(report)
        self.unit.rejects += [(file.path, reject) for reject in summed_up(rejects)]

    def leave_out(self, file: UnitFile) -> None:
        """Account for a sound file that holds nothing to be read."""
        report = file_report(file)
        report.status = "ignored"
        report.reason = f"{report.reason} that carries no HLO"
        self.unit.files.append(report)


def parse_unit(files: Iterable[UnitFile], cache: Cache) -> ParsedUnit:
    """Parse all files of one unit and put them together; never raises for bad input.

    No file is held longer than its reader needs its bytes.
    """
    parts = _Parts(cache)
    known: list[UnitFile] = []
    for file in files:
        known.append(file.without_data())
        data = [file.data]
        del file
        _READERS[known[-1].recognised.kind](parts, known[-1], data.pop())
    _settle_forms(parts)
    _refuse_too_large(parts)
    _join(parts, None if parts.unit.rejects else unit_digest(known))
    return parts.unit


# --- One reader a kind of file ---------------------------------------------------
# Most dumps are HLO text alone: what reads logs and protos is loaded when it is needed.


def _read_log(parts: _Parts, file: UnitFile, data: bytes) -> None:
    from hlodb.ingest.formats.logs.log_text import parse_log

    text = decoded(data)
    del data
    log = parse_log(file.path, text, parts.cache)
    parts.hlos += [(file, module) for module in log.hlo.modules]
    parts.unit.evidence += log.evidence
    rejects = log.rejects or ([_NO_MODULE] if log.is_empty else [])
    parts.report(file, rejects, log.hlo.unclaimed, log.hlo.lines_total)


def _read_hlo_text(parts: _Parts, file: UnitFile, data: bytes) -> None:
    text = decoded(data)
    del data
    hlo = parse_hlo(text, parts.cache)
    parts.hlos += [(file, module) for module in hlo.modules]
    rejects = hlo.rejects or ([] if hlo.modules else [_NO_MODULE])
    parts.report(file, rejects, hlo.unclaimed, hlo.lines_total)


def _read_assignment(parts: _Parts, file: UnitFile, data: bytes) -> None:
    parts.digests.append(companion_digest(data))
    texts = [decoded(data)]
    del data
    parsed = parse_assignment(texts.pop())
    parts.assignments.append((file, parsed.assignment))
    parts.report(file, parsed.rejects, parsed.unclaimed, parsed.lines_total)


def _read_memory_report(parts: _Parts, file: UnitFile, data: bytes) -> None:
    parsed = parse_memory_report(decoded(data))
    faults = _too_large_report(parsed.report)
    if not faults:
        parts.reports.append((file, parsed.report))
    rejects = [*parsed.rejects, *faults]
    parts.report(file, rejects, parsed.unclaimed, parsed.lines_total)


def _too_large_report(report: MemoryReport) -> list[Reject]:
    """Reject a report whose sums the warehouse could not hold."""
    section = "memory report"
    return (
        too_large(section, [a.size_bytes for a in report.allocations])
        or too_large(section, [space.total_bytes for space in report.spaces])
        or too_large(section, [row.size_bytes for row in report.rows])
    )


def _read_memory_report_proto(parts: _Parts, file: UnitFile, data: bytes) -> None:
    from hlodb.ingest.formats.memory_reports.memory_report_proto import (
        parse_memory_report_proto,
    )

    exact = parse_memory_report_proto(data)
    faults = _too_large_report(exact.report)
    if not faults:
        parts.reports.insert(0, (file, exact.report))
    parts.report(file, [*exact.rejects, *faults])


def _read_hlo_proto(parts: _Parts, file: UnitFile, data: bytes) -> None:
    from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto

    message, faults, is_other = _message(data, "HLO")
    if is_other:
        parts.leave_out(file)
        return
    proto = parse_hlo_proto(message)
    parts.protos.append((file, proto))
    parts.report(file, faults or proto.rejects)


class _Message(NamedTuple):
    """A binary message, what is wrong with it, and whether it is of another type."""

    data: bytes
    faults: list[Reject]
    is_other: bool = False


def _message(data: bytes, wanted: str) -> _Message:
    """Return the message of a file; records are put together, if they are the wanted.

    A message says what it is in the name of its type: `xla.HloProto`.
    """
    if not is_riegeli(data):
        return _Message(data, [])
    found = message_of_records(data)
    is_other = bool(found.message_type) and wanted.lower() not in (
        found.message_type.rpartition(".")[2].lower()
    )
    faults = [_records_reject(found.fault)] if found.fault else []
    return _Message(found.message, faults, is_other)


def _records_reject(fault: str) -> Reject:
    return Reject(0, 0, "records", "broken_records", fault, "")


def _read_executable(parts: _Parts, file: UnitFile, data: bytes) -> None:
    if data:
        _read_hlo_proto(parts, file, data)
    else:
        parts.leave_out(file)


def _read_text_proto(parts: _Parts, file: UnitFile, data: bytes) -> None:
    from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
    from hlodb.ingest.formats.proto.text_hlo import hlo_of_text

    found = hlo_of_text(decoded(data))
    rejects = found.rejects
    if found.hlo:
        proto = parse_hlo_proto(found.hlo)
        parts.protos.append((file, proto))
        rejects = [*rejects, *proto.rejects]
    parts.report(file, rejects or ([] if found.hlo else [_NO_MODULE]))
    if found.left_out and not rejects:
        parts.unit.files[-1].reason = found.left_out


def _read_xplane(parts: _Parts, file: UnitFile, data: bytes) -> None:
    """Read the modules of a profile, each a module like any other."""
    from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
    from hlodb.ingest.formats.proto.xplane import parse_xplane

    message, faults, _ = _message(data, "XSpace")
    profile = parse_xplane(message)
    protos = [parse_hlo_proto(message) for message in profile.modules]
    parts.hlos += [(file, p.module) for p in protos if p.module is not None]
    rejects = [*faults, *profile.rejects, *(r for p in protos for r in p.rejects)]
    if protos or rejects:
        parts.report(file, rejects)
    else:
        parts.leave_out(file)


_NO_MODULE = Reject(0, 0, "file", "no_module", "expected a HloModule", "")
_READERS: dict[Kind, Callable[[_Parts, UnitFile, bytes], None]] = {
    "hlo_text": _read_hlo_text,
    "log": _read_log,
    "buffer_assignment": _read_assignment,
    "buffer_assignment_values": _read_assignment,
    "live_range": _read_assignment,
    "memory_report": _read_memory_report,
    "memory_report_proto": _read_memory_report_proto,
    "hlo_proto": _read_hlo_proto,
    "hlo_riegeli": _read_hlo_proto,
    "hlo_snapshot": _read_hlo_proto,
    "hlo_text_proto": _read_text_proto,
    "executable": _read_executable,
    "xplane": _read_xplane,
}

# --- Text and proto --------------------------------------------------------------


def _settle_forms(parts: _Parts) -> None:
    """Take from protos what no text gave; compare where both are there."""
    for file, proto in parts.protos:
        found = [a for _, a in parts.assignments]
        text = join_assignments(found) if found else None
        if proto.module is not None and len(parts.hlos) == 1:
            ours = Described(parts.hlos[0][1], text)
            theirs = Described(proto.module, proto.assignment)
            parts.unit.evidence += compare_forms(file.path, ours, theirs)
        elif proto.module is not None and not parts.hlos:
            parts.hlos.append((file, proto.module))
        if proto.assignment is not None and text is None:
            parts.assignments.append((file, proto.assignment))
            parts.digests.append(_record_digest(proto.assignment))
        elif proto.assignment is not None and text is not None:
            _supplement(parts, text, proto.assignment)


def _supplement(parts: _Parts, text: BufferAssignment, proto: BufferAssignment) -> None:
    more = supplement(text, proto)
    if more != BufferAssignment():
        file = parts.assignments[0][0]
        parts.assignments = [(file, supplemented(text, more))]
        parts.digests.append(_record_digest(more))


def _record_digest(assignment: BufferAssignment) -> bytes:
    described = repr(assignment).encode("utf-8", "surrogateescape")
    return blake2b(described, digest_size=16).digest()


def _refuse_too_large(parts: _Parts) -> None:
    """Reject an assignment whose sums the warehouse could not hold."""
    found = [a for _, a in parts.assignments]
    faults = [
        fault
        for rows in ("allocations", "placements")
        for fault in too_large(
            rows, (n for a in found for n in column_of(getattr(a, rows), "size_bytes"))
        )
    ]
    if not faults:
        return
    for file in dict.fromkeys(file.path for file, _ in parts.assignments):
        report = next(r for r in parts.unit.files if r.path == file)
        report.status, report.reason = "rejected", report.reason or faults[0].message
        parts.unit.rejects += [(file, fault) for fault in faults[:1]]
    parts.assignments.clear()


def _join(parts: _Parts, digest: int | None) -> None:
    """Return the assignment to the unit's module, or to one that it alone describes."""
    hlos, found = parts.hlos, [a for _, a in parts.assignments]
    assignment = join_assignments(found) if found else None
    if assignment is not None and len(hlos) != 1:
        file = parts.assignments[0][0]
        hlos = [*hlos, (file, _module_without_hlo(file, parts.cache))]
    digests = tuple(parts.digests) if assignment is not None else ()
    if not hlos and (described := [r for r in parts.reports if r[1].has_sizes]):
        # Nothing else is left of the module: its name, its totals and its allocations.
        file = described[0][0]
        hlos = [(file, _module_without_hlo(file, parts.cache))]
        digests = tuple(_report_digest(report) for _, report in described)
    for number, (file, hlo) in enumerate(hlos):
        is_last = number == len(hlos) - 1
        own = with_parameter_shapes(assignment, hlo) if assignment and is_last else None
        part = sum(1 for f, _ in hlos[:number] if f.path == file.path)
        parts.unit.modules.append(
            ModuleUnit(
                hlo if own is None else _named(hlo, own),
                own and replace(own, sources={}),  # which are instructions now
                occurrence_columns(file) | {"part": part, "unit_digest": digest},
                digests if is_last else (),
                tuple(report for _, report in parts.reports) if is_last else (),
                parts.protos[0][1].elided_literals if is_last and parts.protos else (),
            )
        )


def _module_without_hlo(file: UnitFile, cache: Cache) -> HloModule:
    nothing = cache.sequence(cache.whole([]))
    return HloModule(_fallback_name(file), {}, (), nothing, [])


def _report_digest(report: MemoryReport) -> bytes:
    """Hash a report; equal ones may list their tables in varying order."""
    rows = sorted(row._replace(table=0) for row in report.rows)
    allocations = sorted(report.allocations, key=lambda a: a.allocation_id)
    said = repr((report.total_bytes, sorted(report.spaces), allocations, rows))
    return blake2b(said.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _named(hlo: HloModule, assignment: BufferAssignment) -> HloModule:
    return with_named_only(with_element_names(hlo, assignment), assignment)


def _fallback_name(file: UnitFile) -> str:
    return file.recognised.module_name or PurePosixPath(file.path).name.split(".")[0]
