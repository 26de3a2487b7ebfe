"""The figures in the text of the guide on comparing are what the queries answer."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import hlodb
from docs.generate import FOLDER
from hlodb.schema.warehouse import transaction
from hlodb.warehouse import Warehouse

PAGE = (FOLDER / "guides" / "compare.md").read_text(encoding="utf-8")
MIB = 2**20
PAIR = {"base": "jaxlib-0.4.35", "candidate": "jaxlib-0.5.3", "program": "jit_cnn"}


@pytest.fixture(scope="module")
def demo(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the warehouse of `make demo`, in which the releases are a series."""
    path = tmp_path_factory.mktemp("compare") / "demo.duckdb"
    shutil.copy(demo_warehouse, path)
    with transaction(path) as connection:
        connection.execute(
            "UPDATE runs SET series = 'xla-releases' WHERE platform = 'cpu'"
        )
    return path


@pytest.fixture
def warehouse(demo: Path) -> Iterator[Warehouse]:
    with hlodb.open(demo) as opened:
        yield opened


def test_when_it_grew(warehouse: Warehouse) -> None:
    history = warehouse.query("peak_history", series="xla-releases", program="jit_cnn")
    sizes = dict(
        zip(history.column("run"), history.column("reserved_bytes"), strict=True)
    )
    shown = [f"{size / MIB:.2f}" for size in sizes.values()]
    assert shown == ["18.17"] * 4 + ["25.60"] * 5
    grown = sizes["jaxlib-0.5.3"] - sizes["jaxlib-0.4.35"]
    ratio = grown / sizes["jaxlib-0.4.35"]
    text = f"25.60 MiB from jaxlib 0.5.3 on: {grown / MIB:.2f} MiB or {ratio:.1%}"
    assert text.replace("%", " %") in PAGE
    peaks = dict(
        zip(history.column("run"), history.column("live_peak_bytes"), strict=True)
    )
    risen = (peaks["jaxlib-0.5.3"] - peaks["jaxlib-0.4.35"]) / MIB
    assert f"at one step, rose by {risen:.2f} MiB" in PAGE


def test_which_kind_of_memory(warehouse: Warehouse) -> None:
    parts = warehouse.query("delta_waterfall", **PAIR).dicts()
    deltas = {row["part"]: row["delta_bytes"] for row in parts}
    expected = {"lifetime": 7593344, "allocation_kind": 195980, "fragmentation": 180}
    assert deltas == expected
    assert f"{deltas['lifetime'] / MIB:.2f} MiB are `lifetime`" in PAGE
    assert f"{deltas['allocation_kind'] / 1024:.0f} KiB are `allocation_kind`" in PAGE
    assert f"{deltas['fragmentation']} bytes are fragmentation" in PAGE


def test_which_buffers(warehouse: Warehouse) -> None:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for row in warehouse.query("buffer_diff", **PAIR).dicts():
        if row["part"] == "lifetime":
            shape = row["shape"].partition("{")[0]
            place = shape if row["opcode"] == "iota" else ""
            found[row["opcode"], place] += row["delta_bytes"]
    assert found["iota", "s32[16,16,16,64]"] == 4 * MIB
    assert found["iota", "s32[16,8,8,128]"] == 2 * MIB
    assert found["broadcast", ""] == 3.5 * MIB
    less = sum(size for size in found.values() if size < 0)
    assert sum(found.values()) - less == 9.5 * MIB
    assert f"Six other values no longer are, {-less / MIB:.2f} MiB less" in PAGE


def test_from_which_line(warehouse: Warehouse) -> None:
    owned = {}
    for run in ("jaxlib-0.4.35", "jaxlib-0.5.3"):
        rows = warehouse.query("peak_by_source_line", run=run, program="jit_cnn")
        first = rows.dicts()[0]
        place = (Path(first["source_file"]).name, first["source_line"])
        owned[run] = (*place, f"{first['owned_bytes'] / MIB:.2f}")
    assert owned == {
        "jaxlib-0.4.35": ("zoo.py", 56, "10.75"),
        "jaxlib-0.5.3": ("zoo.py", 56, "20.00"),
    }
    assert "owns 20.00 MiB of the new peak" in PAGE
    assert "`run=jaxlib-0.4.35`, the same query says 10.75 MiB" in PAGE
