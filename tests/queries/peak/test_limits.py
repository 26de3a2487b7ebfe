"""Programs at the limit of each TPU, judged as libtpu judged them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect

Connection = duckdb.DuckDBPyConnection

GIB = 2**30
DEVICES = (
    "TPU v2", "TPU v3", "TPU v4", "TPU v4 (one core)", "TPU v5e", "TPU v5p", "TPU v6e",
    "TPU7x",
)  # fmt: skip


@pytest.fixture(scope="module")
def at_limits(limits_warehouse: Path) -> Iterator[Connection]:
    with connect(limits_warehouse) as connection:
        yield connection


def headroom(connection: Connection, run: str, **more: Value) -> tuple[object, ...]:
    rows = run_query(connection, "headroom", {"run": run, "color": 0, **more}).dicts()
    [row] = rows
    names = ("status", "is_refused", "limit_from", "device")
    return *(row[name] for name in names), row["headroom_bytes"]


@pytest.mark.parametrize("device", DEVICES)
def test_programs_at_the_limit_are_judged_as_libtpu_judged_them(
    at_limits: Connection, device: str
) -> None:
    fits = headroom(at_limits, f"{device} fits")
    assert fits[:4] == ("warn", False, "chip", device)
    # Code is all that the assignment lacks: 40 to 140 KiB.
    assert isinstance(fits[4], int) and 0 <= fits[4] < 1 << 18
    exceeds = headroom(at_limits, f"{device} exceeds")
    assert exceeds == ("oom", True, "chip", device, None)
    above = headroom(at_limits, f"{device} above")
    assert above[:4] == ("oom", True, "chip", device)
    assert isinstance(above[4], int) and -(2 << 20) < above[4] < -(7 << 18)


def test_the_limit_alone_judges_where_the_dump_says_nothing(
    limits_dumps: Path, tmp_path: Path
) -> None:
    """As of a file that somebody sends, without those beside it."""
    folder = tmp_path / "alone"
    folder.mkdir()
    for path in (limits_dumps / "TPU v5e above").iterdir():
        if "oom" not in path.name:
            (folder / path.name).write_bytes(path.read_bytes())
    ingest([str(folder)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        assert headroom(connection, "alone")[:3] == ("oom", False, "chip")


def test_a_log_of_the_run_goes_before_settings(
    limits_dumps: Path, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "Ran out of memory in memory space hbm. Used 15.60G of 15.50G hbm."
        " Exceeded hbm capacity by 102.40M.\n"
    )
    request, dump = RunRequest(name="job"), limits_dumps / "TPU v5e fits"
    ingest([str(dump), str(log)], tmp_path / "w.duckdb", jobs=1, request=request)
    with connect(tmp_path / "w.duckdb") as connection:
        devices: dict[str, Value] = {
            "limit_devices": ["*"], "limit_spaces": ["HBM"], "limit_sizes": [20 * GIB]
        }  # fmt: skip
        found = headroom(connection, "job", **devices)
        asked = headroom(connection, "job", limit_bytes=GIB, **devices)
    assert (found[0], found[2]) == ("oom", "log")
    assert (asked[0], asked[2]) == ("oom", "parameter")
