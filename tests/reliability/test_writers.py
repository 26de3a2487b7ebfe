"""Several processes and one warehouse: all get in, or their dumps wait beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.errors import UsageError, WarehouseError, WarehouseLocked
from hlodb.ingest.load.delete import forget_run
from hlodb.ingest.load.run_records import RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.run_ingest import RunIngest
from hlodb.ingest.pipeline.staging import stage_run, take_packages
from hlodb.ingest.pipeline.staging_folder import staging_folder
from hlodb.ingest.pipeline.store import Store
from hlodb.ingest.sources.discover import discover
from hlodb.ingest.tables.batch import BatchResult
from hlodb.schema import waiting
from hlodb.schema.backup import back_up
from hlodb.schema.waiting import hold_still, lock_timeout
from hlodb.schema.warehouse import connect, open_connection, transaction
from tests.conftest import DATA
from tests.reliability import children
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.writers import (
    make_dumps,
    run_names,
    write_dump,
    write_in_turn,
    write_together,
)

SEEDS = str(DATA / "seeds")
WRITERS, RUNS = 4, 2
"""`make torture` has 10 writers of 20 runs."""


@pytest.mark.slow
def test_writers_together_and_in_turn_store_the_same(tmp_path: Path) -> None:
    dumps, db, turns = tmp_path / "d", tmp_path / "w.duckdb", tmp_path / "t.duckdb"
    made = make_dumps(dumps, WRITERS, RUNS)
    assert write_together(dumps, db, WRITERS, RUNS) == [0] * WRITERS
    assert run_names(db) == sorted(path.name for path in made)
    assert faults(db) == []
    write_in_turn(dumps, turns, WRITERS, RUNS)
    assert differences(content(turns), content(db)) == {}
    assert [p.name for p in tmp_path.glob(".w.duckdb*")] == []


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """Return a warehouse that another process holds, for longer than any test."""
    db = tmp_path / "w.duckdb"
    ingest([SEEDS], db)
    is_held = children.context().SimpleQueue()
    holder = children.start(children.hold, db, is_held, 600)
    (tmp_path / "holder").write_text(str(is_held.get()))
    yield db
    holder.kill()
    holder.join()


@pytest.mark.slow
def test_a_dump_that_is_kept_out_is_absorbed_later(
    held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", "0")
    dump = write_dump(tmp_path / "dump", 7)
    (dump / "loop").symlink_to(dump)
    labels = {"device": "v5e"}
    request = RunRequest("monday", "nightly", "abc", labels, passes="metrics")
    with pytest.raises(WarehouseLocked) as error:
        ingest([str(dump)], held, request=request)
    pid = (tmp_path / "holder").read_text()
    [package] = staging_folder(held).iterdir()
    assert f"(PID {pid})" in str(error.value)
    assert str(error.value).endswith(
        f"Nothing is lost: the dump is staged in {package}, and the next"
        f" `hlodb ingest --db {held}` absorbs it"
    )
    assert sorted(path.name for path in package.iterdir()) == [
        "files.parquet",
        "refused.parquet",
        "run.parquet",
    ]
    assert package.name.startswith("monday-")
    db, straight = tmp_path / "copy.duckdb", tmp_path / "straight.duckdb"
    shutil.copy(held, db)
    shutil.copytree(staging_folder(held), staging_folder(db))
    shutil.copy(held, straight)
    [absorbed] = ingest([], db)
    assert absorbed.notes == ["run monday had been staged and is in now"]
    assert list(staging_folder(db).iterdir()) == []
    ingest([str(dump)], straight, request=request)
    assert differences(content(straight), content(db)) == {}
    assert faults(db) == []


def test_the_next_ingest_absorbs_first_what_came_first(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    first, second = (write_dump(tmp_path / name, n) for n, name in enumerate("ab"))
    stage_run(discover([str(first)])[0], RunRequest(), db)
    assert [s.name for s in ingest([str(second)], db)] == ["b", "a"]
    with connect(db) as connection:
        rows = connection.execute("SELECT run_id, name FROM runs ORDER BY ALL")
        assert rows.fetchall() == [(1, "a"), (2, "b")]


def test_a_package_is_absorbed_by_one_process_only(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    stage_run(discover([SEEDS])[0], RunRequest(), db)
    [package], notes = take_packages(db)
    assert (take_packages(db), notes) == (([], []), [])
    package.close()
    [package], _ = take_packages(db)
    package.remove()
    assert take_packages(db) == ([], [])


def test_packages_that_go_while_they_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has just renamed its draft, or absorbed a package."""
    db = tmp_path / "w.duckdb"
    kept = stage_run(discover([SEEDS])[0], RunRequest(), db)
    home = staging_folder(db)
    listed = [home / ".draft-gone", home / "gone-1", kept]
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(listed))
    [package], notes = take_packages(db)
    assert (package.folder, notes) == (kept, [])
    package.close()


def test_a_broken_package_is_put_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    db = tmp_path / "w.duckdb"
    folder = staging_folder(db) / "monday-1"
    folder.mkdir(parents=True)
    (folder / "run.parquet").write_bytes(b"PAR1 no")
    assert len(ingest([SEEDS], db)) == 1
    [message] = caplog.messages
    assert message.startswith(f"{folder}.broken is no sound package (")
    assert len(ingest([SEEDS], db)) == 1
    assert caplog.messages == [message]


@pytest.mark.parametrize("kind", ["link", "link to a package", "pipe"])
def test_a_package_that_others_made_is_no_way_out(kind: str, tmp_path: Path) -> None:
    db, outside = tmp_path / "w.duckdb", tmp_path / "outside.duckdb"
    staged = stage_run(discover([SEEDS])[0], RunRequest(), outside)
    before = {*tmp_path.rglob("*")}
    package = staging_folder(db) / "seeds-1"
    package.parent.mkdir()
    reason = "files.parquet is no file"
    if kind == "link to a package":
        package.symlink_to(staged)
        reason = "a link"
    else:
        shutil.copytree(staged, package)
        (package / "files.parquet").unlink()
        if kind == "link":
            (package / "files.parquet").symlink_to(staged / "files.parquet")
        else:
            os.mkfifo(package / "files.parquet")
    said = f"{package}.broken is no sound package ({reason}); ingest its dump anew"
    assert take_packages(db) == ([], [said])
    assert take_packages(db) == ([], [])
    assert before <= {*tmp_path.rglob("*")}


@pytest.mark.slow
def test_two_ingests_of_one_name_at_a_time(tmp_path: Path) -> None:
    """The later one finds files that it didn't write, and stages its own."""
    db = tmp_path / "w.duckdb"
    one, other = write_dump(tmp_path / "1/d", 1), write_dump(tmp_path / "2/d", 2)
    taken = Store.take

    def take(self: Store, run: RunIngest, result: BatchResult) -> list[RunSummary]:
        if run.source.origin == str(one):
            ingest([str(other)], db)
        return taken(self, run, result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "take", take)
        with pytest.raises(WarehouseLocked, match="another process ingests a run"):
            ingest([str(one)], db)
    ingest([], db)
    assert run_names(db) == ["d", "d~2"]
    assert faults(db) == []


@contextmanager
def first_run_removed(db: Path) -> Iterator[None]:
    """Let the first run go just before anything is stored."""
    flushed = Store.flush

    def flush(self: Store) -> list[RunSummary]:
        with transaction(db) as connection:
            forget_run(connection, 1)
        return flushed(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "flush", flush)
        yield


@pytest.mark.slow
def test_a_run_removed_while_another_is_copied_from_it(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    dump, same = write_dump(tmp_path / "a", 1), write_dump(tmp_path / "b", 1)
    ingest([str(dump)], db)
    with (
        first_run_removed(db),
        pytest.raises(WarehouseLocked, match="were removed with another run"),
    ):
        ingest([str(same)], db)
    assert faults(db) == []
    ingest([], db)
    assert (run_names(db), faults(db)) == (["b"], [])
    with connect(db) as connection:
        counts = connection.execute("SELECT count(*) FROM modules").fetchone()
    assert counts == (2,)


@pytest.mark.slow
def test_a_run_removed_while_it_is_completed(tmp_path: Path) -> None:
    """What it held is not read again, so a new one would lack it."""
    db, dump = tmp_path / "w.duckdb", write_dump(tmp_path / "a", 1)
    ingest([str(dump)], db)
    (dump / "module_0009.more.debug_options").write_text("xla_more: true\n")
    with (
        first_run_removed(db),
        pytest.raises(WarehouseLocked, match="ingests a run called a at the same"),
    ):
        ingest([str(dump)], db)
    assert run_names(db) == []
    ingest([], db)
    assert (run_names(db), faults(db)) == (["a"], [])
    assert files(db) == {path.name for path in dump.iterdir()}


def files(db: Path) -> set[str]:
    with connect(db) as connection:
        rows = connection.execute("SELECT path FROM dump_files").fetchall()
    return {path for (path,) in rows}


def test_readers_wait_for_a_writer(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    ingest([SEEDS], db)
    is_held = children.context().SimpleQueue()
    writer = children.start(children.hold, db, is_held, 0.5)
    is_held.get()
    assert run_names(db) == ["seeds"]
    writer.join()


def test_waiting_is_told_once(
    held: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (lock_timeout(), waiting.REPORT_AFTER_SECONDS) == (60, 2)
    assert main(["runs", "--lock-timeout", "0", "--db", str(held)]) == 5
    monkeypatch.setattr("hlodb.schema.waiting.REPORT_AFTER_SECONDS", 0.0)
    with pytest.raises(WarehouseLocked):
        open_connection(held, timeout_seconds=0.2)
    [message] = caplog.messages
    assert message.startswith(f"{held} is locked by ")
    assert message.endswith("; waiting for up to 0 s")


def test_an_ingest_that_is_kept_out_ends_with_5(
    held: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dump = write_dump(tmp_path / "dump", 7)
    options = ["--db", str(held), "--lock-timeout", "0"]
    assert main(["ingest", str(dump), *options]) == 5
    assert f"(PID {(tmp_path / 'holder').read_text()})" in capfd.readouterr().err
    [package] = staging_folder(held).iterdir()
    assert package.name.startswith("dump-")


def test_the_lock_file_is_empty_and_may_be_deleted(tmp_path: Path) -> None:
    db, lock = tmp_path / "w.duckdb", tmp_path / "w.duckdb.lock"
    for number in range(2):
        ingest([str(write_dump(tmp_path / f"{number}", number))], db)
        assert lock.read_bytes() == b""
        lock.unlink()
    assert run_names(db) == ["0", "1"]


def test_writers_wait_for_a_copy_and_readers_do_not(tmp_path: Path) -> None:
    db, dumps = tmp_path / "w.duckdb", tmp_path / "dumps"
    make_dumps(dumps, 1, 1)
    ingest([SEEDS], db)
    reading = [sys.executable, "-m", "hlodb", "runs", "--lock-timeout", "0"]
    with hold_still(db, 0):
        assert write_together(dumps, db, 1, 1, timeout_seconds=0) == [
            children.LOCKED_OUT
        ]
        done = subprocess.run([*reading, "--db", db], capture_output=True, check=False)
    assert done.returncode == 0
    assert run_names(db) == ["seeds"]


def test_a_reader_keeps_the_copy_that_is_replaced(tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "latest.duckdb"
    ingest([SEEDS], db)
    back_up(db, copy)
    ingest([str(write_dump(tmp_path / "more", 1))], db)
    with connect(copy) as connection:
        back_up(db, copy, replace=True)
        rows = connection.execute("SELECT name FROM runs ORDER BY name").fetchall()
    assert rows == [("seeds",)]
    assert run_names(copy) == ["more", "seeds"]


def test_the_cli_of_duckdb_has_it_open(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    ingest([SEEDS], db)
    cli = Path(sys.executable).parent / "duckdb"
    if not cli.exists():
        pytest.skip("the DuckDB CLI is not installed")
    with subprocess.Popen(
        [cli, db], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(".mode csv\nSELECT 'open' AS it_is;\n")
        process.stdin.flush()
        while process.stdout.readline().strip() != "open":
            time.sleep(0.01)
        with pytest.raises(WarehouseLocked, match=r"duckdb \(PID \d+\)"):
            open_connection(db, timeout_seconds=0)
        process.stdin.close()
    assert run_names(db) == ["seeds"]


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    ("name", "content"),
    [("w.csv", b"a,b\n1,2\n" * 9), ("w.json", b'[{"a": 1}, {"a": 2}]\n')],
)
def test_data_that_duckdb_would_read_into_memory(
    tmp_path: Path, name: str, content: bytes, read_only: bool
) -> None:
    """What would be stored there were gone with the process."""
    db = tmp_path / name
    db.write_bytes(content)
    with pytest.raises(WarehouseError) as error, connect(db, read_only=read_only):
        pass
    told = f"cannot use {db}: it is no DuckDB file; name another with --db"
    assert (str(error.value), db.read_bytes()) == (told, content)
    db.unlink()
    ingest([SEEDS], db)
    assert run_names(db) == ["seeds"]


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_a_timeout_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", text)
    with pytest.raises(UsageError, match="not a number of seconds"):
        lock_timeout()


def test_files_that_are_no_warehouse(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"

    def said() -> str:
        with pytest.raises(WarehouseError) as error, connect(db, read_only=False):
            pass
        return str(error.value)

    db.write_bytes(b"")
    assert said() == f"cannot use {db}: it is no DuckDB file; name another with --db"
    db.write_bytes(bytes(100) + b"DUCK" * 1000)
    assert said().startswith(f"cannot use {db}: ")
    db.unlink()
    ingest([SEEDS], db)
    whole = db.read_bytes()
    db.write_bytes(whole[:5000])
    assert said().startswith(f"cannot use {db}: it is damaged; restore a backup, or ")
    db.unlink()
    log = Path(f"{db}.wal")
    log.write_bytes(b"x")
    assert said() == (
        f"{log} is the log of a warehouse that is no longer there; put w.duckdb back"
        " beside it, or delete the log"
    )
    log.unlink()
    db.mkdir()
    assert said() == f"cannot use {db}: it is a directory; name a file"
    db.rmdir()
    os.mkfifo(db)
    assert said() == f"cannot use {db}: it is no file; name another with --db"
    db = tmp_path / "no" / "w.duckdb"
    with (
        pytest.raises(UsageError, match="there is no directory"),
        connect(db, read_only=False),
    ):
        pass
