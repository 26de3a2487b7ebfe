"""Many processes ingest into a lake at once; one that is killed leaves no trace."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.catalogue import refresh
from hlodb.lake.ingestion import add_runs
from hlodb.lake.layout import lake_at
from hlodb.lake.opening import reading
from hlodb.lake.storage import Folder
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, SHARED_ARCHIVES
from tests.lake.comparing import differing_queries, differing_tables

RELEASES = [DATA / "gpu" / f"jaxlib-{number}.tar.xz" for number in ("0.5.3", "0.7.2")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "w.duckdb"
    ingest([*map(str, RELEASES)], path, jobs=1)
    return path


@pytest.fixture
def lake(empty_lake: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(empty_lake, tmp_path / "lake"))


def names(lake: Path) -> list[str]:
    with reading(lake) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY run_id").fetchall()
    return [name for (name,) in rows]


def all_equal(one: Path, other: Path) -> None:
    with reading(one) as first, reading(other) as second:
        assert differing_tables(first, second) == []


def test_processes_at_once_and_a_dump_twice(file: Path, lake: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "hlodb", "ingest", dump, "--jobs", "1",
             "--db", lake, "--format", "json"],
            stdout=subprocess.DEVNULL,
        )
        for dump in (*RELEASES, RELEASES[0])
    ]  # fmt: skip
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    all_equal(file, lake)
    before = sorted(path for path in lake.rglob("*") if "drafts" not in path.parts)
    assert main(["ingest", str(RELEASES[1]), "--db", str(lake)]) == 0
    assert before == sorted(p for p in lake.rglob("*") if "drafts" not in p.parts)


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let nothing happen from a step on: no part gets its name, no draft is removed.

    Returns a list with the number of steps that are left.
    """
    left = [steps]

    def stopping(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            if left[0] <= 0:
                raise Killed
            left[0] -= 1
            return function(*arguments)

        return step

    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    for name in ("put", "put_new"):
        monkeypatch.setattr(Folder, name, stopping(getattr(Folder, name)))
    return left


def test_a_killed_writer_leaves_nothing_that_readers_see(
    file: Path, lake: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.duckdb", tmp_path / "second.duckdb"
    ingest([str(RELEASES[0])], first, jobs=1)
    ingest([str(RELEASES[1])], second, jobs=1)
    add_runs(first, lake_at(lake))
    spare = Path(shutil.copytree(lake, tmp_path / "spare"))
    refresh(lake_at(spare))
    with pytest.MonkeyPatch.context() as patch:
        left = killed_after(100, patch)
        add_runs(second, lake_at(spare))
    # Each part is a step, and the commit is the last one.
    count = 100 - left[0]
    assert count > 20
    for steps in (0, 1, 10, count - 2, count - 1):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            killed_after(steps, patch)
            add_runs(second, lake_at(lake))
        assert names(lake) == ["jaxlib-0.5.3"]
        all_equal(first, lake)
    add_runs(second, lake_at(lake))
    all_equal(file, lake)


@pytest.mark.slow
def test_other_files_get_another_name(lake: Path, tmp_path: Path) -> None:
    for dump in RELEASES:
        main(["ingest", str(dump), "--run", "night", "--db", str(lake)])
    assert names(lake) == ["night", "night~2"]


@pytest.mark.slow
def test_more_files_take_the_place_of_fewer(lake: Path, tmp_path: Path) -> None:
    whole, part = DATA / "seeds", tmp_path / "part"
    part.mkdir()
    for name in ("000_04aa0d3336074bf8.txt", "001_491faa5ce21a17c6.txt"):
        shutil.copy(whole / name, part)
    for dump in (part, whole, part):
        main(["ingest", str(dump), "--run", "night", "--db", str(lake)])
    assert names(lake) == ["night"]
    ingest([str(whole)], tmp_path / "w.duckdb", request=RunRequest("night"), jobs=1)
    with connect(tmp_path / "w.duckdb") as one, reading(lake) as other:
        assert differing_tables(one, other) == []


@pytest.mark.slow
def test_the_report_that_came_first_counts_whole(lake: Path, tmp_path: Path) -> None:
    """A report is no part of a module's key; later ones add nothing to it."""
    report = (
        "module_0029.jit__threefry_seed.cpu_after_optimizations-memory-usage-report.txt"
    )
    for name, is_cut in (("later", True), ("earlier", False)):
        dump = Path(shutil.copytree(DATA / "moved_lines" / "after", tmp_path / name))
        if is_cut:
            lines = (dump / report).read_text().splitlines()
            (dump / report).write_text("\n".join(lines[:2]))
        ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
        assert main(["ingest", str(dump), "--db", str(lake)]) == 0
    all_equal(tmp_path / "w.duckdb", lake)


# Archives hold no times: each gets a day of its own, as nights have.
NIGHTS = {path: f"2026-01-{day:02}" for day, path in enumerate(SHARED_ARCHIVES, 1)}


@pytest.mark.slow
@pytest.mark.shared
def test_all_dumps_by_eight_processes(lake: Path, tmp_path: Path) -> None:
    waiting = [
        [
            "ingest",
            str(path),
            "--started-at",
            day,
            "--run",
            f"{path.parent.name}-{path.stem}",
        ]
        for path, day in NIGHTS.items()
    ]

    def run(arguments: list[str]) -> int:
        command = [sys.executable, "-m", "hlodb", *arguments, "--db", str(lake)]
        return subprocess.run(
            command, stdout=subprocess.DEVNULL, check=False
        ).returncode

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(run, waiting)} == {0}
    file = tmp_path / "w.duckdb"
    for name in names(lake):
        [again] = [each for each in waiting if each[-1] == name]
        assert main([*again, "--db", str(file)]) == 0
    with reading(lake) as one, connect(file) as other:
        assert differing_tables(one, other) == []
        assert [*differing_queries(one, other)] == []
