"""Warehouses of other versions: brought up to date, or refused with what to do."""

from __future__ import annotations

import lzma
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import main
from hlodb.errors import UsageError, WarehouseError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.backup import back_up
from hlodb.schema.migration import Migration, migrate, read_steps
from hlodb.schema.versions import SCHEMA_VERSION
from hlodb.schema.warehouse import connect, open_connection
from tests.conftest import DATA
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.make_fixture import ingest_seeds
from tests.reliability.tasks import LAST_STEP, OLD_VERSION, lower_version

SEEDS = str(DATA / "seeds")
WAREHOUSES = sorted((DATA / "warehouses").glob("v*.duckdb.xz"))


def set_version(db: Path, text: str) -> None:
    with duckdb.connect(str(db)) as connection:
        connection.execute(
            "UPDATE warehouse_info SET value = ? WHERE key = 'schema_version'", [text]
        )


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    ingest([SEEDS], path)
    return path


@pytest.fixture
def old(db: Path) -> Path:
    lower_version(db)
    return db


def test_an_older_one_is_refused_until_it_is_migrated(old: Path) -> None:
    with pytest.raises(WarehouseError) as error:
        open_connection(old)
    assert str(error.value) == (
        f"{old} has schema version {OLD_VERSION}, this hlodb reads version"
        f" {SCHEMA_VERSION}: `hlodb migrate --db {old}` brings it up to date"
    )
    assert migrate(old, dry_run=True, steps=LAST_STEP) == Migration(
        OLD_VERSION, SCHEMA_VERSION, None
    )
    with pytest.raises(WarehouseError):
        open_connection(old)
    backup = old.with_name(f"w.duckdb.v{OLD_VERSION}")
    bytes_before = old.read_bytes()
    assert migrate(old, steps=LAST_STEP) == Migration(
        OLD_VERSION, SCHEMA_VERSION, backup
    )
    assert backup.read_bytes() == bytes_before
    assert faults(old) == []
    with connect(old) as connection:
        rows = connection.execute("SELECT count(*), count(shape) FROM allocations")
        assert rows.fetchone() == (39, 0)
    ingest([str(DATA / "moved_lines" / "before")], old)
    assert faults(old) == []
    assert sorted(p.name for p in old.parent.iterdir()) == [
        "w.duckdb",
        "w.duckdb.lock",
        backup.name,
    ]


def test_tables_and_views_of_ones_own_stay(old: Path) -> None:
    with duckdb.connect(str(old)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
        connection.execute("CREATE VIEW run_names AS SELECT name FROM runs")
    migrate(old, steps=LAST_STEP)
    with connect(old) as connection:
        mine = connection.execute("SELECT x, name FROM mine, run_names").fetchall()
    assert mine == [(1, "seeds")]


def test_a_log_beside_the_old_one_is_not_lost(old: Path) -> None:
    """A writer died after its commit: what it wrote is in the log only."""
    log, bytes_before = Path(f"{old}.wal"), old.read_bytes()
    connection = duckdb.connect(str(old))
    connection.execute("SET checkpoint_threshold = '1TB'")
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("UPDATE runs SET branch = 'main'")
    connection.close()
    assert log.exists() and old.read_bytes() == bytes_before
    migrate(old, steps=LAST_STEP)
    assert not log.exists()
    with connect(old) as connection:
        assert connection.execute("SELECT branch FROM runs").fetchone() == ("main",)


def test_where_no_script_leads_on(old: Path) -> None:
    with pytest.raises(WarehouseError) as error:
        migrate(old, steps={})
    assert str(error.value) == (
        f"no script leads from schema version {OLD_VERSION} to {SCHEMA_VERSION};"
        f" ingest the dumps of {old} anew, into another file"
    )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("ALTER TABLE allocations ADD COLUMN shape INTEGER;\n", "is not as in a new"),
        ("ALTER TABLE no_such ADD COLUMN x INTEGER;\n", "a migration script failed"),
    ],
)
def test_a_script_that_goes_wrong_changes_nothing(
    script: str, reason: str, old: Path
) -> None:
    before = old.read_bytes()
    with pytest.raises(WarehouseError, match=reason):
        migrate(old, steps={SCHEMA_VERSION: script})
    assert old.read_bytes() == before
    assert sorted(p.name for p in old.parent.iterdir()) == [
        old.name,
        f"{old.name}.lock",
    ]


def test_one_of_this_version(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = db.read_bytes()
    assert main(["migrate", "--db", str(db)]) == 0
    already = f"hlodb: {db} has schema version {SCHEMA_VERSION} already\n"
    assert capsys.readouterr().err == already
    assert db.read_bytes() == before


def test_a_newer_one_is_refused(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_version(db, "99")
    for command in (["runs"], ["ingest", SEEDS], ["migrate"], ["prune", "--keep", "1"]):
        assert main([*command, "--db", str(db)]) == 5
        message = capsys.readouterr().err
        assert "has schema version 99" in message
        assert "install a newer hlodb (`pip install -U hlodb`)" in message


def test_a_version_that_is_none(db: Path) -> None:
    set_version(db, "soon")
    with pytest.raises(WarehouseError, match="is a DuckDB file but not a hlodb"):
        open_connection(db)
    with pytest.raises(WarehouseError, match="is no hlodb warehouse"):
        migrate(db)


def test_there_is_a_script_for_every_version() -> None:
    assert sorted(read_steps()) == list(range(2, SCHEMA_VERSION + 1))


def test_every_version_so_far_is_kept() -> None:
    names = [f"v{version}.duckdb.xz" for version in range(1, SCHEMA_VERSION + 1)]
    assert [path.name for path in WAREHOUSES] == names


@pytest.mark.parametrize("packed", WAREHOUSES, ids=lambda path: path.name)
def test_warehouses_of_every_version_so_far(packed: Path, tmp_path: Path) -> None:
    db, anew = tmp_path / "w.duckdb", tmp_path / "anew.duckdb"
    db.write_bytes(lzma.decompress(packed.read_bytes()))
    migrate(db)
    assert faults(db) == []
    assert main(["query", "module_list", "--db", str(db)]) == 0
    ingest_seeds(anew)
    kept = {name: rows for name, (rows, _) in content(db).items()}
    assert kept == {name: rows for name, (rows, _) in content(anew).items()}
    ingest_seeds(db)
    ingest([str(DATA / "moved_lines")], db)
    assert faults(db) == []


def test_the_warehouse_of_this_version_is_what_is_written_today(tmp_path: Path) -> None:
    """Else run tests.reliability.make_fixture; its docstring says when one may."""
    db, anew = tmp_path / "w.duckdb", tmp_path / "anew.duckdb"
    db.write_bytes(lzma.decompress(WAREHOUSES[-1].read_bytes()))
    ingest_seeds(anew)
    assert differences(content(anew), content(db)) == {}


# --- backup ---------------------------------------------------------------------------


def test_a_backup_has_what_the_log_has(db: Path, tmp_path: Path) -> None:
    connection = duckdb.connect(str(db))
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("UPDATE runs SET branch = 'main'")
    connection.close()
    assert Path(f"{db}.wal").exists()
    copy = tmp_path / "copies" / "copy.duckdb"
    copy.parent.mkdir()
    assert back_up(db, copy) == copy.stat().st_size
    assert list(copy.parent.iterdir()) == [copy]
    with connect(copy) as connection:
        assert connection.execute("SELECT branch FROM runs").fetchone() == ("main",)
    assert differences(content(db), content(copy)) == {}


def test_a_backup_is_not_replaced_unasked(db: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_text("precious")
    with pytest.raises(UsageError, match="exists; --force replaces it"):
        back_up(db, copy)
    assert copy.read_text() == "precious"
    back_up(db, copy, replace=True)
    assert faults(copy) == []
    with pytest.raises(UsageError, match="is the warehouse itself"):
        back_up(db, db, replace=True)
    with pytest.raises(UsageError, match="there is no warehouse"):
        back_up(tmp_path / "none", copy, replace=True)
    with pytest.raises(UsageError, match="there is no directory"):
        back_up(db, tmp_path / "no" / "copy.duckdb")
