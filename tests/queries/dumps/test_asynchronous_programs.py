"""Programs that compute while something else goes on, on TPUs and an H100."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.warehouse import Warehouse
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

DUMPS = DATA / "asynchronous"
WEIGHT = 256 * 256
"""Elements of each of the three weights, which four devices share."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("asynchronous") / "w.duckdb"
    ingest([str(dump) for dump in sorted(DUMPS.glob("*.tar.xz"))], path, jobs=1)
    with open_warehouse(path) as opened:
        yield opened


def answer(warehouse: Warehouse, query: str, run: str) -> list[dict[str, Any]]:
    return warehouse.query(query, run=run, program="jit_fsdp").dicts()


@pytest.mark.slow
def test_what_is_defined_asynchronously_lives_until_the_done(
    warehouse: Warehouse,
) -> None:
    """The tuple of a combined reduce-scatter; and all of a call on another stream."""
    with tarfile.open(DUMPS / "h100.tar.xz") as dump:
        name = next(name for name in dump.getnames() if "streams" in name)
        module = name.removesuffix("-buffer-assignment-values.txt")
        printed = dump.extractfile(f"{module}-live-range.txt")
        assert printed is not None
        text = printed.read().decode()
    done = re.search(r"(\d+):call-done\b", text)
    assert done is not None
    assert re.search(rf"gemm_fusion_dot[.\d]*{{}}:\d+-{done[1]}\n", text)
    assert [row["check_name"] for row in faults(warehouse)] == []


def faults(warehouse: Warehouse) -> list[dict[str, Any]]:
    rows = warehouse.query("check_results").dicts()
    return [row for row in rows if row["fault_count"]]


def test_a_collective_that_fusions_carry_along_is_one(warehouse: Warehouse) -> None:
    """A v5p gathers the same weights without fusions, and sums gradients one by one."""
    sent = {}
    for run in ("v5e", "v5p"):
        rows = answer(warehouse, "collective_inventory", run)
        assert len({row["channel_id"] for row in rows}) == len(rows)
        sent[run] = Counter[str]()
        for row in rows:
            sent[run][row["opcode"]] += row["total_wire_bytes"]
    bf16, f32 = 3 * WEIGHT * 2, 3 * WEIGHT * 4
    assert sent["v5e"] == {"all-gather": bf16 * 3 // 4, "all-reduce": f32 * 2 * 3 // 4}
    assert sent["v5p"] == sent["v5e"]


def test_a_carried_collective_has_a_window(warehouse: Warehouse) -> None:
    """From start to done it hides the product between, and what that gives."""
    rows = answer(warehouse, "async_windows", "v5e")
    product, result = 2 * 128 * 256 * 256, 128 * 256 * 4
    names = ("instruction", "done_instruction", "overlapped_flop", "overlapped_bytes")
    found = [
        tuple(row[name] for name in names)
        for row in rows
        if row["wrapped_opcode"] == "all-gather"
    ]
    assert found == [
        (f"async-collective-start{n}", f"async-collective-done{n}", product, result)
        for n in ("", ".1")
    ]


def test_carried_weights_are_gathered(warehouse: Warehouse) -> None:
    rows = answer(warehouse, "gathered_values", "v5e")
    assert {row["weight"] for row in rows} == {f"weights[{n}]" for n in range(3)}
    [at_peak] = answer(warehouse, "gathered_weights_at_peak", "v5e")
    assert (at_peak["weight"], at_peak["owned_bytes"]) == ("weights[1]", WEIGHT * 2)


def test_what_is_carried_along_is_not_dead(warehouse: Warehouse) -> None:
    assert answer(warehouse, "dead_values", "v5e") == []


@pytest.mark.parametrize(("run", "device"), [("v5e", "HBM"), ("h100", "default")])
def test_slices_move_between_memory_spaces(
    warehouse: Warehouse, run: str, device: str
) -> None:
    """What each of six layers saves goes to the host, and comes back."""
    saved = 6 * 256 * 128 * 4
    rows = warehouse.query("space_transfers", run=run, program="jit_offload").dicts()
    assert {
        (row["from_space"], row["to_space"]): (row["total_bytes"], row["times_known"])
        for row in rows
        if "host" in (row["from_space"], row["to_space"])
    } == {(device, "host"): (saved, True), ("host", device): (saved, True)}
    trips = {
        (row["from_space"], row["to_space"]): row["round_trip_bytes"]
        for row in rows
        if "host" in (row["from_space"], row["to_space"])
    }
    moved = {row["from_space"]: row["moved_bytes"] for row in rows}["host"]
    assert trips == {(device, "host"): 0, ("host", device): moved}


def test_an_array_split_among_cores_needs_its_largest_piece(
    tmp_path: Path, warehouse: Warehouse
) -> None:
    """SC(0:32) of 64 rows is half of it on each core of a v5p, and no less."""
    place = "(size=32768,offset=589824): f32[64,256]{1,0:T(8,128)S(1)SC(0:32)}"
    with tarfile.open(DUMPS / "v5p.tar.xz") as dump:
        dump.extractall(tmp_path)
    [path] = tmp_path.glob("*-buffer-assignment.txt")
    text = path.read_text()
    assert place in text
    path.write_text(text.replace(place, place.replace("32768", "32767")))
    ingest([str(tmp_path)], tmp_path / "w.duckdb", jobs=1)
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        rows = opened.query("check_value_sizes").dicts()
    assert [(row["expected"], row["found"]) for row in rows] == [(32768, 32767)]
    assert warehouse.query("check_value_sizes").rows == []
