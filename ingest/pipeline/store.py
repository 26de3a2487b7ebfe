"""What runs bring, gathered and written: many batches and runs in one transaction.

The file is opened late and closed early, since no other process can use it meanwhile;
and seldom, because each closing writes a checkpoint and leaves half-filled blocks. A
new one is held from when it is prepared until something is in it: else what is written
of macros would be written again, and its blocks left empty, a tenth of a small file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

from hlodb.ingest.load.delete import forget_refusals
from hlodb.ingest.load.occurrences import load_files, load_known
from hlodb.ingest.load.run_records import Holdings, RunSummary, holdings
from hlodb.ingest.load.run_rows import count_runs, load_facts
from hlodb.ingest.load.writer import load_batches, load_rejects
from hlodb.ingest.pipeline.run_ingest import RunIngest
from hlodb.ingest.pipeline.run_reading import KnownUnits
from hlodb.ingest.tables.batch import BATCH_BYTES, BatchResult
from hlodb.ingest.tables.content_keys import Row, file_table
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import Preparation, connect, transaction

FLUSH_BYTES = 48_000_000
"""Weight of what is parsed before a transaction, up to four times as much once much is
written."""


class Store:
    """Takes results of runs, in the order of the runs, and writes them now and then.

    `held` is what the warehouse was found to hold just now, if it was asked. `prepare`
    is done once with a connection for writing, while workers parse. To be closed.
    """

    def __init__(
        self,
        database: Path,
        held: Holdings | None = None,
        prepare: Preparation | None = None,
    ) -> None:
        self._database = database
        self._held = held
        self._prepare = prepare
        self._prepared: Future[ExitStack] | None = None
        self._gathered: list[tuple[RunIngest, BatchResult]] = []
        self._ended: list[RunIngest] = []
        self._written = 0
        self._units = KnownUnits()

    def settle(self, runs: Sequence[RunIngest]) -> None:
        """Assign runs their names, and the facts that the warehouse has."""
        held = self._held
        # Where no run can complete another, what was found just now is enough.
        if held is None or any(run.may_complete(held.run_names) for run in runs):
            with connect(self._database) as connection:
                held = holdings(connection)
                for run in runs:
                    run.look_up(connection, held.run_names)
        self._units.stored.update(held.unit_digests)
        self._units.met.update(held.unit_digests)
        taken = set(held.run_names)
        for run in runs:
            run.reading.units = self._units
            run.settle(taken)
            taken.add(run.summary.name)

    def take(self, run: RunIngest, result: BatchResult) -> list[RunSummary]:
        """Take the next result of a run; give runs that are whole, if any was written.

        If earlier results are much, they are written. This one never is: the last
        result of a run is to come in with its end, so that a run which holds all its
        files has been finished, whenever the process dies.
        """
        if result.weight >= BATCH_BYTES:  # so it is seldom the only one
            self._prepare_meanwhile()
        whole: list[RunSummary] = []
        gathered = sum(r.weight for _, r in self._gathered)
        # Large transactions cost less; but the last one, which is written when workers
        # have ended, is to be a small part of the whole.
        wanted = min(self._written // 3, 4 * FLUSH_BYTES)
        if gathered >= max(FLUSH_BYTES, wanted):
            self._written += gathered
            whole = self.flush()
        self._gathered.append((run, result))
        run.took(result)
        return whole

    def end(self, run: RunIngest) -> None:
        """Mark a run as complete: it has given all its results."""
        self._ended.append(run)

    def flush(self) -> list[RunSummary]:
        """Write what has gathered; give the summaries of runs that are now whole."""
        gathered, self._gathered = self._gathered, []
        ended, self._ended = self._ended, []
        runs = list(dict.fromkeys([run for run, _ in gathered] + ended))
        if not runs:
            return []
        if self._prepared is not None:
            self._prepared.result()
        try:
            self._write(runs, gathered, ended)
        finally:
            self.close()
        return [run.summary for run in ended]

    def _write(
        self,
        runs: Sequence[RunIngest],
        gathered: Sequence[tuple[RunIngest, BatchResult]],
        ended: Sequence[RunIngest],
    ) -> None:
        with transaction(self._database, before=self._prepare_once) as connection:
            # One thread packs blocks fuller, and the other cores are busy parsing.
            connection.execute("SET threads = 1")
            try:
                for run in runs:
                    run.begin(connection)
                results = [(run.summary.run_id, result) for run, result in gathered]
                counts = load_batches(connection, results)
                for (run, result), new_modules in zip(gathered, counts, strict=True):
                    run.wrote(result, new_modules)
                _load_unparsed(connection, ended)
                _finish(connection, ended)
            finally:
                # Connections of one process to one file share their settings.
                connection.execute("RESET threads")

    def close(self) -> None:
        """Let go of a file that was prepared; what failed there `flush` raises."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared.exception() is None:
            prepared.result().close()

    def _prepare_meanwhile(self) -> None:
        # All workers have been forked, so none can lose the foreign threads of this.
        if self._prepare is not None and self._prepared is None:
            # Without another thread it is prepared when the first results are written.
            with suppress(RuntimeError):
                self._prepared = ThreadPoolExecutor(1).submit(self._open_and_prepare)

    def _open_and_prepare(self) -> ExitStack:
        with ExitStack() as stack:
            self._prepare_once(
                stack.enter_context(connect(self._database, read_only=False))
            )
            return stack.pop_all()

    def _prepare_once(self, connection: Connection) -> None:
        prepare, self._prepare = self._prepare, None
        if prepare is not None:
            prepare(connection)


def _finish(connection: Connection, runs: Sequence[RunIngest]) -> None:
    for run in runs:
        run.finish(connection)
    load_facts(connection, [(run.summary.run_id, run.reading.facts) for run in runs])
    counts = count_runs(connection, [run.summary.run_id for run in runs])
    for run in runs:
        run.counted(counts[run.summary.run_id])


def _load_unparsed(connection: Connection, runs: Sequence[RunIngest]) -> None:
    """Store known units of runs, and files that make no module."""
    by_id = {run.summary.run_id: run.reading for run in runs}
    known = {run_id: run.known_occurrences for run_id, run in by_id.items()}
    files = {run_id: run.known_files for run_id, run in by_id.items()}
    forget_refusals(connection, by_id)
    load_known(connection, _with_runs(known), _with_runs(files))
    others = [(run_id, f) for run_id, run in by_id.items() for f in run.other_files]
    load_files(connection, file_table(others))
    rejects = [(run_id, *r) for run_id, run in by_id.items() for r in run.rejects()]
    load_rejects(connection, rejects)


def _with_runs(rows: Mapping[int, Sequence[Row]]) -> list[Row]:
    return [row | {"run_id": run_id} for run_id in rows for row in rows[run_id]]
