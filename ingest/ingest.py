"""The whole way of a dump into the warehouse, run by run.

    discover → recognise → parse → normalise → load

Files are read and hashed here, parsed in worker processes, and loaded here, a few
batches a transaction; a crash at any moment leaves whole modules behind, and ingesting
again completes the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from hlodb.errors import UsageError
from hlodb.ingest.batch import BatchResult
from hlodb.ingest.discover import RunSource, Unit, discover
from hlodb.ingest.forget import delete_orphans, forget_paths
from hlodb.ingest.limits import DEFAULT_LIMITS, Limits
from hlodb.ingest.load import load_batches, load_files, load_known, load_rejects
from hlodb.ingest.parse_unit import (
    MODULE_KINDS,
    PARSED_KINDS,
    FileReport,
    UnitFile,
    file_report,
    occurrence_columns,
    platform_of,
    unit_digest,
)
from hlodb.ingest.records import Reject
from hlodb.ingest.run_facts import learn_from_file
from hlodb.ingest.run_records import (
    RunFacts,
    RunRequest,
    begin_run,
    finish_run,
    recorded_files,
)
from hlodb.ingest.workers import default_jobs, parse_batches
from hlodb.schema.warehouse import connect

_BATCH_BYTES = 4_000_000
_FLUSH_BYTES = 48_000_000
"""Text parsed between two transactions (bytes)."""

Progress = Callable[[int, int], None]
"""Called with bytes and files read so far."""


@dataclass(slots=True)
class RunSummary:
    """What one run holds after ingestion; `added_*` is what this ingestion brought."""

    run_id: int
    name: str
    files: int = 0
    bytes: int = 0
    modules: int = 0
    instructions: int = 0
    allocations: int = 0
    values: int = 0
    live_ranges: int = 0
    rejects: int = 0
    seconds: float = 0.0
    unchanged_files: int = 0
    added_modules: int = 0
    new_modules: int = 0
    notes: list[str] = field(default_factory=list)


def ingest(
    paths: Sequence[str],
    database: str | Path,
    *,
    request: RunRequest = RunRequest(),  # noqa: B008 - frozen
    jobs: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> list[RunSummary]:
    """Bring dump directories, archives and files into the warehouse at `database`.

    Raises UsageError where nothing is there to read, WarehouseError where the warehouse
    cannot be written. Bad input is recorded, never raised.
    """
    sources = discover(paths, run_name=request.name, limits=limits)
    with connect(database, read_only=False):
        pass
    return [
        _RunIngest(source, Path(database), request, jobs or default_jobs(), progress).run()
        for source in sources
    ]


class _RunIngest:
    """One run on its way into the warehouse."""

    def __init__(
        self,
        source: RunSource,
        database: Path,
        request: RunRequest,
        jobs: int,
        progress: Progress | None,
    ) -> None:
        self.source = source
        self.database = database
        self.request = request
        self.jobs = jobs
        self.progress = progress
        self.facts = RunFacts()
        self.recorded: dict[str, str] = {}
        self.known_digests: set[int] = set()
        self.known_occurrences: list[dict[str, Any]] = []
        self.known_files: list[dict[str, Any]] = []
        self.other_files: list[FileReport] = []
        self.other_rejects: list[tuple[str, Reject]] = []
        self.replaced: list[str] = []
        self.summary = RunSummary(0, source.name)

    def run(self) -> RunSummary:
        began = time.perf_counter()
        self._settle_name()
        with connect(self.database, read_only=False) as connection:
            self.summary.run_id = begin_run(
                connection, self.summary.name, self.source.origin, self.request
            )
            rows = connection.execute(
                "SELECT DISTINCT unit_digest FROM modules WHERE unit_digest IS NOT NULL"
            ).fetchall()
            self.known_digests = {row[0] for row in rows}
        waiting: list[BatchResult] = []
        waiting_bytes = 0
        for result in parse_batches(self._batches(), self.jobs):
            waiting.append(result)
            waiting_bytes += result.input_bytes
            if waiting_bytes >= _FLUSH_BYTES:
                self._flush(waiting)
                waiting, waiting_bytes = [], 0
        self._flush(waiting)
        self._finish()
        self.summary.seconds = time.perf_counter() - began
        return self.summary

    # --- reading ---

    def _settle_name(self) -> None:
        """Complete a run of the same name and content; never mix two dumps under one."""
        number = 1
        while True:
            name = self.source.name if number == 1 else f"{self.source.name}~{number}"
            with connect(self.database, read_only=False) as connection:
                recorded = recorded_files(connection, name)
            if recorded is None or self._agrees_with(recorded):
                break
            number += 1
        self.summary.name = name
        self.recorded = recorded or {}
        if number > 1 and recorded is None:
            self.summary.notes.append(
                f"run {self.source.name} holds other files; stored as {name}"
                " (give runs their own names with --run)"
            )

    def _agrees_with(self, recorded: dict[str, str]) -> bool:
        """Tell whether no file that the run recorded has changed since."""
        return all(
            recorded.get(file.path, digest) == digest
            for unit in self.source.units()
            for file in unit.files
            for digest in [sha256(file.data).hexdigest()]
        )

    def _batches(self) -> Iterator[list[list[UnitFile]]]:
        batch: list[list[UnitFile]] = []
        size = 0
        for unit in self.source.units():
            files = self._take(unit)
            if files:
                batch.append(files)
                size += sum(len(f.data) for f in files)
            if size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _take(self, unit: Unit) -> list[UnitFile]:
        """Read a unit; give the files that have to be parsed, account for the others."""
        files = [
            UnitFile(f.path, f.data, sha256(f.data).hexdigest(), f.recognised)
            for f in unit.files
        ]
        for dumped, file in zip(unit.files, files, strict=True):
            self.summary.files += 1
            self.summary.bytes += len(file.data)
            self.facts.saw_file_at(dumped.modified_at)
            self.facts.learn(_name_facts(file))
            learn_from_file(self.facts, file)
        if self.progress:
            self.progress(self.summary.bytes, self.summary.files)
        if all(self.recorded.get(f.path) == f.sha256 for f in files):
            self.summary.unchanged_files += len(files)
            return []
        self.replaced += [f.path for f in files if f.path in self.recorded]
        parsed = [f for f in files if f.recognised.kind in PARSED_KINDS]
        self._account([f for f in files if f.recognised.kind not in PARSED_KINDS])
        if not any(f.recognised.kind in MODULE_KINDS for f in parsed):
            return parsed
        return self._new_unit(parsed)

    def _account(self, files: list[UnitFile]) -> None:
        for file in files:
            report = file_report(file)
            report.status = "ignored"
            if file.recognised.kind == "unknown" and _claims_a_dump(file):
                report.status = "rejected"
                message = f"{report.reason}; dump it again or leave it out"
                reject = Reject(1, 1, "file", "not_what_it_says", message, "")
                self.other_rejects.append((file.path, reject))
            elif file.recognised.kind not in ("ignored", "unknown"):
                report.status = "loaded"
            self.other_files.append(report)

    def _new_unit(self, files: list[UnitFile]) -> list[UnitFile]:
        digest = unit_digest(files)
        if digest not in self.known_digests:
            return files
        main = next((f for f in files if f.recognised.kind in ("hlo_text", "log")), None)
        occurrence = occurrence_columns(main or files[0]) | {"unit_digest": digest}
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

    def _flush(self, results: list[BatchResult]) -> None:
        if not results:
            return
        with connect(self.database, read_only=False) as connection:
            if self.replaced:
                forget_paths(connection, self.summary.run_id, self.replaced)
                self.replaced = []
            load_batches(connection, self.summary.run_id, results)
        self.summary.new_modules += sum(len(r.detailed) for r in results)
        self.summary.added_modules += sum(r.tables["modules"].num_rows for r in results)

    def _finish(self) -> None:
        refused = [
            (r.path, Reject(1, 1, "file", "refused", r.reason, ""))
            for r in self.source.refused
        ]
        run_id = self.summary.run_id
        with connect(self.database, read_only=False) as connection:
            connection.execute("BEGIN")
            had_replaced = bool(self.replaced)
            if had_replaced:
                forget_paths(connection, run_id, self.replaced)
            load_known(connection, run_id, self.known_occurrences, self.known_files)
            load_files(connection, run_id, self.other_files)
            load_rejects(connection, run_id, self.other_rejects + refused)
            finish_run(connection, run_id, self.request, self.facts)
            connection.execute("COMMIT")
            if had_replaced:
                delete_orphans(connection)
            self.summary.added_modules += len(self.known_occurrences)
            self._count(connection)

    def _count(self, connection: Any) -> None:
        from hlodb.ingest.statements import statement

        row = connection.execute(
            statement("count_run"), {"run_id": self.summary.run_id}
        ).fetchone()
        names = (
            "modules", "instructions", "allocations", "values", "live_ranges", "rejects",
        )  # fmt: skip
        for name, value in zip(names, row, strict=True):
            setattr(self.summary, name, int(value))


def _name_facts(file: UnitFile) -> dict[str, str | None]:
    r = file.recognised
    return {
        "platform": platform_of(r),
        "compiler_version": f"cl_{r.cl}" if r.cl else None,
        "device": r.platform_prefix if r.platform_prefix not in (None, "cpu") else None,
    }


def _claims_a_dump(file: UnitFile) -> bool:
    return file.recognised.module_number is not None or file.path.endswith(".txt")


def require_paths(paths: Sequence[str]) -> None:
    """Raise UsageError where no path was given."""
    if not paths:
        raise UsageError("name a dump directory, file or archive to ingest")
