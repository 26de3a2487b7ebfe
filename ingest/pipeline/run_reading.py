"""One run as it is read: what has to be parsed, and what is known of all else.

Snapshots of executions are read without their arguments. The flag that asks for them
turns off text and protos, so that mostly they are all that there is of a module. But
each execution leaves one, with the same module in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from hashlib import sha256
from time import perf_counter
from typing import Any

from hlodb.ingest.load.run_records import (
    EarlierRun,
    Progress,
    RecordedFile,
    RunRequest,
    RunSummary,
)
from hlodb.ingest.pipeline.mixed_dumps import is_of_another_dump
from hlodb.ingest.recognise.file_kinds import (
    EXECUTABLES_AS_TEXT,
    FACT_KINDS,
    Kind,
    Stage,
)
from hlodb.ingest.recognise.file_names import split_name
from hlodb.ingest.recognise.unit_files import (
    PARSED_KINDS,
    FileReport,
    UnitFile,
    file_report,
    main_file,
    occurrence_columns,
    unit_digest,
)
from hlodb.ingest.records import Reject
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.sources.units import DumpFile, Unit
from hlodb.ingest.tables.batch import batches_of
from hlodb.ingest.tables.run_facts import (
    RunFacts,
    learn_from_file,
    learn_from_name,
)

REPEATED = "its module is in another file, or in the snapshot of another execution"


_SNAPSHOTS: tuple[Kind | None, ...] = ("hlo_snapshot", "hlo_text_proto")


def tells_nothing(unit: Unit, file: UnitFile) -> bool:
    """Return whether a file is a snapshot of a module that another file has.

    A second snapshot of a module stands alone, though its name is that of another.
    """
    if file.recognised.kind not in _SNAPSHOTS:
        return False
    kinds = {other.recognised.kind for other in unit.files}
    is_second = bool(unit.key.file) and split_name(file.path).kind in _SNAPSHOTS
    return is_second or not kinds.isdisjoint(("hlo_text", "hlo_proto", "hlo_riegeli"))


def hlo_alone(file: UnitFile) -> UnitFile:
    """Return a file as it is parsed: of a snapshot or executable the HLO is left."""
    if file.recognised.kind == "executable":
        return _hlo_of_executable(file)
    if file.recognised.kind == "hlo_text_proto":
        return _with_platform(file)
    if file.recognised.kind != "hlo_snapshot":
        return file
    # Most dumps are text alone: what reads protos is loaded when it is needed.
    from hlodb.ingest.formats.proto.snapshot import module_of_snapshot

    module = module_of_snapshot(file.data)
    left_out = len(file.data) - len(module)
    return file._replace(data=module, left_out_bytes=left_out)


def _hlo_of_executable(file: UnitFile) -> UnitFile:
    from hlodb.ingest.formats.proto.executable import hlo_of_executable

    found = hlo_of_executable(file.data)
    hlo, platform = found or (b"", None)
    stage: Stage = "after_codegen" if platform == "tpu" else "after_optimizations"
    return file._replace(
        data=hlo,
        left_out_bytes=len(file.data) - len(hlo),
        recognised=replace(file.recognised, stage=stage, platform_prefix=platform),
    )


def _with_platform(file: UnitFile) -> UnitFile:
    """Return an executable that is text with its stage, which its name does not say."""
    platform = EXECUTABLES_AS_TEXT.get(file.recognised.description)
    if platform is None:
        return file
    stage: Stage = "after_optimizations"
    described = replace(file.recognised, stage=stage, platform_prefix=platform)
    return file._replace(recognised=described)


@dataclass(slots=True)
class KnownUnits:
    """Digests of units: met in this ingest, and `stored` or taken to be stored."""

    met: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)


class RunReading:
    """Reads one run: gives `batches` to be parsed, and keeps what need not be.

    `recorded` are the files that the warehouse holds of it, `replaced` those of them
    that are read anew. Known are files and occurrences of units that are stored or will
    be, other are files that make no module. Counts go to `summary`.
    """

    def __init__(
        self,
        source: RunSource,
        request: RunRequest,
        progress: Progress | None,
        summary: RunSummary,
    ) -> None:
        self.source = source
        self.request = request
        self.progress = progress
        self.summary = summary
        self.facts = RunFacts()
        self.units = KnownUnits()
        self.recorded: dict[str, RecordedFile] = {}
        self.retried: set[str] = set()
        self.known_occurrences: list[dict[str, Any]] = []
        self.known_files: list[dict[str, Any]] = []
        self.other_files: list[FileReport] = []
        self.other_rejects: list[tuple[str, Reject]] = []
        self.replaced: list[str] = []
        self.is_unchanged = False
        self.added_count = 0
        self.began = 0.0

    def completes(self, earlier: EarlierRun) -> bool:
        """Return whether an earlier run has these files so far, and take it up if so.

        Where it has them all, this reading of the run is the only one. `added_count`
        are the files that it has not.
        """
        # A pruned run is emptied when it is begun again.
        recorded = {} if earlier.is_pruned else earlier.files
        unheld = 0
        paths: list[str] = []
        self._begin()
        for unit in self.source.units():
            files = [self._unit_file(f) for f in unit.files]
            if not all(_agrees(f, earlier.files.get(f.path)) for f in files):
                return False
            self._look_at(unit, files)
            unheld += sum(not _holds(f, recorded, earlier.retried) for f in files)
            paths += [f.path for f in files]
        added = set(paths).difference(earlier.files)
        if added and is_of_another_dump(paths, earlier.files):
            return False
        self.added_count = len(added)
        self.recorded, self.retried = recorded, earlier.retried
        self.is_unchanged = unheld == 0
        self.summary.unchanged_files = self.summary.files if self.is_unchanged else 0
        return True

    def batches(self) -> Iterator[list[list[UnitFile]]]:
        """Read the run; give the units that have to be parsed, a few MB at a time."""
        if not self.is_unchanged:
            self._begin()
            yield from batches_of(map(self._take_unit, self.source.units()))

    def unsound_repeats(self) -> Iterator[list[list[UnitFile]]]:
        """Read units again that repeat an unsound one: its rejects are theirs, too."""
        repeats = {occurrence["unit_digest"] for occurrence in self.known_occurrences}
        unsound = repeats - self.units.stored
        if not unsound:
            return
        paths = {f["path"] for f in self.known_files if f["unit_digest"] in unsound}
        self.known_occurrences = _without(self.known_occurrences, unsound)
        self.known_files = _without(self.known_files, unsound)
        read = ([self._unit_file(f) for f in u.files] for u in self.source.units())
        yield from batches_of([f for f in files if f.path in paths] for files in read)

    def rejects(self) -> list[tuple[str, Reject]]:
        """Return the rejects and refusals of files that were not parsed."""
        return self.other_rejects + [
            (r.path, Reject(0, 0, "file", "refused", r.reason, ""))
            for r in self.source.refused.summed_up()
        ]

    def _begin(self) -> None:
        self.began = perf_counter()
        self.facts = RunFacts()
        self.summary.files = self.summary.bytes = 0

    def _unit_file(self, file: DumpFile) -> UnitFile:
        digest = sha256(file.data).hexdigest()
        read = UnitFile(file.path, file.data, digest, file.recognised)
        is_detailed = self.request.passes == "full" or not _is_pass(read)
        return hlo_alone(read._replace(is_detailed=is_detailed))

    def _look_at(
        self, unit: Unit, files: list[UnitFile]
    ) -> list[tuple[FileReport, list[Reject]]]:
        """Count files and learn from them; give the report and rejects of each."""
        for dumped, file in zip(unit.files, files, strict=True):
            self.summary.files += 1
            self.summary.bytes += file.size_bytes
            self.facts.saw_file_at(dumped.modified_at)
            learn_from_name(self.facts, file)
        if self.progress:
            name = self.source.name
            self.progress(name, self.summary.bytes, self.summary.files)
        reports = [(f, file_report(f)) for f in files]
        return [(r, learn_from_file(self.facts, f, r)) for f, r in reports]

    def _take_unit(self, unit: Unit) -> list[UnitFile]:
        """Read a unit; give the files to be parsed, account for the others."""
        files = [self._unit_file(f) for f in unit.files]
        seen = self._look_at(unit, files)
        for dumped in unit.files:
            if dumped.recognised.kind != "log":
                dumped.data = b""  # Who reads the next unit still holds this one.
        if all(_holds(f, self.recorded, self.retried) for f in files):
            self.summary.unchanged_files += len(files)
            return []
        self.other_rejects += [
            (dumped.path, Reject(0, 0, "file", "cut_short", dumped.problem, ""))
            for dumped in unit.files
            if dumped.problem
        ]
        self.replaced += [f.path for f in files if f.path in self.recorded]
        parsed = []
        for file, (report, rejects) in zip(files, seen, strict=True):
            if tells_nothing(unit, file):
                report.status, report.reason = "ignored", REPEATED
                self.other_files.append(report)
            elif file.recognised.kind in PARSED_KINDS:
                parsed.append(file)
            else:
                self._account(file, report, rejects)
        if self.request.passes == "none" and _is_pass(files[0]):
            self.other_files += [_left_out(f) for f in parsed]
            return []
        return self._new_unit(parsed) if parsed else []

    def _account(
        self, file: UnitFile, report: FileReport, rejects: list[Reject]
    ) -> None:
        """Record a file that makes no module."""
        kind = file.recognised.kind
        if kind not in FACT_KINDS:
            report.status = "ignored"
        if kind == "unknown" and _claims_a_dump(file):
            report.status = "rejected"
            message = f"{report.reason}; dump it again or leave it out"
            rejects = [Reject(0, 0, "file", "not_what_it_says", message, "")]
        self.other_files.append(report)
        self.other_rejects += [(file.path, reject) for reject in rejects]

    def _new_unit(self, files: list[UnitFile]) -> list[UnitFile]:
        digest = unit_digest(files)
        if not files[0].is_detailed:
            return files
        if digest not in self.units.met:
            self.units.met.add(digest)
            return files
        occurrence = occurrence_columns(main_file(files)) | {"unit_digest": digest}
        self.known_occurrences.append(occurrence)
        self.known_files += [
            {
                "unit_digest": digest,
                "path": f.path,
                "kind": f.recognised.kind,
                "stage": f.recognised.stage,
                "sha256": f.sha256,
                "size_bytes": f.size_bytes,
            }
            for f in files
        ]
        return []


def _agrees(file: UnitFile, recorded: RecordedFile | None) -> bool:
    """Return whether a file has at most grown since it was recorded, if it was."""
    return (
        recorded is None or recorded.sha256 == file.sha256 or recorded.begins(file.data)
    )


def _holds(
    file: UnitFile, recorded: dict[str, RecordedFile], retried: Set[str]
) -> bool:
    """Return whether a file need not be read again."""
    earlier = recorded.get(file.path)
    return (
        earlier is not None
        and earlier.sha256 == file.sha256
        and file.path not in retried
    )


def _without(rows: list[dict[str, Any]], digests: Set[int]) -> list[dict[str, Any]]:
    return [row for row in rows if row["unit_digest"] not in digests]


def _is_pass(file: UnitFile) -> bool:
    return file.recognised.stage == "pass"


def _left_out(file: UnitFile) -> FileReport:
    report = file_report(file)
    report.status, report.reason = "ignored", "left out by --passes none"
    return report


def _claims_a_dump(file: UnitFile) -> bool:
    return file.recognised.module_number is not None or file.path.endswith(".txt")
