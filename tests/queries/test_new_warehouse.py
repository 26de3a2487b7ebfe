"""A new warehouse is a copy of one in the cache, and the same as one made by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hlodb.queries.new_warehouse import cached_warehouse, provide_warehouse
from hlodb.queries.renewal import has_macros, renew_macros
from hlodb.schema.creation import create_file
from hlodb.schema.warehouse import connect

CONTENTS = (
    "SELECT function_name, parameters, macro_definition FROM duckdb_functions()"
    " WHERE NOT internal ORDER BY ALL",
    "SELECT table_name, sql, comment FROM duckdb_tables() ORDER BY ALL",
    "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
    "FROM memory_spaces ORDER BY ALL",
    "FROM device_memory ORDER BY ALL",
    "FROM warehouse_info ORDER BY ALL",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def contents(path: Path) -> list[list[tuple[object, ...]]]:
    with connect(path) as connection:
        return [connection.execute(text).fetchall() for text in CONTENTS]


def test_it_is_what_would_be_made_by_itself(tmp_path: Path) -> None:
    create_file(tmp_path / "made.duckdb")
    with connect(tmp_path / "made.duckdb", read_only=False) as connection:
        renew_macros(connection)
    for name in ("first.duckdb", "second.duckdb"):
        provide_warehouse(tmp_path / name)
        assert contents(tmp_path / name) == contents(tmp_path / "made.duckdb")


def test_those_of_other_versions_leave_the_cache(own_cache: Path) -> None:
    kept = cached_warehouse()
    kept.parent.mkdir(parents=True)
    before, foreign = kept.with_name("warehouse-0.duckdb"), kept.with_name("notes")
    before.touch()
    foreign.touch()
    provide_warehouse(own_cache / "w.duckdb")
    assert sorted(kept.parent.iterdir()) == sorted([kept, foreign])
    assert kept.parent.parent == own_cache


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_nobody_may_write_to(own_cache: Path, tmp_path: Path) -> None:
    own_cache.mkdir(mode=0o500)
    provide_warehouse(tmp_path / "w.duckdb")
    assert not (tmp_path / "w.duckdb").exists()


def test_without_a_usable_cache_the_file_is_left_to_its_writer(
    own_cache: Path, tmp_path: Path
) -> None:
    own_cache.write_text("no directory")
    provide_warehouse(tmp_path / "w.duckdb")
    assert not (tmp_path / "w.duckdb").exists()
    with connect(tmp_path / "w.duckdb", read_only=False) as connection:
        renew_macros(connection)
        assert has_macros(connection)


def test_what_is_there_stays(tmp_path: Path) -> None:
    for name, target in (("empty", None), ("link", "nowhere")):
        path = tmp_path / name
        path.touch() if target is None else path.symlink_to(target)
        provide_warehouse(path)
    assert (tmp_path / "empty").read_bytes() == b""
    assert not (tmp_path / "nowhere").exists()


def test_the_log_of_another_warehouse_is_not_replayed(tmp_path: Path) -> None:
    """The writer refuses it and says so."""
    (tmp_path / "w.duckdb.wal").write_bytes(b"of a deleted file")
    provide_warehouse(tmp_path / "w.duckdb")
    assert not (tmp_path / "w.duckdb").exists()
