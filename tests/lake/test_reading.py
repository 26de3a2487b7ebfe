"""A lake is read as a file is: no SQL writes to it, and damage is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

import hlodb
from hlodb.cli import main
from hlodb.commands.options import open_for_reading
from hlodb.errors import UsageError, WarehouseError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.catalogue import open_lake, refresh
from hlodb.lake.layout import lake_at
from hlodb.lake.opening import reading
from hlodb.lake.packing import compact_lake, pack
from hlodb.lake.storage import Folder
from hlodb.queries.run import run_sql
from tests.conftest import DATA
from tests.reliability.test_sql_safety import FORBIDDEN


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading")
    ingest([str(DATA / "seeds")], folder / "w.duckdb", jobs=1)
    pack(folder / "w.duckdb", folder / "w.lake")
    return folder / "w.lake"


@pytest.fixture
def lake(packed: Path, tmp_path: Path) -> Path:
    """Return a copy that a test may harm; its catalogue shows the other place."""
    return Path(shutil.copytree(packed, tmp_path / "lake"))


@pytest.fixture(scope="module")
def closed(packed: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_for_reading(packed) as connection:
        yield connection


def files(lake: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()}


@pytest.mark.parametrize("place", ["", "w.lake/"])
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_statements_that_are_refused(
    statement: str, place: str, packed: Path, closed: duckdb.DuckDBPyConnection
) -> None:
    before = files(packed)
    secret = packed.parent / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    target = packed.parent / f"{place}target"
    with pytest.raises(UsageError):
        run_sql(closed, statement.format(secret=secret, target=target))
    with suppress(duckdb.Error):
        closed.execute("ROLLBACK")
    assert run_sql(closed, "SELECT count(*) FROM runs").rows == [(1,)]
    assert files(packed) == before


@pytest.mark.parametrize(
    "statement",
    [
        "EXPLAIN ANALYZE COPY runs TO '{target}'",
        "PREPARE p AS COPY runs TO '{target}'",
        "COPY (SELECT 1) TO '{part}' (FORMAT parquet)",
    ],
)
def test_no_statement_writes_into_the_folder(
    statement: str, packed: Path, closed: duckdb.DuckDBPyConnection
) -> None:
    before = files(packed)
    part = next((packed / "runs").iterdir())
    with pytest.raises(UsageError, match="statements are not run"):
        run_sql(closed, statement.format(target=packed / "x.parquet", part=part))
    assert files(packed) == before


def test_sql_reads_the_files_of_the_lake(
    packed: Path, closed: duckdb.DuckDBPyConnection
) -> None:
    parts = f"read_parquet('{packed}/runs/*.parquet')"
    assert run_sql(closed, f"SELECT count(*) > 0 FROM {parts}").rows == [(True,)]


def test_python_opens_a_lake(packed: Path) -> None:
    with hlodb.open(packed) as warehouse:
        assert [row[0] for row in warehouse.sql("SELECT name FROM runs").rows] == [
            "seeds"
        ]


def test_a_lake_may_be_moved(lake: Path) -> None:
    """Its catalogue is made anew; parts stay as they are."""
    catalogue = lake / "lake.duckdb"
    before = files(lake)
    with open_for_reading(lake) as connection:
        assert run_sql(connection, "FROM modules").rows
    moved = files(lake)
    assert moved.pop(catalogue) != before.pop(catalogue)
    assert moved == before


def test_the_bare_client_attaches_a_lake(lake: Path) -> None:
    refresh(lake_at(lake))
    program = Path(sys.executable).with_name("duckdb")
    script = (
        f"ATTACH '{lake / 'lake.duckdb'}' AS w (READ_ONLY); USE w;"
        " SELECT count(*) FROM peak_by_space();"
    )
    done = subprocess.run(
        [program, "-csv", "-noheader", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    with hlodb.open(lake) as warehouse:
        count = len(warehouse.query("peak_by_space").rows)
    assert (done.stdout, done.stderr) == (f"{count}\n", "")


def test_a_part_that_no_commit_names_is_not_read(lake: Path) -> None:
    with reading(lake) as connection:
        expected = run_sql(connection, "SELECT count(*) FROM instructions").rows
    for folder in ("instructions", "keys", "aliases"):
        part = next((lake / folder).iterdir())
        shutil.copy(part, part.with_name("run-copy-0123456789abcdef.parquet"))
    (lake / "lake.duckdb").unlink()
    with reading(lake) as connection:
        found = run_sql(connection, "SELECT count(*) FROM instructions").rows
    assert found == expected


def test_compaction_removes_after_a_day_what_killed_writers_left(lake: Path) -> None:
    part = next((lake / "instructions").iterdir())
    left = [lake / "drafts" / f"{age}-1" for age in ("old", "new")]
    for draft in left:
        draft.mkdir(parents=True)
    left += [part.with_name(f"run-{age}-0123.parquet") for age in ("old", "new")]
    for copy in left[2:]:
        shutil.copy(part, copy)
    long_ago = time.time() - 25 * 3600
    for path in left:
        if "old" in path.name:
            os.utime(path, (long_ago, long_ago))
    compact_lake(lake)
    assert [path for path in left if path.exists()] == left[1::2]


@pytest.mark.parametrize("put", [Folder.put, Folder.put_new])
def test_a_part_is_on_the_disk_before_it_has_its_name(
    put: Callable[[Folder, Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draft, part = tmp_path / "draft", tmp_path / "runs" / "x.parquet"
    draft.write_bytes(b"x")
    flushed = []

    def flush(path: Path) -> None:
        flushed.append((path, part.exists()))

    monkeypatch.setattr("hlodb.lake.storage.sync", flush)
    put(Folder(tmp_path), draft, "runs/x.parquet")
    assert flushed == [(draft, False), (part.parent, True)]


def test_a_commit_without_its_parts_is_named(lake: Path) -> None:
    part = next((lake / "runs").iterdir())
    shutil.copy(part, part.with_name("aaa-copy.parquet"))
    with (
        pytest.raises(WarehouseError, match=r"aaa-copy\.parquet"),
        reading(lake) as connection,
    ):
        run_sql(connection, "SELECT sum(hash(i)) FROM instructions AS i")


@pytest.mark.parametrize("harm", ["cut off", "missing", "catalogue cut off"])
def test_damage_is_named_or_does_no_harm(lake: Path, harm: str) -> None:
    catalogue, part = lake / "lake.duckdb", next((lake / "instructions").iterdir())
    refresh(lake_at(lake))
    match harm:
        case "cut off":
            part.write_bytes(part.read_bytes()[:100])
        case "missing":
            part.unlink()
        case _:
            catalogue.write_bytes(catalogue.read_bytes()[:5000])
            with open_for_reading(lake) as connection:
                run_sql(connection, "SELECT bit_xor(hash(i)) FROM instructions AS i")
            return
    with (
        pytest.raises(WarehouseError, match=f"{part.name}.*from a copy"),
        open_for_reading(lake) as connection,
    ):
        run_sql(connection, "SELECT bit_xor(hash(i)) FROM instructions AS i")
    for command in (["check"], ["query", "peak_contents"]):
        assert main([*command, "--db", str(lake)]) == WarehouseError.exit_code


def test_another_version_is_refused(lake: Path) -> None:
    (lake / "hlodb-lake.json").write_text('{"layout_version": 1, "schema_version": 0}')
    with pytest.raises(WarehouseError, match="is a lake of layout 1, schema 0"):
        open_lake(lake_at(lake))
