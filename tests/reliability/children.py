"""Processes that ingest and meet with harm on the way, at a moment that can be named.

A moment is a number: every statement sent to DuckDB, every opening and closing of the
file, every batch parsed, every file copied, renamed or removed counts, before and after
it happens.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import resource
import shutil
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import duckdb

from hlodb.errors import HlodbError
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline import store, workers
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.tables import batch
from hlodb.schema import limits
from hlodb.schema.warehouse import connect

KILLED = -9
LOCKED_OUT = 5
INTERNAL_ERROR = 70
_PRELOADED = [
    "hlodb.commands.ingest",
    "hlodb.commands.report",
    "hlodb.lake.ingestion",
    "hlodb.ingest.pipeline.schedule",
    "hlodb.schema.backup",
    "tests.reliability.children",
    "tests.reliability.crowd",
]
_CONNECTED = ("execute", "executemany", "close")
_RENAMING = ("link", "rename", "replace", "unlink")

Harm = Callable[[], None]


def context() -> ForkServerContext:
    """Return a way to start processes at once, from one that has all modules loaded."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)
    return found


def start(work: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """Start `work` in a process of its own."""
    process = context().Process(target=_carry_out, args=(work, arguments))
    process.start()
    return process


def run(work: Callable[..., None], *arguments: Any) -> int:
    """Do `work` in a process of its own; give its exit code, -9 if it was killed."""
    process = start(work, *arguments)
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _carry_out(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    try:
        work(*arguments)
    except HlodbError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        os._exit(error.exit_code)
    except BaseException:
        traceback.print_exc()
        os._exit(INTERNAL_ERROR)


def ingest_paths(
    paths: Sequence[str], database: Path, jobs: int = 1, name: str | None = None
) -> None:
    """Ingest in small batches, so that a small dump has many transactions."""
    batch.BATCH_BYTES, batch.UNIT_BYTES = 10_000, 0
    store.FLUSH_BYTES = 25_000
    ingest(paths, database, jobs=jobs, request=RunRequest(name=name))


def count_moments(
    found: SimpleQueue[int], work: Callable[..., object], *arguments: Any
) -> None:
    """Do `work` undisturbed; put the number of moments that there were."""
    moments = _Moments(-1, lambda: None)
    moments.watch()
    work(*arguments)
    found.put(moments.count)


def die_at(
    moment: int, ledger: Path | None, work: Callable[..., object], *arguments: Any
) -> None:
    """Do `work`, and be killed at a moment; `ledger` has what was committed before."""
    moments = _Moments(moment, _die, ledger)
    moments.watch()
    work(*arguments)


def ingest_without_permission(
    paths: Sequence[str], database: Path, moment: int
) -> None:
    """Ingest, and lose the right to write at a moment."""
    _heed_permissions()

    def withdraw() -> None:
        for path in (database, Path(f"{database}.wal")):
            if path.exists():
                path.chmod(0o444)
        database.parent.chmod(0o555)

    moments = _Moments(moment, withdraw)
    moments.watch()
    ingest_paths(paths, database)


def ingest_with_quota(paths: Sequence[str], database: Path, quota_bytes: int) -> None:
    """Ingest while no file may grow beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (quota_bytes, hard))
    ingest_paths(paths, database)


def hold(database: Path, is_held: SimpleQueue[int], seconds: float) -> None:
    """Hold the warehouse open for writing."""
    import time

    with connect(database, read_only=False):
        is_held.put(os.getpid())
        time.sleep(seconds)


def _heed_permissions() -> None:
    """Drop root's privilege to pass over permissions (CAP_DAC_OVERRIDE)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    # Two triples of effective, permitted and inheritable capabilities.
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    sets[0] &= ~0b110
    assert libc.capset(header, sets) == 0


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Moments:
    """Counts moments; does harm at one of them."""

    def __init__(self, fatal: int, harm: Harm, ledger: Path | None = None) -> None:
        self.count = 0
        self.ledger = ledger
        self._fatal = fatal
        self._harm = harm

    def watch(self) -> None:
        """Have everything that changes a file counted from now on."""
        opened = vars(limits)["open_database"]

        def watched(*values: Any, **options: Any) -> _Watched:
            return _Watched(opened(*values, **options), self)

        setattr(limits, "open_database", watched)  # noqa: B010
        for name in _RENAMING:
            setattr(os, name, self.around(getattr(os, name)))
        parse = vars(workers)["parse_batch"]
        setattr(workers, "parse_batch", self.around(parse))  # noqa: B010
        setattr(shutil, "copyfile", self.around(shutil.copyfile))  # noqa: B010

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Count a moment before and one after."""

        def counted(*arguments: Any, **named: Any) -> Any:
            self.pass_by()
            result = work(*arguments, **named)
            self.pass_by()
            return result

        return counted

    def pass_by(self) -> None:
        """Count one moment."""
        self.count += 1
        if self.count == self._fatal:
            self._harm()

    def committed(self, files: int) -> None:
        """Write down that the warehouse holds this many files for good."""
        if self.ledger is not None:
            self.ledger.write_text(str(files), encoding="utf-8")


class _Watched:
    """A connection whose every statement is a moment."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, moments: _Moments
    ) -> None:
        self._connection = connection
        self._moments = moments
        moments.pass_by()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        return self._moments.around(found) if name in _CONNECTED else found

    def execute(self, sql: str, *parameters: Any) -> Any:
        if sql != "COMMIT":
            return self._moments.around(self._connection.execute)(sql, *parameters)
        files = self._files()
        self._moments.pass_by()
        result = self._connection.execute(sql)
        self._moments.committed(files)
        self._moments.pass_by()
        return result

    def _files(self) -> int:
        known = self._connection.execute(
            "SELECT 1 FROM duckdb_tables() WHERE table_name = 'dump_files'"
        ).fetchone()
        if not known:
            return 0
        row = self._connection.execute("SELECT count(*) FROM dump_files").fetchone()
        return int(row[0]) if row else 0

    def __enter__(self) -> _Watched:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def tell(said: SimpleQueue[str], work: Callable[..., None], *arguments: Any) -> None:
    """Do `work`; put its error and its warnings, a line each."""
    lines = _Lines()
    logging.getLogger("hlodb").addHandler(lines)
    try:
        work(*arguments)
    except HlodbError as error:
        lines.found.append(str(error))
        raise
    finally:
        said.put("\n".join(lines.found))


class _Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


def lose_a_worker(paths: Sequence[str], database: Path) -> None:
    """Ingest while a worker process is killed, as for want of memory."""
    setattr(workers, "parse_batch", _parse_and_die)  # noqa: B010
    batch.BATCH_BYTES = 1_000
    ingest(paths, database, jobs=2)


def ingest_without_worker(
    paths: Sequence[str], database: Path, number: int, code: int
) -> None:
    """Ingest while a worker cannot be forked, and neither can those after it."""
    fork, count = os.fork, 0

    def fail() -> int:
        nonlocal count
        count += 1
        if count >= number:
            raise OSError(code, os.strerror(code))
        return fork()

    setattr(os, "fork", fail)  # noqa: B010
    batch.BATCH_BYTES, batch.UNIT_BYTES = 10_000, 0
    ingest(paths, database, jobs=3)


def _parse_and_die(units: Any) -> Any:
    _die()
