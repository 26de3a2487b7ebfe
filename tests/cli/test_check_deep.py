"""`hlodb check --deep` reads the dumps again and holds them against what is stored."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.ingest.load.delete import prune_runs
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import transaction
from tests.conftest import DATA

SEEDS = DATA / "seeds"
PASSES = [*(DATA / "passes").iterdir()]


def deep_rows(
    db: Path, capfd: pytest.CaptureFixture[str], *options: str
) -> tuple[int, list[dict[str, Any]], str]:
    capfd.readouterr()
    code = main(["check", "--deep", "--format", "json", "--db", str(db), *options])
    out, err = capfd.readouterr()
    return code, [r for r in json.loads(out) if r["check_name"] == "deep"], err


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Seeds; their copy, which shares every module; passes, of which metrics stay."""
    path, copy = tmp_path / "w.duckdb", tmp_path / "copy"
    shutil.copytree(SEEDS, copy)
    ingest([str(SEEDS), str(copy)], path, jobs=1)
    ingest([str(DATA / "passes")], path, request=RunRequest(passes="metrics"), jobs=1)
    return path


@pytest.mark.slow
def test_what_is_as_the_dumps_say(db: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, [row], said = deep_rows(db, capfd)
    assert (code, row["status"], row["checked_count"]) == (0, "ok", 2 + len(PASSES))
    assert said == f"hlodb: read {2 + len(PASSES)} runs again\n"
    with transaction(db) as connection:
        prune_runs(connection, [1, 3], drop_timelines=True)
    assert deep_rows(db, capfd)[0] == 0


@pytest.mark.slow
def test_dumps_that_are_gone(db: Path, capfd: pytest.CaptureFixture[str]) -> None:
    next((db.parent / "copy").iterdir()).write_text("changed")
    code, [row], said = deep_rows(db, capfd)
    assert (code, row["status"], row["checked_count"]) == (0, "ok", 1 + len(PASSES))
    assert said == (
        "hlodb: the dump of run copy is gone or has changed\n"
        f"hlodb: read {1 + len(PASSES)} runs again\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["nothing", "folder", "run"])
def test_a_dump_that_adds_to_what_another_brought(
    gone: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Texts first, then the same with protos and reports, which may go again."""
    db, texts, more = (tmp_path / name for name in ("w.duckdb", "texts", "more"))
    with tarfile.open(DATA / "proto" / "cpu-jaxlib-0.10.2.tar.xz") as archive:
        archive.extractall(more)
    for path in more.rglob("*"):
        if path.is_file() and "jit_mlp_step" not in path.name:
            path.unlink()
    shutil.copytree(more, texts, ignore=shutil.ignore_patterns("*.pb"))
    for folder in (texts, more):
        ingest([str(folder)], db, jobs=1)
    if gone == "folder":
        shutil.rmtree(more)
    if gone == "run":
        assert main(["rm", "more", "--db", str(db)]) == 0
    code, [row], _ = deep_rows(db, capfd)
    assert (code, row["status"]) == (0, "ok")
    assert row["checked_count"] == (2 if gone == "nothing" else 1)
    code, [row], _ = deep_rows(db, capfd, "--run", "texts")
    assert (code, row["status"], row["checked_count"]) == (0, "ok", 1)


CHANGES = {
    "dump_files": "UPDATE store.files SET lines_total = 0",
    "allocations": "DELETE FROM allocations WHERE allocation_id = 0",
    "instructions": "UPDATE store.instructions SET name = 'x'",
    "locations": "UPDATE store.location_lists SET source_line = -1",
}


@pytest.mark.slow
@pytest.mark.parametrize("table", CHANGES)
def test_rows_that_were_changed(
    table: str, db: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with transaction(db) as connection:
        connection.execute(CHANGES[table])
    code, rows, _ = deep_rows(db, capfd, "--run", "seeds")
    assert code == 3
    assert {(row["run"], row["place"]) for row in rows} == {
        ("seeds", f"rows of {table}")
    }
    lost = {row["expected"] - row["found"] for row in rows}
    assert lost == ({1} if table == "allocations" else {0})
