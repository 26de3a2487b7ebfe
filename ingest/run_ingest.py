"""One run on its way into the warehouse: what is read, known and stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import duckdb

from hlodb.ingest.batch import BatchResult
from hlodb.ingest.batching import batches_of
from hlodb.ingest.contention import require_untouched, require_whole
from hlodb.ingest.discover import DumpFile, RunSource, Unit
from hlodb.ingest.forget import delete_orphans, forget_paths
from hlodb.ingest.records import Reject
from hlodb.ingest.run_facts import (
    FACT_KINDS,
    RunFacts,
    learn_from_file,
    learn_from_name,
)
from hlodb.ingest.run_records import (
    RecordedFile,
    RunRequest,
    is_run_pruned,
    recorded_files,
    reduced_files,
    rejected_files,
)
from hlodb.ingest.run_rows import begin_run, finish_run, forget_facts
from hlodb.ingest.run_summary import Progress, RunSummary
from hlodb.ingest.unit_files import (
    MODULE_KINDS,
    PARSED_KINDS,
    FileReport,
    UnitFile,
    file_report,
    main_file,
    occurrence_columns,
    unit_digest,
)


@dataclass(slots=True)
class Units:
    """Digests of units: met in this ingest, and `stored` or taken to be stored."""

    met: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)


class _Earlier(NamedTuple):
    """What the warehouse holds of a run, and which files are to be read again."""

    files: dict[str, RecordedFile]
    is_pruned: bool
    retried: set[str]


class RunIngest:
    """One run: `look_up`, `settle`, `batches` to be parsed, and what is written of it.

    In every transaction that concerns the run come `begin`, the results of batches and
    `wrote`, in the last one what was not parsed, and `finish`.
    """

    def __init__(
        self, source: RunSource, request: RunRequest, progress: Progress | None
    ) -> None:
        self.source = source
        self.request = request
        self.progress = progress
        self.facts = RunFacts()
        self.recorded: dict[str, RecordedFile] = {}
        self.earlier: dict[str, _Earlier] = {}
        self.retried: set[str] = set()
        self.written: set[str] = set()
        self.units = Units()
        self.known_occurrences: list[dict[str, Any]] = []
        self.known_files: list[dict[str, Any]] = []
        self.other_files: list[FileReport] = []
        self.other_rejects: list[tuple[str, Reject]] = []
        self.replaced: list[str] = []
        self.is_begun = False
        self.is_new = False
        self.is_unchanged = False
        self.began = 0.0
        self.summary = RunSummary(0, source.name)

    # --- reading ---

    def batches(self) -> Iterator[list[list[UnitFile]]]:
        """Read the run; give the units that have to be parsed, a few MB at a time."""
        if not self.is_unchanged:
            self._begin_reading()
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

    def may_complete(self, taken: Set[str]) -> list[str]:
        """Give the names of runs that this one may complete."""
        pattern = re.compile(rf"{re.escape(self.source.name)}(?:~\d+)?")
        return list(filter(pattern.fullmatch, taken))

    def look_up(self, connection: duckdb.DuckDBPyConnection, taken: Set[str]) -> None:
        """Learn what the warehouse holds of runs that this one may complete."""
        for name in self.may_complete(taken):
            self.earlier[name] = _Earlier(
                recorded_files(connection, name) or {},
                is_run_pruned(connection, name),
                self._to_be_read_again(connection, name),
            )

    def _to_be_read_again(
        self, connection: duckdb.DuckDBPyConnection, name: str
    ) -> set[str]:
        if self.request.retry_rejects:
            return rejected_files(connection, name)
        if self.request.passes == "full":
            return reduced_files(connection, name)
        return set()

    def settle(self, taken: Set[str]) -> None:
        """Take a name; one that is `taken` only to complete the run that has it."""
        number = 1
        name = self.source.name
        while name in taken and not self._completes(name):
            number += 1
            name = f"{self.source.name}~{number}"
        self.summary.name = name
        self.earlier.clear()
        if number > 1 and name not in taken:
            self.summary.notes.append(
                f"run {self.source.name} holds other files; stored as {name}"
                " (give runs their own names with --run)"
            )

    def _completes(self, name: str) -> bool:
        """Tell whether the run of that name has these files, as far as it goes.

        Where it has them all, this reading of the run is the only one.
        """
        earlier = self.earlier.get(name)
        if earlier is None:
            return False
        # A pruned run is emptied when it is begun again.
        recorded = {} if earlier.is_pruned else earlier.files
        unheld = 0
        self._begin_reading()
        for unit in self.source.units():
            files = [self._unit_file(f) for f in unit.files]
            if not all(_agrees(f, earlier.files.get(f.path)) for f in files):
                return False
            self._look_at(unit, files)
            unheld += sum(not _holds(f, recorded, earlier.retried) for f in files)
        self.recorded, self.retried = recorded, earlier.retried
        self.written = set(recorded)
        self.is_unchanged = unheld == 0
        self.summary.unchanged_files = self.summary.files if self.is_unchanged else 0
        return True

    def _begin_reading(self) -> None:
        self.began = perf_counter()
        self.facts = RunFacts()
        self.summary.files = self.summary.bytes = 0

    def _look_at(
        self, unit: Unit, files: list[UnitFile]
    ) -> list[tuple[FileReport, list[Reject]]]:
        """Count files and learn from them; give the report and rejects of each."""
        for dumped, file in zip(unit.files, files, strict=True):
            self.summary.files += 1
            self.summary.bytes += len(file.data)
            self.facts.saw_file_at(dumped.modified_at)
            learn_from_name(self.facts, file)
        if self.progress:
            self.progress(self.summary.bytes, self.summary.files)
        reports = [(f, file_report(f)) for f in files]
        return [(r, learn_from_file(self.facts, f, r)) for f, r in reports]

    def _take_unit(self, unit: Unit) -> list[UnitFile]:
        """Read a unit; give the files to be parsed, account for the others."""
        files = [self._unit_file(f) for f in unit.files]
        seen = self._look_at(unit, files)
        if all(_holds(f, self.recorded, self.retried) for f in files):
            self.summary.unchanged_files += len(files)
            return []
        self.other_rejects += [
            (dumped.path, Reject(1, 1, "file", "cut_short", dumped.problem, ""))
            for dumped in unit.files
            if dumped.problem
        ]
        self.replaced += [f.path for f in files if f.path in self.recorded]
        parsed = [f for f in files if f.recognised.kind in PARSED_KINDS]
        for file, (report, rejects) in zip(files, seen, strict=True):
            if file.recognised.kind not in PARSED_KINDS:
                self._account(file, report, rejects)
        if self.request.passes == "none" and _is_pass(files[0]):
            self.other_files += [_left_out(f) for f in parsed]
            return []
        if not any(f.recognised.kind in MODULE_KINDS for f in parsed):
            return parsed
        return self._new_unit(parsed)

    def _unit_file(self, file: DumpFile) -> UnitFile:
        digest = sha256(file.data).hexdigest()
        read = UnitFile(file.path, file.data, digest, file.recognised)
        is_detailed = self.request.passes == "full" or not _is_pass(read)
        return read._replace(is_detailed=is_detailed)

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
            rejects = [Reject(1, 1, "file", "not_what_it_says", message, "")]
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
                "size_bytes": len(f.data),
            }
            for f in files
        ]
        return []

    # --- writing ---

    def begin(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Begin the run, or make sure that it is as our last transaction left it."""
        run, source = self.summary, self.source
        self.is_new = False
        if not self.is_begun:
            run.run_id, self.is_new = begin_run(
                connection, run.name, source.origin, self.request
            )
            self.is_begun = True
        if self.is_new and not self.written:
            return
        require_untouched(connection, run.run_id, run.name, self.written)
        if self.replaced:
            forget_paths(connection, run.run_id, self.replaced)
            delete_orphans(connection)
            self.written.difference_update(self.replaced)
            self.replaced = []

    def took(self, result: BatchResult) -> None:
        """Learn which units are sound, so that others need not be parsed again."""
        digests = result.tables["modules"]["unit_digest"].to_pylist()
        self.units.stored.update(d for d in digests if d is not None)

    def wrote(self, result: BatchResult, new_modules: int) -> None:
        """Learn that a result was written, and how many of its modules were new."""
        self.written.update(file.path for file in result.files)
        self.summary.new_modules += new_modules

    def rejects(self) -> list[tuple[str, Reject]]:
        """Give what was rejected or refused of files that were not parsed."""
        return self.other_rejects + [
            (r.path, Reject(1, 1, "file", "refused", r.reason, ""))
            for r in self.source.refused
        ]

    def finish(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what the run says of itself, but for what `facts` list."""
        run_id = self.summary.run_id
        self.summary.has_dump = self.source.has_dump
        digests = [occurrence["unit_digest"] for occurrence in self.known_occurrences]
        require_whole(connection, run_id, self.summary.name, digests)
        if not self.is_new:
            forget_facts(connection, run_id, self.facts)
        finish_run(connection, run_id, self.request, self.facts)

    def counted(self, counts: Mapping[str, int]) -> None:
        """Learn what the run holds now, by attribute of its summary; end its time."""
        for name, count in counts.items():
            setattr(self.summary, name, count)
        self.summary.seconds = perf_counter() - self.began


def _agrees(file: UnitFile, recorded: RecordedFile | None) -> bool:
    """Tell whether a file has at most grown since it was recorded, if it was."""
    return (
        recorded is None or recorded.sha256 == file.sha256 or recorded.begins(file.data)
    )


def _holds(
    file: UnitFile, recorded: dict[str, RecordedFile], retried: Set[str]
) -> bool:
    """Tell whether a file need not be read again."""
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
