"""What the calls of a server share: the warehouse, bounds, answers given before."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlodb.errors import UsageError
from hlodb.lake import is_lake
from hlodb.lake.opening import reading
from hlodb.mcp.protocol import Call, Fields
from hlodb.printed_commands import shell_line, url_of
from hlodb.queries.query import Query
from hlodb.queries.run import Value
from hlodb.reports.read.facts import Run, find_run, read_runs
from hlodb.reports.read.soundness import unsound_words
from hlodb.schema.connection import Connection, InvalidInputException
from hlodb.schema.limits import close_to_the_world
from hlodb.text import json_text

MOST_SECONDS = 60.0
"""How long a call may take; SQL has a limit of its own."""

_REMEMBERED = 64
_MOST_CHECKED_RUNS = 4
_MOST_REASONS = 5


@dataclass
class Session:
    """A warehouse that is asked; `folder` gets Parquet files, None for nowhere.

    It is opened for each call, so that ingests find it unlocked between calls. Equal
    questions about an unchanged file are answered from memory.
    """

    db: Path
    folder: Path | None = None
    _answers: OrderedDict[str, Fields] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def command(self, name: str, *words: str) -> str:
        """Return a command line that asks this warehouse from any shell."""
        return shell_line(
            ["hlodb", "--db", url_of(self.db) or str(self.db), name, *words]
        )

    @contextmanager
    def opened(self, call: Call, seconds: float = MOST_SECONDS) -> Iterator[Connection]:
        """Open the warehouse for one call, which is stopped after `seconds`.

        Raises as `reading`.
        """
        call.check()
        late = f"this took longer than {seconds:g} seconds: ask for less"
        timer = threading.Timer(seconds, call.stop, [late])
        try:
            with reading(self.db) as connection:
                with suppress(InvalidInputException):  # Set by a call beside this one.
                    connection.execute("SET threads = 2")
                close_to_the_world(connection)
                call.on_stop(connection.interrupt)
                timer.start()
                call.check()
                yield connection
        finally:
            timer.cancel()

    def remembered(self, key: Sequence[Any], make: Callable[[], Fields]) -> Fields:
        """Return what `make` gives, or what it gave for the same key and file."""
        identity = self.identity()
        name = json.dumps([identity, *key], sort_keys=True, default=str)
        with self._lock:
            if identity and name in self._answers:
                self._answers.move_to_end(name)
                return self._answers[name]
        found = make()
        # The file may have been replaced on the way.
        if identity and identity == self.identity():
            with self._lock:
                self._answers[name] = found
                while len(self._answers) > _REMEMBERED:
                    self._answers.popitem(last=False)
        return found

    def identity(self) -> list[int] | None:
        """Return what changes with the file; None for a lake, or without a file."""
        if is_lake(self.db):
            return None
        try:
            status = self.db.stat()
        except OSError:
            return None
        log = self.db.with_name(f"{self.db.name}.wal")
        beside = log.stat().st_size if log.is_file() else 0
        return [status.st_ino, status.st_size, status.st_mtime_ns, beside]


def selected_run(connection: Connection, name: str | None) -> Run:
    """Return the run called `name`, or the latest; raise UsageError without any."""
    runs = read_runs(connection)
    if not runs:
        raise UsageError(
            "the warehouse holds no run: ingest a dump with `hlodb ingest`"
        )
    return runs[-1] if name is None else find_run(runs, name)


def asked_runs(
    connection: Connection, query: Query, values: Mapping[str, Value]
) -> list[Run]:
    """Return the runs that a query is about: those named, the latest, or all."""
    runs = read_runs(connection)
    takers = [p for p in query.parameters if p.source == ("runs", "name")]
    named = {values[p.name] for p in takers if values.get(p.name) is not None}
    if named:
        return [run for run in runs if run.name in named]
    is_of_one = any(p.name == "run" for p in takers)
    return runs[-1:] if is_of_one else runs


def soundness(connection: Connection, runs: Sequence[Run]) -> Fields:
    """Return whether answers about `runs` can be relied on, and why not.

    Of more runs than a call should check, nothing is said.
    """
    if len(runs) > _MOST_CHECKED_RUNS:
        return {"status": "not checked", "why": [f"{len(runs)} runs: `hlodb check`"]}
    why = unsound_words(connection, runs)
    return {"status": "unknown" if why else "sound", "why": why[:_MOST_REASONS]}


def length(fields: Mapping[str, Any]) -> int:
    """Return the number of characters of an answer."""
    return len(json_text(fields))
