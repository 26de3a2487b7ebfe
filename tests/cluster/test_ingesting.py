"""Ingest in tasks: each with a fresh state, each repeatable, rejects as rows."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from hlodb.cluster.ingesting import (
    OF_A_RUN,
    Dump,
    find_dumps,
    ingest_dumps,
    with_rejects,
)
from hlodb.errors import UsageError
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.sources.limits import DEFAULT_LIMITS
from hlodb.lake.layout import create_lake
from hlodb.lake.opening import reading
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.lake.comparing import differing_tables

NIGHTS = [
    {"path": DATA / "moved_lines" / night, "name": night, "started_at": day}
    for night, day in (
        ("before", datetime(2026, 1, 1)),
        ("after", datetime(2026, 1, 2)),
    )
]


def done(dumps: list[Dump], lake: Path, tasks: int) -> pa.Table:
    """Carry out all tasks in this process, one after the other."""
    batches = [
        batch
        for task in range(tasks)
        for batch in ingest_dumps(dumps, str(lake), DEFAULT_LIMITS, tasks, task)
    ]
    return with_rejects(pa.Table.from_batches(batches, OF_A_RUN), str(lake))


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """Return a dump with a buffer assignment that ends in the middle."""
    folder = Path(shutil.copytree(DATA / "moved_lines" / "after", tmp_path / "cut"))
    file = min(folder.glob("*buffer-assignment.txt"))
    text = file.read_bytes()
    file.write_bytes(text[: len(text) // 2])
    return folder


@pytest.mark.slow
def test_tasks_of_one_process_share_nothing(tmp_path: Path, cut: Path) -> None:
    """Two runs of equal content are whole each, and a repeated task adds nothing."""
    lake, file = tmp_path / "lake", tmp_path / "w.duckdb"
    create_lake(lake)
    dumps = find_dumps([*NIGHTS, cut], RunRequest(series="s"))
    first = done(dumps, lake, 3)
    assert [*first["run"].to_pylist()] == ["before", "after", "cut"]
    assert [len(rows) for rows in first["rejected"].to_pylist()] == [0, 0, 1]
    assert first["rejected"].to_pylist()[2][0]["path"].endswith("assignment.txt")
    parts = sorted(lake.rglob("*.parquet"))
    again = done(dumps, lake, 2)
    assert sorted(lake.rglob("*.parquet")) == parts
    assert sorted(again["run"].to_pylist()) == ["after", "before", "cut"]
    for dump in dumps:
        request = dump.request
        path = dump.source.origin
        ingest([path], file, request=request, jobs=1)
    with connect(file) as one, reading(lake) as other:
        assert differing_tables(one, other) == []


def test_dumps_with_facts_of_their_own() -> None:
    found = find_dumps([*NIGHTS, DATA / "seeds"], RunRequest(series="s", commit="c"))
    assert [(d.source.name, d.request.started_at, d.request.series) for d in found] == [
        ("before", datetime(2026, 1, 1), "s"),
        ("after", datetime(2026, 1, 2), "s"),
        ("seeds", None, "s"),
    ]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([{"name": "x"}], "a dump has no 'path'"),
        ([{"path": DATA / "seeds", "day": 1}], "a dump has no 'day'"),
        ([DATA / "seeds", {"path": DATA / "seeds"}], "two dumps are called 'seeds'"),
    ],
)
def test_what_is_no_dump(paths: list[object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_dumps(paths, RunRequest())  # type: ignore[arg-type]
