from pathlib import Path

import duckdb
import pytest

from bench.generate_warehouse import SEEDS, Scale, generate_warehouse
from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.stored import stored_tables
from hlodb.schema.warehouse import connect, open_connection

RELEASES = {
    series: [name for name in archives if name.startswith("tests")]
    for series, archives in SEEDS.items()
}
ALWAYS = Scale(runs=6, modules=20, changed=1.0, moved=1.0)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "always.duckdb"
    generate_warehouse(path, ALWAYS, RELEASES)
    return path


@pytest.fixture(scope="module")
def warehouse(generated: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(generated)


@pytest.mark.slow
def test_checks_find_no_fault(warehouse: duckdb.DuckDBPyConnection) -> None:
    found = {row[0]: row[1] for row in run_query(warehouse, "check_results").rows}
    assert found
    assert set(found.values()) == {"ok"}, found


@pytest.mark.slow
def test_every_query_that_is_timed_runs(warehouse: duckdb.DuckDBPyConnection) -> None:
    for query in load_catalogue().values():
        if query.group not in BUILDING_BLOCKS:
            run_query(warehouse, query.name)


@pytest.mark.slow
def test_nights_have_as_many_modules(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.execute(
        "SELECT series, count(DISTINCT run_id), count(*) FROM modules"
        " JOIN runs USING (run_id) GROUP BY series ORDER BY series"
    ).fetchall()
    assert rows == [("cpu", 3, 60), ("tpu", 3, 60)]


@pytest.mark.slow
def test_edits_change_memory_and_ranks_share_it(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    sizes = warehouse.execute(
        "SELECT rank, list(reserved_bytes ORDER BY run_id) FROM module_memory"
        " WHERE program = (SELECT min(program) FROM module_memory WHERE series = 'tpu')"
        " AND color = 0 AND series = 'tpu' GROUP BY rank ORDER BY rank"
    ).fetchall()
    assert [rank for rank, _ in sizes] == [0, 1]
    assert sizes[0][1] == sizes[1][1]
    assert len(set(sizes[0][1])) > 1


def test_no_table_is_empty_that_the_dumps_fill(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    empty = {
        table
        for table in stored_tables()
        if warehouse.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone() == (0,)
    }
    assert empty == {
        "compiler_flags", "passes", "rejects", "memory_analysis", "oom_reports",
        "oom_buffers", "oom_chunks", "log_memory_stats", "findings", "finding_events",
    }  # fmt: skip


@pytest.mark.slow
def test_a_shorter_history_has_the_same_nights(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    shorter = tmp_path / "shorter.duckdb"
    generate_warehouse(shorter, ALWAYS._replace(runs=4), RELEASES)
    sql = "SELECT * FROM modules WHERE run_id <= 4 ORDER BY run_id, path"
    with connect(shorter) as other:
        assert other.execute(sql).fetchall() == warehouse.execute(sql).fetchall()


@pytest.mark.slow
def test_nights_without_change_add_no_content(tmp_path: Path) -> None:
    path = tmp_path / "quiet.duckdb"
    generate_warehouse(path, ALWAYS._replace(changed=0.0, moved=0.0), RELEASES)
    with connect(path) as quiet:
        rows = quiet.execute(
            "SELECT count(DISTINCT module_id), count(DISTINCT unit_digest),"
            " (SELECT count(*) FROM modules WHERE run_id <= 2) // 2 FROM modules"
        ).fetchall()
    assert rows[0][0] == rows[0][1] == rows[0][2]


def quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.split("."))
