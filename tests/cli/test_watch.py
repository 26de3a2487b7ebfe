"""`hlodb ingest --watch` as a process: runs that come, change, and are no dump."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, Any

import pytest

from hlodb.cli import main
from hlodb.commands import ingest as command
from hlodb.errors import WarehouseLocked
from hlodb.ingest.sources import watching
from hlodb.lake.opening import reading
from hlodb.schema.writer_lock import writer_lock
from tests.conftest import DATA, REPOSITORY

pytest.importorskip("watchfiles")

PATIENCE = 240
"""Seconds after which an event will not come: the machine may be busy."""


class Watcher:
    """A process that watches, and what it has said so far."""

    def __init__(self, folder: Path, db: Path) -> None:
        command = [sys.executable, "-m", "hlodb", "ingest", "--watch", str(folder)]
        command += ["--still", "0.5", "--jobs", "1", "--format", "jsonl"]
        self.process = subprocess.Popen(
            [*command, "--db", str(db)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )
        self._rows: Queue[str] = Queue()
        self.words: Queue[str] = Queue()
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._readers = [
            Thread(target=_read, args=(self.process.stdout, self._rows)),
            Thread(target=_read, args=(self.process.stderr, self.words)),
        ]
        for reader in self._readers:
            reader.start()

    def row(self) -> dict[str, Any]:
        """Return the row of the next run that is ingested."""
        found: dict[str, Any] = json.loads(self._rows.get(timeout=PATIENCE))
        return found

    def word(self, wanted: str) -> str:
        """Return the next message that holds `wanted`."""
        while wanted not in (line := self.words.get(timeout=PATIENCE)):
            pass
        return line

    def end(self) -> int:
        """Press Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()


def _read(stream: IO[str], lines: Queue[str]) -> None:
    with stream:
        for line in stream:
            lines.put(line)


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    (tmp_path / "dumps" / "early").mkdir(parents=True)
    shutil.copytree(DATA / "seeds", tmp_path / "dumps" / "early", dirs_exist_ok=True)
    started = Watcher(tmp_path / "dumps", tmp_path / "w.duckdb")
    yield started
    started.close()


@pytest.mark.slow
def test_runs_are_ingested_as_they_come_and_again_when_they_change(
    watcher: Watcher, tmp_path: Path
) -> None:
    dumps, db = tmp_path / "dumps", tmp_path / "w.duckdb"
    assert watcher.row()["run"] == "early"
    (dumps / "notes").mkdir()
    (dumps / "notes" / "README").write_text("no dump")
    assert "no XLA dump" in watcher.word("watching goes on")
    shutil.copytree(DATA / "seeds", dumps / "late")
    late = watcher.row()
    assert (late["run"], late["reject_count"]) == ("late", 0)
    [text, *_] = sorted((dumps / "late").glob("*.txt"))
    shutil.copyfile(text, dumps / "late" / f"module_0099.again.{text.name}")
    again = watcher.row()
    assert (again["run"], again["file_count"]) == ("late", late["file_count"] + 1)
    assert watcher.end() == 130
    with reading(db) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY name").fetchall()
    assert rows == [("early",), ("late",)]
    assert main(["check", "--db", str(db)]) == 0


@pytest.mark.slow
def test_a_run_that_a_lock_keeps_out_is_in_once_it_is_free(
    watcher: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert watcher.row()["run"] == "early"
    watcher.end()
    dumps, db = tmp_path / "dumps", tmp_path / "w.duckdb"
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", "1")
    with closing(Watcher(dumps, db)) as second:
        with writer_lock(db):
            shutil.copytree(DATA / "seeds", dumps / "late")
            assert "is staged" in second.word("--watch tries that again")
        assert {second.row()["run"] for _ in range(2)} == {"early", "late"}
        assert second.end() == 130


@pytest.mark.parametrize("is_staged", [True, False])
def test_what_a_lock_keeps_out_is_ingested_again_unless_it_is_staged(
    is_staged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, or a warehouse that cannot be opened at all, stages nothing."""
    given: list[list[str]] = []

    def ingest(paths: list[str], _: object) -> None:
        given.append(paths)
        if len(given) == 1:
            raise WarehouseLocked("locked", is_staged=is_staged)

    monkeypatch.setattr(command, "_ingest", ingest)
    monkeypatch.setattr(command, "_PAUSE_SECONDS", 0)
    monkeypatch.setattr(watching, "settled_runs", lambda *_: iter([["late"]]))
    assert main(["ingest", "--watch", str(tmp_path), "--db", str(tmp_path / "w")]) == 0
    assert given == [["late"], [] if is_staged else ["late"]]


@pytest.mark.slow
def test_an_interrupt_while_nothing_comes_is_clean(watcher: Watcher) -> None:
    watcher.row()
    assert watcher.end() == 130
    watcher.close()
    words = [watcher.words.get() for _ in range(watcher.words.qsize())]
    assert not any("Traceback" in word for word in words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--watch"], "--watch takes one PATH, a folder that is there"),
        (["--watch", "{folder}", "{folder}"], "--watch takes one PATH"),
        (["--watch", "{folder}/none"], "--watch takes one PATH"),
        (["--watch", "{folder}", "--run", "a"], "leave out --run"),
    ],
)
def test_a_wrong_request_is_refused(
    words: list[str], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = [word.format(folder=tmp_path) for word in words]
    assert main(["ingest", *asked, "--db", str(tmp_path / "w.duckdb")]) == 2
    assert said in capfd.readouterr().err


def test_the_library_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    asked = ["ingest", "--watch", str(tmp_path), "--db", str(tmp_path / "w.duckdb")]
    assert main(asked) == 2
    assert "pip install 'hlodb[watch]'" in capfd.readouterr().err
