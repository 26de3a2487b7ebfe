"""What libtpu calls temp, compared with programs it compiled for a v5e."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

DUMP = DATA / "tpu_temp"


def faults(dump: Path, db: Path) -> list[tuple[object, ...]]:
    ingest([str(dump)], db, jobs=1)
    with open_warehouse(db) as warehouse:
        rows = warehouse.query("check_memory_analysis").rows
        return [tuple(row)[1:] for row in rows]


def test_programs_as_libtpu_compiled_them(tmp_path: Path) -> None:
    assert faults(DUMP, tmp_path / "w.duckdb") == []


def said_otherwise(tmp_path: Path, module: str, temp_bytes: int) -> Path:
    dump = tmp_path / "dump"
    shutil.copytree(DUMP, dump)
    path = dump / "memory_analysis.json"
    said = json.loads(path.read_text())
    for program in said:
        if program["module"] == module:
            program["temp_size_in_bytes"] = temp_bytes
    path.write_text(json.dumps(said))
    return dump


def test_scalars_alone_may_be_counted(tmp_path: Path) -> None:
    """As libtpu does where one is an f32[] or u32[1], not for counters of loops."""
    dump = said_otherwise(tmp_path, "jit_ss1024_26", 1 << 30)
    assert faults(dump, tmp_path / "w.duckdb") == []


@pytest.mark.parametrize(
    ("module", "temp_bytes", "found"),
    [
        ("jit_ss1024_26", 512, 0),
        ("jit_ss512_120", 0, 125_846_016),
        ("jit_mm3_6144", 75_497_471, 75_497_472),
        ("jit_cum2048", 0, 17_695_232),
    ],
)
def test_another_figure_is_a_fault(
    tmp_path: Path, module: str, temp_bytes: int, found: int
) -> None:
    dump = said_otherwise(tmp_path, module, temp_bytes)
    place = "bytes of temp"
    assert faults(dump, tmp_path / "w.duckdb") == [(place, temp_bytes, found)]
