"""Dumps of programs that ran on an H100, compared with what was measured there."""

from __future__ import annotations

import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

pytestmark = pytest.mark.slow

FOLDER = DATA / "h100"
TRUTH: dict[str, Any] = tomllib.loads((FOLDER / "truth.toml").read_text())
ROUNDED = 4096
"""An allocator rounds each array up to 256 bytes; these programs have few."""

Connection = duckdb.DuckDBPyConnection


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("h100")
    for name in ("dumps.tar.xz", "logs.tar.xz"):
        with tarfile.open(FOLDER / name) as archive:
            archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def warehouse(dumps: Path) -> Iterator[Connection]:
    runs = [path for path in dumps.iterdir() if path.is_dir()]
    for run in sorted(runs):
        ingest([str(run)], dumps / "w.duckdb", jobs=1)
    with connect(dumps / "w.duckdb") as connection:
        yield connection


def row(connection: Connection, query: str, of: dict[str, Any]) -> dict[str, Any]:
    parameters = {"run": of["folder"], "program": of["module"], "color": 0}
    [found] = run_query(connection, query, parameters).dicts()
    return dict(found)


def test_all_is_read_and_agrees(warehouse: Connection) -> None:
    assert warehouse.execute("FROM rejects").fetchall() == []
    stated = warehouse.execute("SELECT count(*) FROM memory_analysis").fetchall()
    assert stated == [(8,)]
    for (run,) in warehouse.execute("SELECT name FROM runs").fetchall():
        checks = run_query(warehouse, "self_consistency", {"run": run}).dicts()
        assert [check for check in checks if check["status"] != "ok"] == []


@pytest.mark.parametrize("ran", TRUTH["run"], ids=lambda ran: ran["module"])
def test_programs_took_what_is_reserved_for_them(
    warehouse: Connection, ran: dict[str, Any]
) -> None:
    found = row(warehouse, "headroom", ran)
    [(arguments,)] = warehouse.execute(
        "SELECT parameter_bytes FROM memory_profile JOIN modules USING (module_id)"
        " JOIN runs USING (run_id) WHERE color = 0 AND modules.name = ? AND"
        " runs.name = ? AND stage = 'after_optimizations'",
        [ran["module"], ran["folder"]],
    ).fetchall()
    took = ran["peak"] - ran["before"]
    beyond = took - (found["reserved_bytes"] - arguments)
    assert beyond >= 0
    assert (beyond > ROUNDED) == ("scratch" in ran)
    assert (found["caveat"] is not None) == ("scratch" in ran)


@pytest.mark.parametrize("program", TRUTH["compiled"], ids=lambda one: one["folder"])
def test_the_share_of_the_memory_that_jax_takes(
    warehouse: Connection, program: dict[str, Any]
) -> None:
    found = row(warehouse, "headroom", program)
    does_fit = found["reserved_bytes"] <= TRUTH["limits"]["0.75"]
    assert does_fit == program["fits_by_default"]
    share = (
        "JAX uses 75 % of a GPU unless XLA_PYTHON_CLIENT_MEM_FRACTION says otherwise"
    )
    expected = ("ok", None) if does_fit else ("warn", share)
    assert (found["status"], found["caveat"]) == expected


def test_the_limit_that_the_allocator_states(dumps: Path, tmp_path: Path) -> None:
    """Of the job's log it is known, though the program's dump cannot say it."""
    paths = [str(dumps / "decode"), str(dumps / "bfc_default.log")]
    ingest(paths, tmp_path / "w.duckdb", request=RunRequest(name="job"), jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "headroom", {"program": "jit_decode_step"}).dicts()
    [found] = [row for row in rows if row["color"] == 0]
    assert (found["status"], found["limit_from"]) == ("oom", "log")
    stated = TRUTH["limits"]["0.75"]
    assert abs(found["usable_bytes"] - stated) * 1000 < stated
