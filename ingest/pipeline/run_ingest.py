"""One run on its way into the warehouse: its name, its reading, its transactions.

Nobody holds the warehouse for a whole ingest, so each transaction first makes sure that
the run is as the last one left it, and the last one that nothing it relied on is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from time import perf_counter

import pyarrow as pa

from hlodb.errors import WarehouseLocked
from hlodb.ingest.load.delete import delete_orphans, forget_paths
from hlodb.ingest.load.run_records import (
    EarlierRun,
    Progress,
    RunRequest,
    RunSummary,
    is_run_pruned,
    origin_of,
    recorded_files,
    reduced_files,
    rejected_files,
)
from hlodb.ingest.load.run_rows import (
    begin_run,
    finish_run,
    forget_facts,
    note_of_future,
    note_of_order,
    say_of_run,
)
from hlodb.ingest.load.statements import execute_on, statement
from hlodb.ingest.pipeline.mixed_dumps import (
    alike_folders,
    alike_prefixes,
    note_of_alike,
    note_of_prefixes,
    note_of_shared,
    shared_numbers,
)
from hlodb.ingest.pipeline.run_reading import RunReading
from hlodb.ingest.sources.discover import RunSource
from hlodb.ingest.tables.batch import BatchResult
from hlodb.schema.connection import Connection


def require_untouched(
    connection: Connection, run_id: int, name: str, paths: set[str]
) -> None:
    """Raise WarehouseLocked unless the run holds just the files that we left in it."""
    row = connection.execute("SELECT name FROM runs WHERE run_id = ?", [run_id])
    found = row.fetchone()
    if found is None or found[0] != name:
        raise WarehouseLocked(f"run {name} was removed while it was being ingested")
    if (recorded_files(connection, name) or {}).keys() != paths:
        raise WarehouseLocked(
            f"another process ingests a run called {name} at the same time"
            " (give runs their own names with --run)"
        )


def require_whole(
    connection: Connection, run_id: int, name: str, unit_digests: Sequence[int]
) -> None:
    """Raise WarehouseLocked where units could not be copied from other runs.

    That is the case where the run that brought their details was removed or pruned
    after we had seen that nothing need be parsed.
    """
    if not unit_digests:
        return
    wanted = pa.table(
        {"unit_digest": unit_digests, "run_id": [run_id] * len(unit_digests)}
    )
    [[lost]] = execute_on(connection, statement("count_lost"), wanted)
    if lost:
        raise WarehouseLocked(
            f"modules of run {name} were removed with another run while it was being"
            " ingested"
        )


class RunIngest:
    """One run: `look_up`, `settle`, then its `reading`, and what is written of it.

    In every transaction that concerns the run come `begin`, the results of batches and
    `wrote`, in the last one what was not parsed, and `finish`.
    """

    def __init__(
        self, source: RunSource, request: RunRequest, progress: Progress | None
    ) -> None:
        self.source = source
        self.request = request
        self.summary = RunSummary(0, source.name)
        self.reading = RunReading(source, request, progress, self.summary)
        self.earlier: dict[str, EarlierRun] = {}
        self.written: set[str] = set()
        self.is_begun = False
        self.is_new = False

    # --- its name ---

    def may_complete(self, taken: Set[str]) -> list[str]:
        """Return the names of runs that this one may complete."""
        pattern = re.compile(rf"{re.escape(self.source.name)}(?:~\d+)?")
        return list(filter(pattern.fullmatch, taken))

    def look_up(self, connection: Connection, taken: Set[str]) -> None:
        """Learn what the warehouse holds of runs that this one may complete."""
        for name in self.may_complete(taken):
            self.earlier[name] = EarlierRun(
                origin_of(connection, name),
                recorded_files(connection, name) or {},
                is_run_pruned(connection, name),
                self._to_be_read_again(connection, name),
            )

    def _to_be_read_again(self, connection: Connection, name: str) -> set[str]:
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
        earlier = self.earlier.get(name)
        if earlier is None or not self.reading.completes(earlier):
            return False
        self.written = set(self.reading.recorded)
        added, origin = self.reading.added_count, self.source.origin
        if added and origin != earlier.origin:
            self.summary.notes.append(
                f"run {name} held {len(earlier.files)} files of {earlier.origin};"
                f" {added} more of {origin} complete it"
            )
        return True

    # --- writing ---

    def begin(self, connection: Connection) -> None:
        """Begin the run, or make sure that it is as our last transaction left it."""
        run, source = self.summary, self.source
        self.is_new = False
        if not self.is_begun:
            run.run_id, self.is_new = begin_run(connection, run.name, source.origin)
            self.summary.notes += say_of_run(
                connection, run.run_id, run.name, self.request
            )
            self.is_begun = True
        if self.is_new and not self.written:
            return
        require_untouched(connection, run.run_id, run.name, self.written)
        if replaced := self.reading.replaced:
            forget_paths(connection, run.run_id, replaced)
            delete_orphans(connection)
            self.written.difference_update(replaced)
            self.reading.replaced = []

    def took(self, result: BatchResult) -> None:
        """Learn which units are sound, so that others need not be parsed again."""
        digests = result.tables["modules"]["unit_digest"].to_pylist()
        self.reading.units.stored.update(d for d in digests if d is not None)

    def wrote(self, result: BatchResult, new_modules: int) -> None:
        """Learn that a result was written, and how many of its modules were new."""
        self.written.update(file.path for file in result.files)
        self.summary.new_modules += new_modules

    def finish(self, connection: Connection) -> None:
        """Write what the run says of itself, but for what its facts list."""
        run_id, reading = self.summary.run_id, self.reading
        self.summary.has_dump = self.source.has_dump
        digests = [o["unit_digest"] for o in reading.known_occurrences]
        require_whole(connection, run_id, self.summary.name, digests)
        if not self.is_new:
            forget_facts(connection, run_id, reading.facts)
        finish_run(connection, run_id, self.request, reading.facts)
        self.summary.notes += note_of_future(connection, run_id, self.summary.name)
        if self.is_new:
            self.summary.notes += note_of_order(connection, run_id, self.summary.name)
        if self.summary.name not in self.earlier:
            self._say_if_several()

    def _say_if_several(self) -> None:
        known = (file["path"] for file in self.reading.known_files)
        paths = (*self.written, *known)
        if alike := alike_folders(paths):
            self.summary.notes.append(note_of_alike(self.summary.name, alike))
        if prefixes := alike_prefixes(paths):
            self.summary.notes.append(note_of_prefixes(self.summary.name, prefixes))
        if shared := shared_numbers(paths):
            self.summary.notes.append(note_of_shared(self.summary.name, shared))

    def counted(self, counts: Mapping[str, int]) -> None:
        """Learn what the run holds now, by attribute of its summary; end its time."""
        for name, count in counts.items():
            setattr(self.summary, name, count)
        self.summary.seconds = perf_counter() - self.reading.began
