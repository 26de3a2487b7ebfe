"""`hlodb compact` keeps every row, view and macro, and leaves one file or the other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.errors import UsageError, WarehouseError
from hlodb.ingest.load.delete import forget_run
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.macros import install_macros
from hlodb.schema import compact as room
from hlodb.schema.compact import compact
from hlodb.schema.waiting import BLOCK_BYTES
from hlodb.schema.warehouse import connect, transaction
from hlodb.schema.writer_lock import lock_path
from tests.conftest import DATA, all_rows

_SCHEMA = (
    "SELECT schema_name, table_name, comment, has_primary_key, index_count"
    " FROM duckdb_tables() ORDER BY ALL",
    "SELECT schema_name, table_name, column_name, data_type, is_nullable, comment"
    " FROM duckdb_columns() WHERE NOT internal ORDER BY ALL",
    "SELECT schema_name, view_name, comment, sql FROM duckdb_views()"
    " WHERE NOT internal ORDER BY ALL",
    "SELECT function_name, parameters, comment"
    " FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
)
_MACROS = (
    "SELECT function_name, json_serialize_sql(CASE WHEN function_type = 'table_macro'"
    " THEN macro_definition ELSE 'SELECT ' || macro_definition END)"
    " FROM duckdb_functions() WHERE NOT internal ORDER BY ALL"
)
_UNORDERED = ("exclude_list", "qualified_exclude_list", "replace_list")
"""DuckDB prints these columns of a `*` in another order each time."""


@pytest.fixture(scope="module")
def gappy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, of which one was removed."""
    path = tmp_path_factory.mktemp("gappy") / 'it\'s a "name".duckdb'
    ingest([str(DATA / "seeds")], path, prepare=install_macros)
    [run] = ingest([str(DATA / "moved_lines" / "before")], path)
    with transaction(path) as connection:
        forget_run(connection, run.run_id)
    return path


@pytest.fixture
def warehouse(gappy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(gappy, tmp_path))


def _schema(path: Path) -> list[object]:
    with connect(path) as connection:
        macros = connection.execute(_MACROS).fetchall()
        return [
            *(connection.execute(query).fetchall() for query in _SCHEMA),
            [(name, _meaning(json.loads(tree))) for name, tree in macros],
        ]


def _meaning(tree: Any) -> Any:
    """Return a statement's tree without places, and lists that have no order sorted."""
    if isinstance(tree, list):
        return [_meaning(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    assert not tree.get("error")
    found = {k: _meaning(v) for k, v in tree.items() if k != "query_location"}
    return found | {k: sorted(found[k], key=repr) for k in _UNORDERED if k in found}


@pytest.mark.slow
def test_everything_is_kept_in_a_smaller_file(warehouse: Path) -> None:
    rows, schema = all_rows(warehouse), _schema(warehouse)
    warehouse.chmod(0o640)
    before = warehouse.stat().st_size
    done = compact(warehouse)
    assert (all_rows(warehouse), _schema(warehouse)) == (rows, schema)
    assert done == (before, warehouse.stat().st_size)
    assert done.after_bytes < done.before_bytes
    assert warehouse.stat().st_mode & 0o777 == 0o640
    assert sorted(warehouse.parent.iterdir()) == [warehouse, lock_path(warehouse)]
    with connect(warehouse) as connection:
        assert connection.execute("CALL pragma_database_size()").fetchall()[0][2] == (
            BLOCK_BYTES
        )


@pytest.mark.slow
def test_a_compacted_warehouse_takes_another_run(warehouse: Path) -> None:
    compact(warehouse)
    [summary] = ingest([str(DATA / "moved_lines" / "after")], warehouse)
    assert (summary.modules, summary.rejects) == (4, 0)


def test_the_command_says_both_sizes(warehouse: Path) -> None:
    before = warehouse.stat().st_size
    done = subprocess.run(
        [sys.executable, "-m", "hlodb", "compact", "--db", str(warehouse)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = warehouse.stat().st_size
    assert done.stdout == ""
    assert done.stderr == (
        f"hlodb: {warehouse} had {before:,} bytes, now has {after:,}\n"
    )


def test_a_link_stays_a_link(warehouse: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.duckdb"
    link.symlink_to(warehouse)
    compact(link)
    assert link.is_symlink()


def test_there_must_be_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no warehouse at"):
        compact(tmp_path / "none.duckdb")
    duckdb.connect(str(tmp_path / "other.duckdb")).close()
    with pytest.raises(WarehouseError, match="not a hlodb warehouse"):
        compact(tmp_path / "other.duckdb")


@pytest.mark.parametrize("fails", ["_row_counts", "settle", "sync"])
def test_what_fails_on_the_way_changes_nothing(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    rows = all_rows(warehouse)

    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(room, fails, fail)
    with pytest.raises(WarehouseError, match="No space left on device"):
        compact(warehouse)
    assert all_rows(warehouse) == rows
    assert sorted(warehouse.parent.iterdir()) == [warehouse, lock_path(warehouse)]


@pytest.mark.slow
def test_killed_at_any_step_leaves_one_file_or_the_other(warehouse: Path) -> None:
    rows = all_rows(warehouse)
    for step in ("_write_anew", "settle", "shutil.copymode", "sync", "time.sleep"):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "import os, sys; from pathlib import Path\n"
                "from hlodb.schema import compact as room\n"
                f"room.{step} = lambda *_: os.kill(os.getpid(), 9)\n"
                "room.compact(Path(sys.argv[1]))",
                str(warehouse),
            ],
            check=False,
        )
        assert done.returncode == -9
        assert all_rows(warehouse) == rows
    compact(warehouse)
    assert all_rows(warehouse) == rows
