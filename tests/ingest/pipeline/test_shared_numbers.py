"""Several processes that dump into one folder overwrite one another's files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.mixed_dumps import note_of_shared, shared_numbers
from tests.conftest import DATA

CPU = "cpu_after_optimizations.txt"


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([f"module_0002.jit_f.{CPU}", f"module_0004.jit_g.{CPU}"], []),
        ([f"a/module_0002.jit_f.{CPU}", f"b/module_0002.jit_g.{CPU}"], []),
        # --xla_dump_to with a name for each process: nothing is overwritten.
        ([f"host0.module_0002.jit_f.{CPU}", f"host1.module_0002.jit_g.{CPU}"], []),
        # libtpu counts its own, beside what is compiled for the host.
        (
            [
                f"module_0002.jit_f.{CPU}",
                "module_0002.jit_g.cl_933746096.after_optimizations.txt",
            ],
            [],
        ),
        (
            [
                f"module_0002.jit_f.{CPU}",
                "module_0002.jit_f.cpu_after_optimizations-live-range.txt",
                f"module_0002.jit_g.{CPU}",
                "module_0004.jit_h.before_optimizations.txt",
            ],
            [(2, ["jit_f", "jit_g"])],
        ),
    ],
)
def test_modules_of_one_number(
    paths: list[str], found: list[tuple[int, list[str]]]
) -> None:
    assert shared_numbers(paths) == found


def test_what_two_workers_dumped_into_one_folder_is_told(tmp_path: Path) -> None:
    dump = shutil.copytree(DATA / "moved_lines" / "before", tmp_path / "night")
    number, other = "module_0008", "module_0029"
    for file in dump.glob(f"{other}.*"):
        shutil.copy(file, dump / file.name.replace(other, number))
    (summary,) = ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    assert summary.notes == [
        note_of_shared("night", [(8, ["jit__threefry_seed", "jit_cg"])])
    ]
