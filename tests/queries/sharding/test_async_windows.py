"""What asynchronous operations hold, and what is written while they run."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import AFTER, write

Connection = duckdb.DuckDBPyConnection
Row = tuple[object, ...]


def windows(connection: Connection, run: str, program: str) -> dict[str, Row]:
    asked: dict[str, str | int] = {"run": run, "program": program, "top": 1000}
    rows = run_query(connection, "async_windows", asked).dicts()
    return {
        row["instruction"]: (row["held_bytes"], row["overlapped_bytes"]) for row in rows
    }


def test_work_in_a_window_is_what_it_writes(reading: Connection) -> None:
    """Not what other starts and dones move, nor what names an element of a tuple."""
    found = windows(reading, "v5e-jax-0.10.2", "jit_cnn")
    bf16, pair = 16 * 8 * 8 * 64 * 2, 2 * 16 * 8 * 8 * 128 * 4
    f32, u8 = 16 * 128 * 4, 16 * 8 * 128
    assert found["copy-start.2"] == (8192, bf16 + pair + f32 + u8)


def test_a_slice_in_a_window_is_no_work(reading: Connection) -> None:
    """Neither in the computation that is called, nor where it is done; so no copy."""
    found = windows(reading, "v5e-jax-0.10.2", "jit_gpt_fsdp")
    held, converted = 512 * 512 * 4, 2 * 1024 * 256 * 2
    assert found["slice-start.2"] == (held, 2 * converted)


def test_what_is_held_lies_in_one_memory_space(reading: Connection) -> None:
    """A flag of four bytes beside it lies in another, and so may the peak."""
    asked: dict[str, str | int] = {
        "run": "v5e-jax-0.10.2",
        "program": "jit_gpt_fsdp",
        "top": 5,
    }
    rows = run_query(reading, "async_windows", asked).dicts()
    assert [
        (r["instruction"], r["space_name"], r["held_bytes"], r["is_at_peak"])
        for r in rows
    ] == [
        ("copy-start", "HBM", 8 << 20, False),
        ("async-collective-start.1", "VMEM", 6 << 20, False),
        ("async-collective-start", "VMEM", 6 << 20, False),
        ("copy-start.2", "VMEM", 2 << 20, False),
        ("slice-start.8", "VMEM", 2 << 20, False),
    ]


@pytest.mark.parametrize(
    ("run", "held"),
    [("jaxlib-0.5.3", 0), ("jaxlib-0.7.2", 0), ("jaxlib-0.10.2", 8192)],
)
def test_a_collective_that_a_start_calls_is_asynchronous(
    gpu_warehouse: Path, run: str, held: int
) -> None:
    """What it gives is a result of the program in older releases, so not held."""
    with connect(gpu_warehouse) as connection:
        asked = {"run": run, "program": "jit_ring"}
        rows = run_query(connection, "collective_inventory", asked).dicts()
        found = windows(connection, run, "jit_ring")
    scatters = [row for row in rows if row["opcode"] == "reduce-scatter"]
    assert [row["is_async"] for row in scatters] == [True]
    assert found["reduce-scatter-start"] == (held, 0)


RAGGED = """\
HloModule jit_f, num_partitions=4

ENTRY %main (i: f32[128,64], o: f32[128,64], s: s64[2]) -> f32[128,64] {
  %i = f32[128,64]{1,0} parameter(0)
  %o = f32[128,64]{1,0} parameter(1)
  %s = s64[2]{0} parameter(2)
  ROOT %r = f32[128,64]{1,0} ragged-all-to-all(%i, %o, %s, %s, %s, %s), \
channel_id=1, replica_groups={{0,1},{2,3}}
}
"""


def test_a_ragged_all_to_all_sends_of_its_first_operand(tmp_path: Path) -> None:
    """The second is what it writes into; the others say what goes where."""
    dump = write(tmp_path / "dump", {f"{AFTER}.txt": RAGGED.encode()})
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        [row] = run_query(connection, "collective_inventory").dicts()
    sent = 128 * 64 * 4
    assert (row["operand_bytes"], row["payload_bytes"]) == (2 * sent + 4 * 16, sent)
    assert row["wire_bytes"] == sent // 2
