"""While a connection is open nothing opens the warehouse's file again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import COMMANDS
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.workers import Units
from hlodb.ingest.tables.batch import BatchResult, parse_batch
from tests.conftest import DATA, DUMPS, REPOSITORY, needs_proc
from tests.reliability.openings import descriptors

pytestmark = needs_proc

MOVED = DATA / "moved_lines"
REAL = DUMPS / "cpu" / "jaxlib-0.10.2.tar.xz"
LINES: tuple[tuple[str, int], ...] = (
    (f"ingest {DATA}/seeds --jobs 1", 0),
    (f"ingest {REAL} --run a --series s --jobs 2", 0),
    (f"ingest {MOVED}/before --run b --series s --jobs 2", 0),
    (f"ingest {REAL} --run a", 0),
    (f"ingest {MOVED} --run c --series s --passes metrics", 0),
    ("ingest --retry-rejects", 0),
    ("runs", 0),
    ("modules", 0),
    ("schema", 0),
    ("query", 0),
    ("query peak_by_space", 0),
    ("sql FROM~runs", 0),
    ("check", 0),
    ("check --deep", 0),
    ("check --queries", 0),
    ("diff b c", 0),
    ("fit", 4),
    ("report --series s --allow-empty --write html=page.html --format json", 0),
    ("triage", 0),
    ("explain --run b", 0),
    (f"explain {MOVED}/before --format json", 0),
    ("backup copy.duckdb", 0),
    ("backup copy.duckdb --force", 0),
    ("lake pack w.duckdb packed.lake", 0),
    ("prune --keep 1", 0),
    ("compact", 0),
    ("migrate", 0),
    ("rm b", 0),
)
"""Commands with their exit codes; `~` stands for a blank within an argument."""


def carry_out(folder: Path, *lines: str) -> tuple[list[int], str]:
    """Run commands in one watched process; return exit codes and what it noticed."""
    report = folder / "report"
    commands = [[part.replace("~", " ") for part in line.split(" ")] for line in lines]
    arguments = (str(folder), str(report), json.dumps(commands))
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.openings", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), report.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_command_opens_the_file_once(tmp_path: Path) -> None:
    assert {line.split(" ")[0] for line, _ in LINES} == COMMANDS.keys()
    codes, noticed = carry_out(tmp_path, *(line for line, _ in LINES))
    assert noticed == ""
    assert codes == [code for _, code in LINES]


def test_an_older_warehouse_is_migrated_without_a_second_descriptor(
    tmp_path: Path,
) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(DATA / "seeds")], db, jobs=1)
    with duckdb.connect(str(db)) as connection:
        connection.execute(
            "UPDATE warehouse_info SET value = '0' WHERE key = 'schema_version'"
        )
    codes, noticed = carry_out(tmp_path, "runs", "migrate --dry-run")
    # No script leads from version 0 to 1: the copy was made, and nothing was changed.
    assert (codes, noticed) == ([5, 5], "")


def test_nothing_is_open_while_a_dump_is_read_and_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(DATA / "seeds")], db, jobs=1)
    found = []

    def parse(units: Units) -> BatchResult:
        found.append(descriptors(db))
        return parse_batch(units)

    monkeypatch.setattr("hlodb.ingest.pipeline.workers.parse_batch", parse)
    monkeypatch.setattr("hlodb.ingest.tables.batch.BATCH_BYTES", 10_000)
    monkeypatch.setattr("hlodb.ingest.tables.batch.UNIT_BYTES", 0)
    monkeypatch.setattr("hlodb.ingest.pipeline.store.FLUSH_BYTES", 25_000)
    ingest([str(MOVED)], db, jobs=1)
    assert len(found) > 3
    assert {*found} == {0}


def test_a_second_descriptor_is_noticed(tmp_path: Path) -> None:
    """Else the tests above could not fail."""
    report, db = tmp_path / "report", tmp_path / "w.duckdb"
    code = f"""
from pathlib import Path
from tests.reliability.openings import watch
from hlodb.schema.warehouse import connect
db = Path({str(db)!r})
watch(db, Path({str(report)!r}))
with connect(db, read_only=False) as connection:
    db.open("rb").close()
    kept = db.open("rb")
with connect(db):
    pass
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)
    lines = report.read_text(encoding="utf-8").splitlines()
    assert [line.split(" in ")[0] for line in lines if line.startswith(str(db))] == [
        f"{db} is opened beside a connection",
        f"{db} is opened beside a connection",
        f"{db} has a second descriptor",
    ]
    assert descriptors(db) == 0
