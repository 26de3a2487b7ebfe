"""What is handed to branches and loops of a TPU's program, and what roles it has."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.ingest.formats.buffer_assignment.assignment import parse_assignment
from hlodb.ingest.memory.profile import memory_facts
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.warehouse import Warehouse
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA

DUMP = DATA / "carried" / "v5e.tar.xz"
HBM, VMEM, HOST = 0, 1, 5


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("carried") / "w.duckdb"
    ingest([str(DUMP)], path, jobs=1)
    with open_warehouse(path) as opened:
        yield opened


def unpacked(folder: Path) -> Path:
    with tarfile.open(DUMP) as dump:
        dump.extractall(folder)
    return folder


def test_branches_use_the_bytes_of_what_they_have_read(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """XLA prints that what a conditional reads lives through all its branches."""
    files = sorted(unpacked(tmp_path).glob("*either*-*"))
    text = "\n\n".join(file.read_text() for file in files)
    facts = memory_facts(parse_assignment(text).assignment, {})
    assert len(facts.conflicts) == 5
    assert warehouse.query("module_faults").dicts() == []


@pytest.mark.parametrize(
    ("value", "offset", "pairs"),
    [
        # fusion.1{1} is read in the other branch alone,
        ("iota.clone", 4 << 20, 0),
        # fusion.1{0} in both, and in both after these are made.
        ("iota.clone", 2 << 20, 1),
        ("iota.1.clone", 2 << 20, 1),
    ],
)
def test_bytes_that_a_branch_still_reads_are_contradicted(
    tmp_path: Path, value: str, offset: int, pairs: int
) -> None:
    dump = unpacked(tmp_path / "dump")
    (file,) = dump.glob("*either*-buffer-assignment.txt")
    text = file.read_text()
    placed = f" {value} @{VMEM}> (size={1 << 20},offset="
    assert text.count(f"{placed}{1 << 20})") == 1
    file.write_text(text.replace(f"{placed}{1 << 20})", f"{placed}{offset})"))
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        faults = opened.query("check_overlaps").dicts()
    assert [row["found"] for row in faults] == [pairs] * bool(pairs)


def roles(warehouse: Warehouse, program: str, color: int = HBM) -> dict[str, int]:
    """Bytes at the peak by role, those above 64 KiB."""
    rows = warehouse.query("peak_by_role", program=program, color=color).dicts()
    return {r["role"]: r["owned_bytes"] for r in rows if r["owned_bytes"] > 1 << 16}


def test_the_value_to_a_key_is_no_moment_of_an_optimiser(warehouse: Warehouse) -> None:
    array = 256 * 128 * 4
    assert roles(warehouse, "jit_attend") == {"inputs": 3 * array, "outputs": array}


def test_pages_are_a_cache(warehouse: Warehouse) -> None:
    assert roles(warehouse, "jit_paged") == {"caches": 2 * 64 * 16 * 128 * 4}


@pytest.mark.slow
def test_arrays_that_a_loop_fills_are_what_they_are_for(warehouse: Warehouse) -> None:
    """Eight layers save an array each in HBM, and offload one to the host."""
    saved = 8 * 4096 * 1024 * 2
    found = roles(warehouse, "jit_scanned")
    assert found["saved_activations"] == saved
    assert "unclassified" not in found
    assert roles(warehouse, "jit_scanned", HOST) == {"saved_activations": saved}
    phases = warehouse.query("fwd_bwd_split", program="jit_scanned").dicts()
    assert {
        r["color"]: r["saved_activation_bytes"]
        for r in phases
        if r["saved_activation_bytes"] > 1 << 16
    } == {HBM: saved, HOST: saved}
