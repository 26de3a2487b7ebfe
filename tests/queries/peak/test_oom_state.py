"""Which program ran out of memory, and the state of memory, beside a dump."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

DUMP = DATA / "changes" / "dtype" / "base"
GIB, MIB = 1 << 30, 1 << 20


def asked(folder: Path, text: str, query: str, *beside: Path) -> list[dict[str, Any]]:
    """Return the rows of a query about a log, with dumps in the same run."""
    (folder / "job.log").write_text(text)
    path = folder / "w.duckdb"
    paths = [str(each) for each in (*beside, folder / "job.log")]
    ingest(paths, path, request=RunRequest(name="job"), jobs=1)
    with connect(path) as connection:
        return run_query(connection, query, {"run": "job"}).dicts()


def temporaries(folder: Path) -> tuple[int, int]:
    """Return number and size of the temporary allocation of the dumped program."""
    path = folder / "dump.duckdb"
    ingest([str(DUMP)], path, jobs=1)
    with connect(path) as connection:
        found = connection.execute(
            "SELECT allocation_id, size_bytes FROM allocations"
            " WHERE kind = 'temp' ORDER BY size_bytes DESC LIMIT 1"
        ).fetchone()
    assert found is not None
    return found


def shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["program"], row["program_run"], row["program_by"]


def test_the_program_that_a_message_names(tmp_path: Path) -> None:
    text = (
        "Out of memory while trying to allocate 2.14GiB. [executable_name='jit_step']\n"
        "Error loading program 'jit_other': Attempting to reserve 5.50G at the bottom"
        " of memory. That was not possible.\n"
    )
    rows = asked(tmp_path, text, "oom_summary", DUMP)
    assert [shown(row) for row in rows] == [
        ("jit_step", "job", "message"),
        ("jit_other", None, "message"),
    ]


def test_the_program_whose_temporaries_have_the_size_of_the_request(
    tmp_path: Path,
) -> None:
    _, size = temporaries(tmp_path)
    text = (
        f"Out of memory while trying to allocate {size} bytes.\n"
        f"step 2\nOut of memory while trying to allocate {2 * size + 64} bytes.\n"
    )
    rows = asked(tmp_path, text, "oom_summary", DUMP)
    assert [shown(row) for row in rows] == [
        ("jit_step", "job", "temporaries"),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "cause", "free"),
    [
        (
            "There are 6.00G free, 0B reserved, and 3.00G reservable.",
            "fragmentation",
            6,
        ),
        ("There are 3.00G free, 0B reserved, and 3.00G reservable.", "shortage", 3),
        ("There are 6.00G free.", None, 6),
        ("", None, None),
    ],
)
def test_fragmentation_and_shortage(
    tmp_path: Path, text: str, cause: str | None, free: int | None
) -> None:
    message = (
        "Attempting to reserve 4.00G at the bottom of memory. That was not possible."
        f" {text}\n"
    )
    [row] = asked(tmp_path, message, "oom_summary")
    expected = free * GIB if free is not None else None
    assert (row["cause"], row["free_bytes"]) == (cause, expected)


@pytest.mark.parametrize(
    ("asked_gib", "device_free", "cause"),
    [
        (20, 30 * GIB, "too_large"),
        (4, 30 * GIB, "pool"),
        (4, 1 * GIB, "shortage"),
        (2, 30 * GIB, None),
    ],
)
def test_the_pool_of_an_allocator(
    tmp_path: Path, asked_gib: int, device_free: int, cause: str | None
) -> None:
    message = (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate"
        f" {asked_gib}.00GiB\n"
        f" Reported by CUDA: Free memory/Total memory: {device_free}/{80 * GIB}\n"
        "Stats: \nLimit:   12.00GiB\nInUse:   9.00GiB\n"
    )
    [row] = asked(tmp_path, message, "oom_summary")
    assert (row["cause"], row["free_bytes"]) == (cause, 3 * GIB)


def test_chunks_are_allocations_of_a_dump(tmp_path: Path) -> None:
    """XLA names the program and the allocation of a chunk since 2026-06."""
    number, size = temporaries(tmp_path)
    note = "allocation_annotation: xla.execute{executable=jit_step, device=0}"
    text = (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 6.00GiB\n"
        f"InUse at 7f0000000000 of size {size} next 1 {note} >"
        f" xla.buffer{{kind=temp, allocation_index={number}}}\n"
        "InUse at 7f0100000000 of size 512 next 2\n"
        "InUse at 7f0100000200 of size 512 next 3\n"
        "Free  at 7f0200000000 of size 256 next 4\n"
    )
    rows = asked(tmp_path, text, "oom_chunks_explained", DUMP)
    names = ("program", "program_run", "kind", "allocation_id", "allocation_bytes")
    assert [
        (row["chunk_bytes"], row["chunk_count"], row["is_free"]) for row in rows
    ] == [(size, 1, False), (1024, 2, False), (256, 1, True)]
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("jit_step", "job", "temp", number, size),
        (None, None, None, None, None),
        (None, None, None, None, None),
    ]
    assert rows[0]["largest_value"] is not None


def test_figures_that_a_log_prints(tmp_path: Path) -> None:
    """MaxText's total is outputs, temporaries and arguments less aliases."""
    text = (
        "Total memory size: 118.2 GB, Output size: 38.6 GB, Temp size: 79.5 GB,"
        " Argument size: 38.7 GB, Host temp size: 0.5 GB.\n\n"
        "CompiledMemoryStats(generated_code_size_in_bytes=10,\n"
        " argument_size_in_bytes=200,\n output_size_in_bytes=30,"
        " alias_size_in_bytes=20, temp_size_in_bytes=4000,\n"
        " total_allocation_bytes=4210, indefinite_allocations=210,\n"
        " peak_unpadded_heap_bytes=4100)\n"
    )
    rows = asked(tmp_path, text, "printed_memory")
    names = (
        *("line", "form", "needed_bytes", "alias_bytes", "host_bytes"),
        *("total_allocation_bytes", "indefinite_bytes", "peak_unpadded_bytes"),
    )
    tenth = GIB / 10
    aliases = round(386 * tenth) + round(795 * tenth) + round(387 * tenth)
    aliases -= round(1182 * tenth)
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "maxtext", round(1182 * tenth), aliases, GIB // 2, None, None, None),
        (3, "memory_analysis", 4220, 20, 0, 4210, 210, 4100),
    ]
