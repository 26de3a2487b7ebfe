"""Runs that the warehouse has already: what is left undone would change nothing."""

import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest, RunSummary
from hlodb.ingest.pipeline import ingest as ingest_room
from hlodb.ingest.pipeline import schedule as pipeline
from hlodb.ingest.pipeline import store
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.run_ingest import RunIngest
from hlodb.ingest.pipeline.unchanged import FileDigest, digest_of
from hlodb.ingest.sources.limits import Limits
from hlodb.ingest.sources.local_files import local_entry
from hlodb.ingest.tables import batch
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA, all_rows

BEFORE = DATA / "moved_lines" / "before"
PLAIN = RunRequest()


def touch(dump: Path) -> None:
    for path in dump.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))


def lose_flags(dump: Path) -> None:
    min(dump.glob("*.debug_options")).unlink()


def lose_a_module(dump: Path) -> None:
    for path in dump.glob("*jit_cg.before_optimizations*"):
        path.unlink()


def restore(dump: Path) -> None:
    for path in BEFORE.iterdir():
        shutil.copy2(path, dump)


def add_a_flag(dump: Path) -> None:
    with min(dump.glob("*.debug_options")).open("a") as stream:
        stream.write("xla_added: true\n")


def change_a_constant(dump: Path) -> None:
    path = next(dump.glob("*jit_cg.before_optimizations.txt"))
    path.write_text(path.read_text().replace("constant(100)", "constant(101)"))


def add_a_link(dump: Path) -> None:
    (dump / "loop").symlink_to(dump)


def remove_the_link(dump: Path) -> None:
    (dump / "loop").unlink()


def add_notes(dump: Path) -> None:
    (dump / "module_0001.notes.txt").write_text("no HLO at all\n")


def leave(dump: Path) -> None:
    pass


Step = tuple[Callable[[Path], None], RunRequest]

LABELS = RunRequest(labels={"framework_version": "1.2", "team": "x"})
NAMED = RunRequest(series="s", commit="c")
STARTED = RunRequest(started_at=datetime(2026, 1, 2, 3, 4, 5))

KNOWN: dict[str, list[Step]] = {
    "as it was": [(leave, PLAIN)],
    "for the third time": [(leave, PLAIN), (leave, PLAIN)],
    "labels said before": [(leave, LABELS), (leave, LABELS)],
    "series and commit said before": [(leave, NAMED), (leave, NAMED)],
    "a start said before": [(leave, STARTED), (leave, STARTED)],
    "the files' times, after a start": [(leave, STARTED), (touch, PLAIN)],
    "fewer passes than it has": [(leave, RunRequest(passes="metrics"))],
    "a rejected file": [(add_notes, PLAIN), (leave, PLAIN)],
}
"""Steps before the last of which the run is whole: it changes nothing."""

CHANGED: dict[str, list[Step]] = {
    "labels": [(leave, LABELS)],
    "a label that fills no column": [(leave, RunRequest(labels={"team": "x"}))],
    "series and commit": [(leave, NAMED)],
    "a start": [(leave, STARTED)],
    "newer files": [(touch, PLAIN)],
    "a flag": [(add_a_flag, PLAIN)],
    "flags gone": [(lose_flags, PLAIN)],
    "flags that come back": [(lose_flags, PLAIN), (restore, PLAIN)],
    "a module that comes back": [(lose_a_module, PLAIN), (restore, PLAIN)],
    "another module": [(change_a_constant, PLAIN)],
    "a link": [(add_a_link, PLAIN)],
    "no link any more": [(add_a_link, PLAIN), (remove_the_link, PLAIN)],
}
"""Steps the last of which changes something."""

UNMOVED = {"a module that comes back"}

LIKE_OTHERS = {
    "a label that fills no column",
    "series and commit",
    "a start",
    "flags that come back",
    "no link any more",
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return shutil.copytree(BEFORE, tmp_path / "dump")


def load(db: Path, dump: Path, request: RunRequest = PLAIN) -> RunSummary:
    [summary] = ingest([str(dump)], db, request=request, jobs=1)
    return replace(summary, seconds=0.0)


def load_the_long_way(db: Path, dump: Path, request: RunRequest) -> RunSummary:
    """Ingest as though nothing were known of what is unchanged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest_room, "whole_runs", lambda *_: {})
        return load(db, dump, request)


def carry_out(steps: Sequence[Step], db: Path, dump: Path) -> None:
    for prepare, request in steps:
        prepare(dump)
        load(db, dump, request)


@pytest.mark.slow
@pytest.mark.parametrize("case", KNOWN)
def test_a_known_run_is_left_alone(
    case: str, tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, other = tmp_path / "w.duckdb", tmp_path / "other.duckdb"
    *steps, (prepare, request) = KNOWN[case]
    carry_out([(leave, PLAIN), *steps], db, dump)
    shutil.copy(db, other)
    prepare(dump)
    expected = load_the_long_way(other, dump, request)
    monkeypatch.delattr(pipeline, "store_sources")
    before = db.read_bytes()
    assert load(db, dump, request) == expected
    assert db.read_bytes() == before
    assert all_rows(db) == all_rows(other)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.slow) if case in LIKE_OTHERS else case
        for case in CHANGED
    ],
)
def test_what_has_changed_is_stored(case: str, tmp_path: Path, dump: Path) -> None:
    db, other = tmp_path / "w.duckdb", tmp_path / "other.duckdb"
    *steps, (prepare, request) = CHANGED[case]
    carry_out([(leave, PLAIN), *steps], db, dump)
    shutil.copy(db, other)
    prepare(dump)
    before = all_rows(db)
    expected = load_the_long_way(other, dump, request)
    assert load(db, dump, request) == expected
    assert all_rows(db) == all_rows(other)
    assert (all_rows(db) == before) == (case in UNMOVED)


@pytest.mark.slow
def test_flags_that_come_back_are_those_of_the_whole_dump(
    tmp_path: Path, dump: Path
) -> None:
    db, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    carry_out([(leave, PLAIN), *CHANGED["flags that come back"]], db, dump)
    load(whole, dump)
    assert all_rows(db) == all_rows(whole)


def test_a_run_that_another_hlodb_began_is_finished_again(
    tmp_path: Path, dump: Path
) -> None:
    """It may have read less of the flags."""
    db, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    load(db, dump)
    load(whole, dump)
    with transaction(db) as connection:
        connection.execute("UPDATE runs SET hlodb_version = '0.0.1'")
        connection.execute("DELETE FROM compiler_flags WHERE name LIKE 'xla_d%'")
    load(db, dump)
    assert rows(db, "compiler_flags") == rows(whole, "compiler_flags") != []


def rows(db: Path, table: str) -> list[tuple[object, ...]]:
    with connect(db) as connection:
        return connection.execute(f"FROM {table} ORDER BY ALL").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["*", "*optimizations.txt"])
def test_a_run_that_was_not_finished_is_finished(
    kinds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where all of its files make modules, which come in before its end."""
    db, whole, dump = tmp_path / "w.duckdb", tmp_path / "whole.duckdb", tmp_path / "d"
    dump.mkdir()
    for path in BEFORE.glob(kinds):
        shutil.copy2(path, dump)
    load(whole, dump)
    monkeypatch.setattr(batch, "BATCH_BYTES", 1)
    monkeypatch.setattr(store, "FLUSH_BYTES", 1)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunIngest, "finish", fail)
        with pytest.raises(KeyboardInterrupt):
            load(db, dump)
    recorded = len(rows(db, "dump_files"))
    assert 0 < recorded < len(rows(whole, "dump_files"))
    assert rows(db, "runs") != rows(whole, "runs")
    load(db, dump)
    assert all_rows(db) == all_rows(whole)


def test_known_runs_beside_one_that_is_new(tmp_path: Path, dump: Path) -> None:
    db, other = tmp_path / "w.duckdb", tmp_path / "other.duckdb"
    after = DATA / "moved_lines" / "after"
    load(db, dump)
    found = ingest([str(after), str(dump), str(DATA / "seeds")], db)
    assert [(s.name, s.run_id, s.new_modules) for s in found] == [
        ("after", 2, 0),
        ("dump", 1, 0),
        ("seeds", 3, 5),
    ]
    ingest([str(dump)], other)
    ingest([str(after), str(DATA / "seeds")], other)
    assert all_rows(db) == all_rows(other)


def test_progress_is_told_of_known_runs(tmp_path: Path, dump: Path) -> None:
    db = tmp_path / "w.duckdb"
    told: list[tuple[str, int, int]] = []
    load(db, dump)
    ingest([str(dump)], db, progress=lambda *read: told.append(read))
    sizes = [path.stat().st_size for path in dump.iterdir()]
    assert told[-1] == (dump.name, sum(sizes), len(sizes))
    assert [files for _, _, files in told] == list(range(1, len(sizes) + 1))


def test_an_ingest_loads_no_more_than_it_needs(tmp_path: Path, dump: Path) -> None:
    command = ["ingest", str(dump), "--db", str(tmp_path / "w.duckdb")]
    script = (
        "import sys; from hlodb.cli import main; code = main(sys.argv[1:]);"
        "watched = {'numpy', 'pyarrow', 'pyarrow.compute', 'pyarrow.dataset',"
        " 'pyarrow.parquet', 'rich', 'google'};"
        "print(sorted(watched & sys.modules.keys()));"
        "sys.exit(code)"
    )
    for loaded in (["numpy", "pyarrow"], []):
        done = subprocess.run(
            [sys.executable, "-c", script, *command, "--format", "json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == str(loaded)


def test_the_digest_of_a_file_is_that_of_its_content(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"alpha")
    assert digest_of(local_entry(str(path), str(tmp_path)), Limits()) == FileDigest(
        sha256(b"alpha").hexdigest(), 5
    )


def test_a_file_is_never_held_whole(tmp_path: Path) -> None:
    """Of 64 MB no more than a few are held at a time."""
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    large = local_entry(str(path), str(tmp_path))
    tracemalloc.start()
    try:
        found = digest_of(large, Limits())
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.size_bytes == 64 << 20
    assert peak_bytes < 4 << 20
