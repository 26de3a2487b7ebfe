"""Reports of running out of memory as rows, alone and beside the program's dump."""

from __future__ import annotations

import re
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.formats.logs.test_oom_log import GPU, TPU

GIB, MIB = 1 << 30, 1 << 20


def warehouse(folder: Path, text: str) -> Path:
    logs = folder / "logs"
    logs.mkdir()
    (logs / "job.log").write_text(f"step 1\n{text}")
    path = folder / "w.duckdb"
    ingest([str(logs)], path, request=RunRequest(name="job"), jobs=1)
    return path


def test_a_tpu_that_ran_out_of_memory(tmp_path: Path) -> None:
    path = warehouse(tmp_path, TPU)
    with connect(path) as connection:
        [summary] = run_query(connection, "oom_summary").dicts()
        [buffer] = run_query(connection, "oom_buffers_explained").dicts()
    assert summary == {
        "run": "job",
        "path": "job.log",
        "line": 2,
        "rank": None,
        "ordinal": 0,
        "failure_number": 1,
        "failure_place": 1,
        "form": "program_memory",
        "has_failed": True,
        "space_name": "hbm",
        "program": None,
        "program_run": None,
        "program_by": None,
        "operation": None,
        "needed_bytes": 64 * GIB,
        "capacity_bytes": 63 * GIB // 2,
        "over_bytes": 65 * GIB // 2,
        "requested_bytes": None,
        "parameter_bytes": 0,
        "live_out_bytes": 1024,
        "shared_bytes": 512,
        "temp_bytes": 127 * GIB // 2,
        "temp_fragmentation_bytes": 256 * MIB,
        "buffer_count": 1,
        "listed_bytes": 2 * GIB,
        "padding_bytes": 2 * GIB - 64 * MIB,
        "largest_bytes": 2 * GIB,
        "largest": "slicewise/FloorMod",
        "cause": None,
        "free_bytes": None,
        "largest_free_bytes": None,
        "in_use_bytes": None,
        "limit_bytes": None,
        "device_free_bytes": None,
        "device_bytes": None,
        "allocator": None,
        "error_code": None,
        "message": None,
        "repeat_count": None,
    }
    assert buffer == {
        "run": "job",
        "path": "job.log",
        "ordinal": 0,
        "space_name": "hbm",
        "place": 1,
        "instruction": "copy.4",
        "kind": "HLO temp",
        "label": "%copy.4 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%p)",
        "shape": "s32[8388608,8,4]{2,1,0:T(8,128)}",
        "size_bytes": 2 * GIB,
        "data_bytes": 64 * MIB,
        "padding_bytes": 2 * GIB - 64 * MIB,
        "padding_ratio": 31 / 32,
        "tile_use": "4 of 128 lanes",
        "is_copy": False,
        "capacity_ratio": 4 / 63,
        "op_name": "slicewise/FloorMod",
        "source_file": None,
        "source_line": None,
    }


def test_buffers_come_by_size_in_each_report(tmp_path: Path) -> None:
    path = warehouse(tmp_path, f"{GPU}\n{TPU}")
    with connect(path) as connection:
        rows = run_query(connection, "oom_buffers_explained").dicts()
        first = run_query(connection, "oom_buffers_explained", {"top": 1}).dicts()
    shown = [(r["ordinal"], r["place"], r["kind"], r["size_bytes"]) for r in rows]
    assert shown == [
        (0, 1, None, 6 * MIB),
        (0, 2, "parameter", 384 * 1024),
        (1, 1, "HLO temp", 2 * GIB),
    ]
    assert first == [rows[0], rows[2]]


def test_the_program_is_found_in_the_dump_of_another_run(tmp_path: Path) -> None:
    """The log names an instruction and its shape; the dump has both."""
    dump = DATA / "changes" / "donation" / "dropped"
    text = next(dump.glob("*after_optimizations.txt")).read_text()
    found = re.search(r"%?([\w.-]+) = (f32\[[0-9,]+\]\{[0-9,]*\}) fusion\(", text)
    assert found is not None
    label = f"%{found[1]} = {found[2]} fusion(%p)"
    log = TPU.replace("%copy.4 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%p)", label)
    log = log.replace("s32[8388608,8,4]{2,1,0:T(8,128)}", found[2])
    path = warehouse(tmp_path, log)
    ingest([str(dump)], path, request=RunRequest(name="dump"), jobs=1)
    with connect(path) as connection:
        asked = {"run": "job"}
        [summary] = run_query(connection, "oom_summary", asked).dicts()
    assert (summary["program"], summary["program_run"]) == ("jit_update", "dump")


def test_temporaries_alone_are_what_is_needed(tmp_path: Path) -> None:
    """As libtpu 0.0.42 writes it for a TPU7x that would need 128 GiB."""
    text = (
        "Ran out of memory on HBM, the total memory required for HLO temporaries"
        " (128.00G) exceeds available HBM (94.75G)."
    )
    with connect(warehouse(tmp_path, text)) as connection:
        [summary] = run_query(connection, "oom_summary").dicts()
    assert (summary["needed_bytes"], summary["over_bytes"]) == (
        128 * GIB,
        133 * GIB // 4,
    )
