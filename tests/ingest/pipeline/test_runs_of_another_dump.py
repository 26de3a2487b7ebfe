"""What comes under the name of a run: of its dump, or of another one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.mixed_dumps import is_of_another_dump
from hlodb.schema.warehouse import connect
from tests.ingest.loading import BEFORE, changed, load

CG = "module_0008.jit_cg"
SEED = "module_0029.jit__threefry_seed"


@pytest.mark.parametrize(
    "found",
    [
        [f"{SEED}.before_optimizations.txt"],
        [f"{CG}.cpu_after_optimizations.txt"],
        [f"{CG}.debug_options", "stderr.log", "module_0008.other.unheard_of.txt"],
        ["rank_1/module_0008.jit_f.before_optimizations.txt"],
        ["host1.module_0008.jit_f.before_optimizations.txt"],
        # Processes that dump into one folder: one of them was there before.
        [
            f"{CG}.before_optimizations.txt",
            "module_0008.jit_f.before_optimizations.txt",
        ],
    ],
)
def test_of_one_dump(found: list[str]) -> None:
    assert not is_of_another_dump(found, [f"{CG}.before_optimizations.txt"])


@pytest.mark.parametrize(
    ("found", "held"),
    [
        (
            "module_0008.jit_f.before_optimizations.txt",
            f"{CG}.before_optimizations.hlo.pb",
        ),
        (
            "rank_1/module_0008.jit_f.before_optimizations.txt",
            f"rank_1/{CG}.before_optimizations.txt",
        ),
        (
            "1795289459454740.module_0000.after_optimizations.txt",
            "1795292178466041.module_0000.before_optimizations.txt",
        ),
    ],
)
def test_of_another_dump(found: str, held: str) -> None:
    first = "module_0001.jit_a.before_optimizations.txt"
    assert is_of_another_dump([first, found], [first, held])


def part_of_before(folder: Path, start: str) -> Path:
    """Put the files whose names begin so into a folder."""
    folder.mkdir(parents=True)
    for path in BEFORE.glob(f"{start}*"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.slow
def test_other_modules_of_the_same_numbers_are_another_run(tmp_path: Path) -> None:
    """No path is shared; the compiler of another release counts otherwise."""
    db, only = tmp_path / "w.duckdb", tmp_path / "only.duckdb"
    one = part_of_before(tmp_path / "one", SEED)
    other = part_of_before(tmp_path / "other", CG)
    for path in list(other.iterdir()):
        path.rename(path.with_name(path.name.replace("module_0008", "module_0029")))
    load(db, one, name="same")
    [summary] = load(db, other, name="same")
    assert summary.name == "same~2"
    assert summary.notes == [
        "run same holds other files; stored as same~2"
        " (give runs their own names with --run)"
    ]
    [again] = load(db, other, name="same")
    assert (again.name, again.unchanged_files, again.notes) == ("same~2", 7, [])
    load(only, one, name="same")
    load(only, other, name="same~2")
    assert changed(db, only) == set()


@pytest.mark.slow
def test_a_run_completed_from_another_place_says_so(tmp_path: Path) -> None:
    db, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    one = part_of_before(tmp_path / "one", SEED)
    other = part_of_before(tmp_path / "other", CG)
    load(db, one, name="same")
    [summary] = load(db, other, name="same")
    assert (summary.name, summary.files) == ("same", 7)
    assert summary.notes == [
        f"run same held 7 files of {one}; 7 more of {other} complete it"
    ]
    # Flags are those of the files that came last; the whole dump has them all.
    load(db, BEFORE, name="same")
    load(whole, BEFORE, name="same")
    assert changed(db, whole) == {"runs"}


def test_ranks_that_come_one_by_one(tmp_path: Path) -> None:
    """All of them dump the same program under the same number."""
    db = tmp_path / "w.duckdb"
    for number, start in enumerate([SEED, SEED, CG]):
        host = tmp_path / f"host{number}"
        part_of_before(host / f"rank_{number}", start)
        load(db, host, name="job")
    with connect(db) as connection:
        found = connection.execute(
            "SELECT r.name, m.rank, count(*) FROM modules AS m"
            " JOIN runs AS r USING (run_id) GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    assert found == [("job", 0, 2), ("job", 1, 2), ("job", 2, 2)]


def test_flags_and_timings_are_those_of_the_part_that_came_last(
    tmp_path: Path,
) -> None:
    db = tmp_path / "w.duckdb"
    for rank in (0, 1):
        folder = tmp_path / f"host{rank}" / f"rank_{rank}"
        part_of_before(folder, SEED)
        name = "module_0001.jit_threefry_seed"
        (folder / f"{name}.debug_options").write_text(f"xla_flag_{rank}: true\n")
        (folder / f"{name}.metadata.textproto").write_text(
            f'pass_metadata {{ pass_id: 1 pass_name: "pass_{rank}" }}\n'
        )
        load(db, folder.parent, name="job")
    with connect(db) as connection:
        flags = connection.execute(
            "SELECT name FROM compiler_flags WHERE name LIKE 'xla_flag%'"
        ).fetchall()
        passes = connection.execute("SELECT pass_name FROM passes").fetchall()
    assert (flags, passes) == ([("xla_flag_1",)], [("pass_1",)])


@pytest.mark.slow
def test_files_of_a_folder_named_one_by_one(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    for path in sorted(BEFORE.iterdir()):
        [summary] = load(db, path)
        assert (summary.name, summary.notes) == ("before", [])
