"""A lake answers as the file that it was packed from, and unpacks to the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.lake.opening import reading
from hlodb.lake.packing import pack, unpack
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.conftest import all_rows
from tests.lake.comparing import differing_queries, differing_tables


@pytest.fixture(scope="module")
def lake(demo_warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lake") / "demo.lake"
    pack(demo_warehouse, path)
    return path


@pytest.fixture
def both(demo_warehouse: Path, lake: Path) -> Iterator[tuple[Connection, Connection]]:
    with connect(demo_warehouse) as file, reading(lake) as connection:
        yield file, connection


def test_every_public_table_is_equal(both: tuple[Connection, Connection]) -> None:
    assert differing_tables(*both) == []


@pytest.mark.slow
def test_every_canned_query_is_equal(both: tuple[Connection, Connection]) -> None:
    assert differing_queries(*both) == []


@pytest.mark.slow
def test_a_lake_unpacks_to_the_same_rows(
    demo_warehouse: Path, lake: Path, tmp_path: Path
) -> None:
    unpack(lake, tmp_path / "again.duckdb")
    assert all_rows(tmp_path / "again.duckdb") == all_rows(demo_warehouse)


@pytest.mark.slow
def test_reports_are_equal(
    demo_warehouse: Path, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for db in (demo_warehouse, lake):
        monkeypatch.setenv("HLODB_DB", str(db))  # Else printed commands name it.
        page, output = tmp_path / "page.html", tmp_path / "output.json"
        main(
            ["report", "--run", "jaxlib-0.5.3", "--baseline", "jaxlib-0.4.35",
             "--no-record", "--write", f"html={page}", "--format", "json",
             "-o", str(output)]
        )  # fmt: skip
        written.append((output.read_bytes(), page.read_bytes()))
    assert len(written[0][0]) > 10_000
    assert written[0] == written[1]
