"""The tutorial: its commands run, and its figures are what they answer."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import hlodb
from docs.generate import FOLDER
from hlodb.cli import main
from hlodb.schema.warehouse import transaction
from hlodb.warehouse import Warehouse

PAGE = (FOLDER / "tutorial-cnn.md").read_text(encoding="utf-8")
MIB = 2**20
TIMES = "\N{MULTIPLICATION SIGN}"
PAIR = {"base": "jaxlib-0.4.35", "candidate": "jaxlib-0.5.3", "program": "jit_cnn"}


@pytest.fixture(scope="module")
def demo(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the warehouse of `make demo`, in which the releases are a series."""
    path = tmp_path_factory.mktemp("tutorial") / "demo.duckdb"
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


def commands() -> list[list[str]]:
    """Every command of the page, as a shell would split it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    lines = [line for block in blocks for line in re.split(r"^\$ ", block, flags=re.M)]
    return [shlex.split(line) for line in lines if line.startswith("hlodb ")]


@pytest.mark.parametrize("command", commands(), ids=lambda words: words[2][:20])
def test_a_command_answers(
    demo: Path,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HLODB_DB", str(demo))
    assert main(command[1:]) == 0
    printed = capfd.readouterr()
    assert len(printed.out.splitlines()) > 2
    assert printed.err == ""


def test_when_it_grew(warehouse: Warehouse) -> None:
    history = warehouse.query("peak_history", series="xla-releases", program="jit_cnn")
    sizes = dict(
        zip(history.column("run"), history.column("reserved_bytes"), strict=True)
    )
    shown = [f"{size / MIB:.2f}" for size in sizes.values()]
    assert shown == ["18.17"] * 4 + ["25.60"] * 5
    grown = sizes["jaxlib-0.5.3"] - sizes["jaxlib-0.4.35"]
    ratio = grown / sizes["jaxlib-0.4.35"]
    assert (
        f"25.60 MiB from jaxlib 0.5.3 on: {grown:,} bytes, {ratio:.1%}".replace(
            "%", " %"
        )
        in PAGE
    )


def test_which_kind_of_memory(warehouse: Warehouse) -> None:
    parts = warehouse.query("delta_waterfall", **PAIR).dicts()
    deltas = {row["part"]: row["delta_bytes"] for row in parts}
    assert deltas == {"temp_live_peak": 7789324, "fragmentation": 180}
    assert "All but 180 bytes is `temp_live_peak`" in PAGE


def test_which_buffers(warehouse: Warehouse) -> None:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for row in warehouse.query("buffer_diff", **PAIR).dicts():
        if row["status"] == "at_peak_now":
            shape = row["shape"].partition("{")[0]
            place = shape if row["opcode"] == "iota" else ""
            found[row["opcode"], place] += row["delta_peak_bytes"]
    assert found["iota", "s32[16,16,16,64]"] == 4 * MIB
    assert found["iota", "s32[16,8,8,128]"] == 2 * MIB
    assert found["broadcast", ""] == 3.5 * MIB


def test_the_live_ranges_of_the_coordinates(warehouse: Warehouse) -> None:
    [sql] = [command[2] for command in commands() if command[1] == "sql"]
    rows = warehouse.sql(sql).rows
    shown = [
        f"| {run.removeprefix('jaxlib-')} | {layer(shape)} | {start} | {end} | {peak} |"
        for run, shape, start, end, peak in rows
    ]
    printed = [line for line in PAGE.splitlines() if line.startswith("| 0.")]
    assert sorted(shown) == sorted(printed)


def layer(shape: str) -> str:
    """Return the dimensions of `s32[16,8,8,128]{3,2,1,0}` without the batch."""
    return TIMES.join(shape.partition("[")[2].partition("]")[0].split(",")[1:])


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
    assert "owned 10.75 MiB of the old peak and owns 20.00 MiB of the new" in PAGE
