"""A warehouse that a disk has damaged: it is reported, and replaces no sound copy."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import main
from hlodb.errors import WarehouseError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.schema.backup import back_up
from tests.conftest import DATA, REPOSITORY, all_rows

PLACES = range(5, 100, 10)
"""Where 4 KB are overwritten, in percent of the file."""

DAMAGED = (
    "it is damaged; restore a backup, or ingest the dumps into a new file"
    " (docs/reliability.md says what can be saved)"
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "w.duckdb"
    ingest([str(DATA / "seeds")], path, jobs=1, prepare=renew_macros)
    return path


def damage(sound: Path, path: Path, percent: int) -> None:
    data = bytearray(sound.read_bytes())
    at = len(data) * percent // 100 // 4096 * 4096
    data[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(data)


@pytest.mark.slow
def test_a_damaged_warehouse_replaces_no_backup(sound: Path, tmp_path: Path) -> None:
    """Room that is not in use may hold anything; then the copy is as good."""
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    refused = []
    for percent in PLACES:
        damage(sound, db, percent)
        shutil.copy(sound, copy)
        try:
            back_up(db, copy, replace=True)
        except WarehouseError as error:
            assert str(error).endswith(DAMAGED)
            assert copy.read_bytes() == sound.read_bytes()
            refused.append(percent)
        else:
            assert all_rows(copy) == all_rows(sound)
    assert refused
    assert sorted(path.name for path in tmp_path.iterdir()) == [copy.name, db.name]


def test_a_warehouse_that_was_cut_is_not_copied(sound: Path, tmp_path: Path) -> None:
    db, copy = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    db.write_bytes(sound.read_bytes()[:-12_000])
    with pytest.raises(WarehouseError, match="it is damaged; restore a backup"):
        back_up(db, copy)
    assert not copy.exists()


def test_every_command_tells_damage(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "w.duckdb"
    db.write_bytes(sound.read_bytes()[:-12_000])
    for command in (
        ("runs",),
        ("check",),
        ("query", "dead_values"),
        ("sql", "SELECT count(hash(i)) FROM store.instructions AS i"),
        ("sql", "SELECT count(hash(r)) FROM runs AS r"),
        ("backup", str(tmp_path / "copy.duckdb")),
    ):
        code = main([*command, "--db", str(db)])
        told = capfd.readouterr().err
        assert code in (0, 5), (command, told)
        if code:
            assert told.endswith(f"{DAMAGED}\n")
    assert code == 5


def test_what_can_be_saved_of_a_damaged_file(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The page's commands, on a file of which all can be read."""
    text = (REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8")
    [listing] = re.findall(r'hlodb sql "([^"]+)" --db DAMAGED', text)
    assert main(["sql", listing, "--format", "csv", "--db", str(sound)]) == 0
    assert capfd.readouterr().out.splitlines()[1].startswith("seeds,,")
    [saving] = re.findall(r'duckdb new.duckdb "([^"]+)"', text)
    attaching, copying, _ = saving.split(";")
    with duckdb.connect(str(tmp_path / "new.duckdb")) as connection:
        connection.execute(attaching.replace("DAMAGED", str(sound)))
        connection.execute(copying)
        [(runs,)] = connection.execute("SELECT count(*) FROM runs").fetchall()
        for table in (
            "memory_profile",
            "memory_timeline",
            "findings",
            "finding_events",
        ):
            connection.execute(copying.replace("runs", table))
        rows = connection.execute("SELECT count(*) FROM memory_profile").fetchall()
    assert (runs, rows[0][0] > 0) == (1, True)


BLOCK_BYTES, HEADERS_BYTES = 32768, 3 * 4096
"""Sizes in a DuckDB file: of its blocks, and of the headers before them."""


@pytest.fixture(scope="module")
def two_writers(sound: Path) -> tuple[bytes, bytes]:
    """Return the two contents that either of two writers would have left."""
    files = []
    for name in ("before", "after"):
        path = sound.with_name(f"{name}.duckdb")
        shutil.copy(sound, path)
        ingest([str(DATA / "moved_lines" / name)], path, jobs=1)
        files.append(path.read_bytes())
    return files[0], files[1]


@pytest.mark.parametrize("seed", range(8))
def test_every_command_reports_what_two_writers_left(
    seed: int,
    two_writers: tuple[bytes, bytes],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Blocks of one and of the other, as when neither keeps the other out."""
    db = tmp_path / "w.duckdb"
    chance = random.Random(seed)
    torn = bytearray(chance.choice(two_writers)[:HEADERS_BYTES])
    for at in range(HEADERS_BYTES, max(map(len, two_writers)), BLOCK_BYTES):
        torn += chance.choice(two_writers)[at : at + BLOCK_BYTES]
    codes = {}
    for command in (
        ("check",),
        ("runs",),
        ("query", "peak_by_space"),
        ("report", "--allow-empty", "--no-record"),
        ("backup", str(tmp_path / "copy.duckdb")),
        ("compact",),
        ("ingest", str(DATA / "updates")),
    ):
        db.write_bytes(torn)
        codes[command[0]] = main([*command, "--db", str(db)])
        told = capfd.readouterr().err
        if codes[command[0]]:
            assert told.endswith(f"cannot use {db}: {DAMAGED}\n"), (command, told)
    assert (codes["check"], codes["backup"], codes["compact"]) == (5, 5, 5)
    assert {*codes.values()} <= {0, 5}
