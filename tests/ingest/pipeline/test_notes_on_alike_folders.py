"""A folder of nights, named whole, becomes one run: a note says so, once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.mixed_dumps import alike_folders, note_of_alike
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

MODULE = "module_0001.jit_f.cpu_after_optimizations.txt"


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([MODULE, f"b/{MODULE}"], []),
        ([f"a/{MODULE}", f"b/module_0002.{MODULE[12:]}"], []),
        (["a/notes.txt", "b/notes.txt"], []),
        ([f"rank_0/{MODULE}", f"rank_1/{MODULE}"], []),
        ([f"c/{MODULE}", f"a/{MODULE}", "b/module_0002.jit_f.txt"], ["a", "c"]),
        ([f"a/host/{MODULE}", f"b/host/{MODULE}"], ["a", "b"]),
    ],
)
def test_folders_with_equal_names(paths: list[str], found: list[str]) -> None:
    assert alike_folders(paths) == found


def test_nights_in_one_folder_are_told_of_once(tmp_path: Path) -> None:
    for night in ("01", "02", "03", "04"):
        shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "nights" / night)
    notes = [
        ingest([str(tmp_path / "nights")], tmp_path / "w.duckdb", jobs=1)[0].notes
        for _ in range(2)
    ]
    assert notes[0] == [
        "run nights: 01, 02, 03 and 1 more hold files of the same names, and count as"
        " processes of one run; if they are runs of their own, `hlodb rm nights` and"
        " ingest each folder by itself"
    ]
    assert not any("same names" in note for note in notes[1])


def test_the_command_that_forgets_several_can_be_typed() -> None:
    assert "`hlodb rm -- '-a night'`" in note_of_alike("-a night", ["01", "02"])


def flat(folder: Path, **dumps: str) -> Path:
    """Return a folder with files of several processes, by what they begin with."""
    folder.mkdir()
    for process, dump in dumps.items():
        for file in (DATA / "changes" / "tensor" / dump).iterdir():
            shutil.copy(file, folder / f"{process}.{file.name}")
    return folder


@pytest.mark.parametrize(
    ("processes", "ranks"),
    [(("host0", "host1"), [0, 1]), (("east", "west"), [None, None])],
)
def test_files_of_processes_in_one_folder_are_not_mixed(
    tmp_path: Path, processes: tuple[str, str], ranks: list[int | None]
) -> None:
    """One of two has lost its live ranges, and takes none of the other's."""
    dump = flat(
        tmp_path / "flat", **dict(zip(processes, ("base", "doubled"), strict=True))
    )
    for file in dump.glob(f"{processes[0]}.*-live-range.txt"):
        file.unlink()
    (summary,) = ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        rows = warehouse.sql(
            "SELECT rank, temp_bytes, temp_live_peak_bytes FROM module_memory"
            " ORDER BY temp_bytes"
        ).rows
    sizes = [(16 << 10, None), (32 << 10, 32 << 10)]
    assert [*map(tuple, rows)] == [(r, *s) for r, s in zip(ranks, sizes, strict=True)]
    told = [note for note in summary.notes if "begin with east, west" in note]
    assert len(told) == (None in ranks)
