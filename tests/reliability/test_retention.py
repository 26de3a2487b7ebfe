"""Runs come, go and are pruned in any order: others never lose a row, nor keep one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.cli import main
from hlodb.ingest.formats.hlo_text import module as hlo_text
from hlodb.ingest.load.delete import (
    METRIC_TABLES,
    Retention,
    forget_run,
    prune_runs,
    runs_to_prune,
)
from hlodb.ingest.load.run_records import Passes, RunRequest
from hlodb.ingest.load.run_rows import order_key
from hlodb.ingest.modules import parse_unit
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.creation import create_file
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults

MODULES = [
    next((DATA / "moved_lines" / run).glob(f"*{module}.before_optimizations.txt"))
    for run in ("before", "after")
    for module in ("jit_cg", "threefry_seed")
] + sorted((DATA / "seeds").glob("00[14]*.txt"))
"""Two programs with two sets of source lines, and two assignments."""

Step: TypeAlias = tuple[str, int, frozenset[int]]
"""What is done with which run; the modules it holds, where it is ingested."""

steps = st.lists(
    st.tuples(
        st.sampled_from(["ingest", "ingest", "rm", "prune"]),
        st.integers(0, 3),
        st.frozensets(st.sampled_from(range(len(MODULES))), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "w.duckdb"
    create_file(path)
    return path


def dump_of(folder: Path, name: str, modules: frozenset[int]) -> Path:
    dump = folder / f"{name}-{'-'.join(map(str, sorted(modules)))}"
    if not dump.exists():
        dump.mkdir()
        for number in modules:
            shutil.copy(MODULES[number], dump / f"{number}-{MODULES[number].name}")
    return dump


def carry_out(
    step: Step, db: Path, folder: Path, held: dict[int, tuple[frozenset[int], bool]]
) -> None:
    """Do it to the warehouse, and to a model: run → its modules, whether it's whole."""
    what, run, modules = step
    name = f"run{run}"
    if what == "ingest":
        # A run is completed only by what it has already and more.
        modules |= held.get(run, (frozenset(), True))[0]
        dump = dump_of(folder, name, modules)
        ingest([str(dump)], db, request=RunRequest(name=name), jobs=1)
        held[run] = (modules, True)
        return
    with transaction(db) as connection:
        row = connection.execute("SELECT run_id FROM runs WHERE name = ?", [name])
        found = row.fetchone()
        if found is None:
            return
        if what == "rm":
            forget_run(connection, found[0])
            del held[run]
        else:
            prune_runs(connection, [found[0]])
            held[run] = (held[run][0], False)


@pytest.mark.slow
@settings(max_examples=3)
@given(st.data())
def test_what_is_left_is_as_if_the_rest_had_never_been(
    empty: Path, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db, only = folder / "w.duckdb", folder / "only.duckdb"
        held: dict[int, tuple[frozenset[int], bool]] = {}
        shutil.copy(empty, db)
        for step in data.draw(steps):
            carry_out(step, db, folder, held)
            assert faults(db) == []
        shutil.copy(empty, only)
        for run, (modules, _) in held.items():
            carry_out(("ingest", run, modules), only, folder, dict(held))
        for run, (_, is_whole) in held.items():
            if not is_whole:
                carry_out(("prune", run, frozenset()), only, folder, dict(held))
        assert differences(content(only), content(db)) == {}


@pytest.fixture(scope="module")
def six_nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs: four nightly, two without a series; a day lies between two."""
    folder = tmp_path_factory.mktemp("nights")
    db = folder / "w.duckdb"
    dump = dump_of(folder, "d", frozenset({0, 4}))
    last = dump_of(folder, "d", frozenset({1, 5}))
    for day in range(6):
        dumped = last if day == 5 else dump
        ingest([str(dumped)], db, request=RunRequest(name=f"n{day}"))
    with transaction(db) as connection:
        connection.execute("""
            UPDATE runs SET
              series = CASE WHEN run_id > 2 THEN 'nightly' END,
              started_at = TIMESTAMP '2026-11-01' + to_days(run_id::INT),
              ingested_at = TIMESTAMP '2026-11-02' + to_days(run_id::INT)
        """)
    return db


@pytest.fixture
def nights(six_nights: Path, tmp_path: Path) -> Path:
    shutil.copy(six_nights, tmp_path)
    return tmp_path / six_nights.name


@pytest.fixture
def reading(nights: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(nights) as connection:
        yield connection


def test_which_runs_are_old(reading: duckdb.DuckDBPyConnection) -> None:
    def names(*retention: object) -> list[str]:
        return list(runs_to_prune(reading, Retention(*retention)).values())  # type: ignore[arg-type]

    assert names(1) == ["n0", "n2", "n3", "n4"]
    assert names(0) == ["n0", "n1", "n2", "n3", "n4", "n5"]
    assert names(3, None, "nightly") == ["n2"]
    assert names(None, timedelta(days=2)) == ["n0", "n1", "n2"]
    assert names(3, timedelta(days=1)) == ["n2"]
    assert names(9) == []


def test_a_run_dated_in_the_future_makes_no_other_old(nights: Path) -> None:
    """It counts as of the day on which it was ingested."""

    def pruned(keep: int | None, age: timedelta | None) -> list[str]:
        with connect(nights) as connection:
            return [*runs_to_prune(connection, Retention(keep, age)).values()]

    with transaction(nights) as connection:
        connection.execute(
            "UPDATE runs SET started_at = TIMESTAMP '2999-01-01' WHERE name = 'n2'"
        )
    # n2 was ingested on 5 November, n5 dumped on the 7th.
    assert pruned(None, timedelta(days=2)) == ["n0", "n1"]
    assert pruned(1, None) == ["n0", "n2", "n3", "n4"]


def test_a_run_dated_in_the_future_is_told(tmp_path: Path) -> None:
    dump, db = dump_of(tmp_path, "d", frozenset({0})), tmp_path / "w.duckdb"
    far, soon = datetime(2999, 1, 2, 3, 4), datetime.now() + timedelta(hours=9)
    note = (
        "run far is dated 2999-01-02 03:04, which is in the future, and counts as the"
        " latest run until then; correct the times of its files, or `hlodb rm` it and"
        " pass --started-at TIME"
    )
    for name, started_at, notes in (("far", far, [note]), ("soon", soon, [])):
        request = RunRequest(name=name, started_at=started_at)
        [summary] = ingest([str(dump)], db, request=request)
        assert summary.notes == notes


def test_a_run_older_than_another_of_its_series_is_told(tmp_path: Path) -> None:
    """A copy may have taken the times of files; who gives a time knows it."""
    dump, db = dump_of(tmp_path, "d", frozenset({0})), tmp_path / "w.duckdb"
    early, late = datetime(2026, 1, 1), datetime(2026, 1, 2)

    def notes(name: str, modified: datetime, **more: Any) -> list[str]:
        for file in dump.rglob("*"):
            os.utime(file, (modified.replace(tzinfo=UTC).timestamp(),) * 2)
        request = RunRequest(name=name, series="nightly", **more)
        [summary] = ingest([str(dump)], db, request=request)
        return summary.notes

    told = (
        "run {} is dated {} by its files, {} run b of series nightly, which counts as"
        " the later one: if it is not, ingest it once more with --started-at TIME"
    )
    assert notes("b", late) == []
    assert notes("a", late) == [
        told.format("a", "2026-01-02 00:00:00", "at the same time as")
    ]
    assert notes("c", early) == [told.format("c", "2026-01-01 00:00:00", "before")]
    assert notes("d", early, started_at=early) == []
    # Ten comes after nine.
    assert notes("v9", late) == notes("v10", late) == []
    # It was told when it came.
    assert not any("by its files" in note for note in notes("c", early))
    assert notes("e", late + timedelta(days=1)) == []


def test_runs_of_one_time_are_noted_in_the_order_of_queries(tmp_path: Path) -> None:
    names = ["v10", "v9", "v09", "1", "a1b2", "a1b10", "é2", "é10", "z", "2026-01-02"]
    create_file(tmp_path / "w.duckdb")
    with transaction(tmp_path / "w.duckdb") as connection:
        for run_id, name in enumerate(names):
            connection.execute(
                "INSERT INTO runs (run_id, name) VALUES (?, ?)", [run_id, name]
            )
        rows = run_query(connection, "run_order").dicts()
    ordered = sorted(names, key=order_key, reverse=True)
    assert [row["run"] for row in rows] == ordered


@pytest.mark.slow
def test_metrics_stay_and_details_go(nights: Path, tmp_path: Path) -> None:
    before = content(nights)
    nightly = ["--keep", "1", "--series", "nightly", "--db", str(nights)]
    assert main(["prune", *nightly]) == 0
    # Two runs without a series still hold what the pruned ones held.
    assert set(differences(before, content(nights))) == set()
    assert main(["prune", "--keep", "0", "--db", str(nights)]) == 0
    after = content(nights)
    kept = {
        "runs",
        "modules",
        "dump_files",
        "memory_spaces",
        "device_memory",
        *METRIC_TABLES,
    }
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    gone = {"instructions", "allocations", "values", "locations", "schedule"}
    assert {name: after[name][0] for name in gone} == dict.fromkeys(gone, 0)
    assert faults(nights) == []
    again = dump_of(tmp_path, "d", frozenset({0, 4}))
    ingest([str(again)], nights, request=RunRequest(name="n3"))
    ingest([str(dump_of(tmp_path, "d", frozenset({1, 5})))], nights)
    whole = content(nights)
    assert {name: whole[name] for name in gone} == {name: before[name] for name in gone}
    assert {n: whole[n] for n in METRIC_TABLES} == {n: before[n] for n in METRIC_TABLES}
    assert faults(nights) == []


def test_a_pruned_run_keeps_the_day_on_which_it_was(nights: Path) -> None:
    def prune(*runs: int) -> list[object]:
        with transaction(nights) as connection:
            prune_runs(connection, runs)
            found = connection.execute("SELECT pruned_at FROM runs ORDER BY run_id")
            return [pruned_at for (pruned_at,) in found.fetchall()]

    first, again = prune(1, 2), prune(2, 3)
    assert first[2:] == [None] * 4
    assert (again[:2], again[2] is None, again[3:]) == (first[:2], False, [None] * 3)


def test_timelines_can_go_too(nights: Path) -> None:
    before = content(nights)
    options = ["--keep", "0", "--drop-timelines", "--db", str(nights)]
    assert main(["prune", *options, "--dry-run"]) == 0
    assert content(nights) == before
    assert main(["prune", *options]) == 0
    after = content(nights)
    assert after["memory_timeline"] == (0, 0)
    assert after["memory_profile"] == before["memory_profile"]


def test_an_empty_answer_says_that_the_run_was_pruned(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", "--keep", "0", "--db", str(nights)]) == 0
    with connect(nights) as connection:
        row = connection.execute("SELECT CAST(max(pruned_at) AS DATE) FROM runs")
        [[day]] = row.fetchall()

    def told(query: str) -> str:
        capsys.readouterr()
        assert main(["query", query, "-p", "run=n3", "--db", str(nights)]) == 0
        return capsys.readouterr().err

    assert told("peak_contents") == (
        f"hlodb: run n3 was pruned on {day}: only its metrics are left; ingest it again"
        " for the details\n"
    )
    assert told("peak_by_space") == ""


def test_prune_wants_to_know_what_to_keep(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", "--db", str(nights)]) == 2
    assert capsys.readouterr().err == (
        "hlodb: pass --keep N, --keep-days DAYS, or both\n"
    )


# --- passes ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["metrics", "none"])
def test_passes_left_out_come_with_the_same_dump_in_full(
    passes: Passes, tmp_path: Path
) -> None:
    db, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    dump = [str(DATA / "passes")]
    ingest(dump, whole, jobs=1)
    ingest(dump, db, jobs=1, request=RunRequest(passes=passes))
    assert differences(content(whole), content(db)) != {}
    both: tuple[Passes, Passes] = ("full", passes)
    for again in both:
        [summary] = ingest(dump, db, jobs=1, request=RunRequest(passes=again))
        assert (summary.unchanged_files == summary.files) == (again == passes)
        assert differences(content(whole), content(db)) == {}
    assert faults(db) == []


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["metrics", "none"])
def test_passes_left_out_go_again_with_the_run_that_has_them(
    passes: Passes, tmp_path: Path
) -> None:
    db, only = tmp_path / "w.duckdb", tmp_path / "only.duckdb"
    dump = [str(DATA / "passes")]
    for path in (db, only):
        ingest(dump, path, jobs=1, request=RunRequest(name="x", passes=passes))
    ingest(dump, db, jobs=1, request=RunRequest(name="y"))
    with transaction(db) as connection:
        forget_run(connection, 2)
    assert differences(content(only), content(db)) == {}


# --- retry --------------------------------------------------------------------------


@pytest.mark.slow
def test_rejected_files_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As after an upgrade: what this hlodb rejects, a better one reads."""
    db, sound = tmp_path / "w.duckdb", tmp_path / "sound.duckdb"
    dump = dump_of(tmp_path, "d", frozenset({0, 1}))
    (dump / "loop").symlink_to(dump)

    def parse_worse(text: str, cache: Any) -> hlo_text.ParsedHlo:
        return hlo_text.parse_hlo(text[: len(text) - 100], cache)

    with monkeypatch.context() as worse:
        worse.setattr(parse_unit, "parse_hlo", parse_worse)
        [summary] = ingest([str(dump)], db, request=RunRequest(name="x", series="s"))
        assert summary.rejects > 1
    other = dump_of(tmp_path, "e", frozenset({0}))
    cut = "HloModule f\n\nENTRY %f () -> f32[] {\n  ROOT"
    (other / "broken.txt").write_text(cut)
    ingest([str(other)], db)
    shutil.rmtree(other)
    before = content(db)
    assert ingest([], db) == []
    assert content(db) == before
    [again] = ingest([], db, request=RunRequest(retry_rejects=True))
    assert (again.name, again.rejects) == ("x", 1)
    assert caplog.messages == [
        f"run {other.name} is no longer at {other} as it was; its rejects stay"
    ]
    assert faults(db) == []
    with transaction(db) as connection:
        forget_run(connection, 2)
    ingest([str(dump)], sound, request=RunRequest(name="x", series="s"))
    assert differences(content(sound), content(db)) == {}


@pytest.fixture
def misread_and_pruned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, tuple[object, object]]:
    """How two runs differ from what they'd be had an older hlodb not misread them."""
    db, only = tmp_path / "w.duckdb", tmp_path / "only.duckdb"
    dump = str(dump_of(tmp_path, "d", frozenset({0, 4})))

    def parse_worse(text: str, cache: Any) -> hlo_text.ParsedHlo:
        return hlo_text.parse_hlo(text.replace("constant", "constants"), cache)

    with monkeypatch.context() as worse:
        worse.setattr(parse_unit, "parse_hlo", parse_worse)
        ingest([dump], db, request=RunRequest(name="old"), jobs=1)
    with transaction(db) as connection:
        prune_runs(connection, [1])
    for name in ("x", "y"):
        ingest([dump], db, request=RunRequest(name=name), jobs=1)
        ingest([dump], only, request=RunRequest(name=name), jobs=1)
    with transaction(db) as connection:
        forget_run(connection, 1)
    assert faults(db) == []
    return differences(content(only), content(db))


@pytest.mark.slow
def test_what_a_pruned_run_had_misread_is_not_taken_up_again(
    misread_and_pruned: dict[str, tuple[object, object]],
) -> None:
    assert misread_and_pruned.keys() & {"modules", "instructions", "operands"} == set()


@pytest.mark.slow
def test_files_name_no_module_that_a_pruned_run_had_misread(
    misread_and_pruned: dict[str, tuple[object, object]],
) -> None:
    assert misread_and_pruned == {}
