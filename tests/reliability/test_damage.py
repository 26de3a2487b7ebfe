"""A warehouse that a disk has damaged: it is told, and replaces no sound copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.errors import WarehouseError
from hlodb.ingest.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.schema.backup import back_up
from tests.conftest import DATA, all_rows

PLACES = range(5, 100, 10)
"""Where 4 KB are overwritten, in percent of the file."""

DAMAGED = "it is damaged; restore it from a backup"


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
    with pytest.raises(WarehouseError, match=DAMAGED):
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
        ("query", "op_mix"),
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
