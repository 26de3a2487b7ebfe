"""Which reports of running out of memory are about one failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

Place = tuple[int, int]


def places(folder: Path, **logs: str) -> list[Place]:
    """Return number and place of the failure of each report, by file and line."""
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    path = folder / "w.duckdb"
    paths = [str(folder / f"{name}.log") for name in logs]
    ingest(paths, path, request=RunRequest(name="job"), jobs=1)
    with connect(path) as connection:
        rows = run_query(connection, "oom_summary", {"run": "job"}).dicts()
    return [(row["failure_number"], row["failure_place"]) for row in rows]


def used(size: str, program: str | None = None, space: str = "hbm") -> str:
    name = f" [executable_name='{program}']" if program else ""
    return (
        f"Ran out of memory in memory space {space}. Used {size} of 15.75G {space}."
        f" Exceeded {space} capacity by 1.00G.{name}\n"
    )


def requirement(size: str) -> str:
    return f"Program hbm requirement {size}:\n    HLO temp         {size}\n"


def test_a_report_without_the_capacity_joins_one_that_has_it(tmp_path: Path) -> None:
    found = places(tmp_path, a=requirement("22.50G"), b=used("22.50G"))
    assert found == [(1, 2), (1, 1)]


@pytest.mark.parametrize(
    "second",
    [
        used("22.50G", "jit_other"),
        used("24.50G", "jit_step"),
        used("22.50G", "jit_step", "vmem"),
    ],
    ids=["program", "size", "space"],
)
def test_other_failures_stay_apart(tmp_path: Path, second: str) -> None:
    found = places(tmp_path, a=used("22.50G", "jit_step"), b=second)
    assert found == [(1, 1), (2, 1)]


def test_sizes_of_one_program_may_be_rounded(tmp_path: Path) -> None:
    first, second = used("22.50G", "jit_step"), used("22.51G", "jit_step")
    assert places(tmp_path, a=first, b=second) == [(1, 1), (1, 2)]


def test_failures_of_one_log_are_numbered_in_its_order(tmp_path: Path) -> None:
    text = used("22.50G") + "step\n" * 300 + used("30.00G")
    assert places(tmp_path, a=text, b=used("30.00G")) == [(1, 1), (2, 1), (2, 2)]
