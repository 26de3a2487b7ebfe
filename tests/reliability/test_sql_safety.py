"""SQL that others wrote can read the warehouse and nothing else, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import hlodb
from hlodb.cli import main
from hlodb.commands.options import open_for_reading
from hlodb.errors import HlodbError, UsageError
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query, run_sql
from tests.conftest import DATA

# {secret}: a file that can be read; {target}: one that isn't there.
FORBIDDEN = [
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_json('{secret}')",
    "SELECT * FROM read_parquet('{secret}')",
    "SELECT * FROM '{secret}'",
    "FROM '{secret}'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM parquet_metadata('{secret}')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM duckdb_logs_parsed('x'), read_text('{secret}')",
    "SELECT * FROM query('FROM read_text(''{secret}'')')",
    "SELECT * FROM query_table('{secret}')",
    "SELECT * FROM read_text('http://localhost/x')",
    "COPY runs TO '{target}'",
    "COPY (SELECT 1) TO '{target}' (FORMAT parquet)",
    "COPY runs FROM '{secret}'",
    "COPY FROM DATABASE w TO memory",
    "EXPORT DATABASE '{target}'",
    "IMPORT DATABASE '{target}'",
    "ATTACH '{target}' AS other",
    "ATTACH '{secret}' AS other (TYPE sqlite)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{secret}'",
    "UPDATE EXTENSIONS",
    "CREATE SECRET (TYPE s3)",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "SET python_enable_replacements = true",
    "SET memory_limit = '1TB'",
    "SET temp_directory = '{target}'",
    "SET allow_unsigned_extensions = true",
    "PRAGMA enable_external_access = true",
    "PRAGMA database_list; SET threads = 64",
    "SET home_directory = '/'",
    "SET log_query_path = '{target}'",
    "PRAGMA profiling_output = '{target}'",
    "PRAGMA enable_profiling = 'json'",
    "INSERT INTO runs (run_id, name) VALUES (99, 'x')",
    "UPDATE runs SET name = 'x'",
    "DELETE FROM runs",
    "DROP TABLE runs",
    "ALTER TABLE runs ADD COLUMN x INT",
    "CREATE TABLE mine AS SELECT 1",
    "CREATE OR REPLACE VIEW instructions AS SELECT 1",
    "CREATE OR REPLACE MACRO w.run_list() AS TABLE SELECT 1",
    "CREATE SCHEMA mine",
    "COMMENT ON TABLE runs IS 'mine'",
    "SELECT 1; DELETE FROM runs",
    "SELECT 1; COPY runs TO '{target}'",
    "BEGIN; DELETE FROM runs; COMMIT",
    "EXPLAIN ANALYZE DELETE FROM runs",
    "PREPARE p AS DELETE FROM runs; EXECUTE p",
    "DETACH w",
    "CALL enable_logging()",
    "FROM enable_logging(storage := 'file', storage_path := '{target}')",
    'SELECT 1; SELECT * FROM system.main."Enable_Logging" /* x */ ()',
    "CREATE TEMP MACRO m() AS TABLE FROM enable_logging(); FROM m()",
    "CALL enable_profiling(format := 'json', save_location := '{target}.json')",
    "FROM query('FROM enable_logging()')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging()'))",
    "FROM pandas_scan(NULL)",
    "FROM arrow_scan(1, 2, 3)",
    "FROM arrow_scan_dumb(1, 2, 3)",
    "FROM seq_scan('runs')",
    "FROM python_map_function(NULL)",
    "EXPLAIN ANALYZE COPY runs TO '{target}'",
    "EXPLAIN (ANALYZE, FORMAT json) COPY runs TO '{target}'",
    "PREPARE p AS COPY runs TO '{target}'; EXECUTE p",
]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("safe") / "w.duckdb"
    ingest([str(DATA / "seeds")], path)
    return path


@pytest.fixture(scope="module")
def closed(db: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_for_reading(db) as connection:
        yield connection


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_statements_that_are_refused(
    statement: str, db: Path, closed: duckdb.DuckDBPyConnection
) -> None:
    secret, target = db.parent / "secret.csv", db.parent / "target"
    secret.write_text("a,b\n1,2\n")
    before = db.read_bytes()
    with pytest.raises(UsageError):
        run_sql(closed, statement.format(secret=secret, target=target))
    with suppress(duckdb.Error):
        closed.execute("ROLLBACK")
    assert run_sql(closed, "SELECT count(*) FROM runs").rows == [(1,)]
    assert db.read_bytes() == before
    assert not target.exists()


@pytest.mark.parametrize("statement", ["CHECKPOINT", "VACUUM ANALYZE runs"])
def test_statements_that_do_nothing(statement: str, db: Path) -> None:
    before = db.read_bytes()
    with open_for_reading(db) as connection:
        run_sql(connection, statement)
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMP MACRO copy_census() AS TABLE SELECT 1; EXPLAIN FROM copy_census()",
        "EXPLAIN (FORMAT json) SELECT 'COPY runs TO x'",
        "EXPLAIN (SELECT 1)",
        "SELECT 'enable_logging()' AS query -- FROM query(1)",
        "SELECT 1 AS enable_logging",
    ],
)
def test_words_are_no_ground_for_refusing(statement: str, db: Path) -> None:
    with open_for_reading(db) as connection:
        assert run_sql(connection, statement).rows


def test_variables_of_python_are_no_tables(db: Path) -> None:
    hidden = pa.table({"secret": [1]})
    with open_for_reading(db) as first, open_for_reading(db) as second:
        for connection in (first, second):
            with pytest.raises(UsageError):
                run_sql(connection, "FROM hidden")
    assert hidden.num_rows == 1


def test_a_warehouse_opened_twice(db: Path) -> None:
    with hlodb.open(db) as first, hlodb.open(db) as second:
        for warehouse in (first, second):
            assert warehouse.sql("SELECT count(*) FROM runs").rows == [(1,)]
            with pytest.raises(UsageError):
                warehouse.sql("SET lock_configuration = false")


def test_the_command_line(db: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "FROM read_text('/etc/hostname')", "--db", str(db)]) == 2
    assert "disabled" in capfd.readouterr().err


def test_a_query_of_ones_own_reads_the_warehouse_alone(
    db: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text("the-secret")
    (tmp_path / "mine.sql").write_text(
        "-- title: Mine\n-- question: What is there?\n-- definition: A file.\n"
        "-- grain: row\n-- column content VARCHAR name neutral: Text.\n"
        f"SELECT content FROM read_text('{tmp_path}/secret')\n"
    )
    query = ["query", "mine", "--queries", str(tmp_path), "--db", str(db)]
    assert main(query) == 5
    printed = capfd.readouterr()
    assert (printed.out, "disabled by configuration" in printed.err) == ("", True)


HOSTILE = [
    "'; DROP TABLE runs; --",
    "' OR 1 = 1 --",
    '"; DELETE FROM runs; --',
    "x' UNION SELECT * FROM read_text('/etc/passwd') --",
    "\x00",
    "$1",
    "?",
]


def test_parameters_are_values(db: Path) -> None:
    catalogue = load_catalogue()
    texts = cycle(HOSTILE)
    with open_for_reading(db) as connection:
        for query in catalogue.values():
            for parameter in query.parameters:
                if parameter.type != "VARCHAR":
                    continue
                try:
                    run_query(
                        connection, query.name, {parameter.name: next(texts)}, catalogue
                    )
                except UsageError as error:
                    refused = " is one of " if parameter.choices else "has no"
                    assert refused in str(error)
                except HlodbError as error:
                    # As a value it may be of no use: no pattern, no moment.
                    assert "Parser Error" not in str(error)
        assert run_sql(connection, "SELECT count(*) FROM runs").rows == [(1,)]
