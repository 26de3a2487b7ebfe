"""A schema that changed under its number is named, and no command fails on it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import COMMANDS, main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.foreign import found_tables
from hlodb.schema.stored import stored_tables
from hlodb.schema.versions import schema_digest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, Made


@pytest.fixture(scope="module")
def sound(made: Made) -> Path:
    return made("digest", lambda path: ingest([str(DATA / "seeds")], path, jobs=1))


def test_the_tables_of_a_file_are_the_declared_ones(sound: Path) -> None:
    with connect(sound) as connection:
        assert found_tables(connection) == stored_tables()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER TABLE oom_reports DROP rank", "table oom_reports lacks rank"),
        ("ALTER TABLE runs ADD COLUMN x INTEGER", "table runs has x besides"),
        (
            "ALTER TABLE passes ALTER pass_name TYPE VARCHAR[] USING [pass_name]",
            "table passes has columns of another type",
        ),
        ("DROP TABLE rejects", "there is no table rejects"),
        (
            "DROP TABLE rejects; CREATE VIEW rejects AS SELECT 1 AS x",
            "there is no table rejects",
        ),
    ],
)
def test_other_tables_under_the_same_number(
    change: str,
    said: str,
    sound: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    db = tmp_path / "w.duckdb"
    shutil.copyfile(sound, db)
    with duckdb.connect(str(db)) as connection:
        connection.execute(change)
    commands = (
        ["explain", "--run", "seeds"],
        ["migrate"],
        ["report"],
        ["ingest", str(DATA / "seeds")],
        ["backup", str(tmp_path / "copy.duckdb")],
        ["compact"],
        ["check"],
        ["rm", "seeds"],
        ["runs"],
        ["modules"],
        ["query", "run_list"],
        ["sql", "FROM runs"],
        ["diff", "seeds", "seeds"],
        ["fit"],
        ["site", str(tmp_path / "site")],
        ["export", "f", "--to", "folded"],
        ["triage"],
        ["prune", "--keep", "1"],
        ["lake", "pack", str(db), str(tmp_path / "w.lake")],
    )
    without_warehouse = {"mcp", "replay", "schema", "skill"}
    assert {command for command, *_ in commands} == COMMANDS.keys() - without_warehouse
    for command in commands:
        named = [] if command[0] == "lake" else ["--db", str(db)]
        assert main([*command, *named]) == 5, command
        output = capfd.readouterr()
        assert output.out == ""
        assert output.err.startswith(
            f"hlodb: {db} has schema version 1 with other tables ("
        )
        assert f", here {schema_digest()}): {said}. Another build" in output.err


def test_a_table_of_ones_own_is_no_other_schema(sound: Path, tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    shutil.copyfile(sound, db)
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS x")
    assert main(["sql", "FROM mine", "--db", str(db)]) == 0


def test_a_lake_names_its_digest(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lake = tmp_path / "w.lake"
    assert main(["lake", "pack", str(sound), str(lake)]) == 0
    versions = lake / "hlodb-lake.json"
    found = json.loads(versions.read_text())
    assert found["schema_digest"] == schema_digest()
    versions.write_text(json.dumps({**found, "schema_digest": "00c0ffee"}))
    capfd.readouterr()
    assert main(["runs", "--db", str(lake)]) == 5
    assert "schema 1 (tables 00c0ffee), this hlodb reads" in capfd.readouterr().err
    del found["schema_digest"]
    versions.write_text(json.dumps(found))
    assert main(["runs", "--db", str(lake)]) == 0


def test_a_file_of_views_alone_is_no_warehouse(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor is it an empty one, in which tables could be made."""
    db = tmp_path / "w.duckdb"
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE SCHEMA store")
        connection.execute("CREATE VIEW store.files AS SELECT 1 AS x")
    for command in (["rm", "seeds"], ["ingest", str(DATA / "seeds")]):
        assert main([*command, "--db", str(db)]) == 5
        assert "not a hlodb warehouse" in capfd.readouterr().err
