"""Parameters are typed and bound; what is wrong is said in the user's words."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import HlodbError, UsageError
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.query import Query
from hlodb.queries.run import (
    Value,
    composed,
    explain,
    parse_parameters,
    run_query,
    run_sql,
)
from hlodb.schema.warehouse import connect

CATALOGUE = load_catalogue()
QUERY = """\
-- title: Echo
-- question: What was given?
-- definition: The parameters.
-- grain: one row
-- param word VARCHAR = 'none': A text.
-- param number BIGINT = 1: A number.
-- param share DOUBLE = 0.5: A share.
-- param flag BOOLEAN = false: A flag.
-- param side VARCHAR = 'base' in base, candidate: One of two.
-- param ids BIGINT[] = NULL: Numbers.
-- column word_given VARCHAR text neutral: The text.
-- column number_given BIGINT count neutral: The number.
-- column share_given DOUBLE ratio neutral: The share.
-- column flag_given BOOLEAN flag neutral: The flag.
-- column side_given VARCHAR text neutral: The side.
-- column ids_given VARCHAR text neutral: The numbers.
SELECT
  $word AS word_given, $number AS number_given, $share AS share_given,
  $flag AS flag_given, $side AS side_given,
  CAST($ids AS VARCHAR) AS ids_given
"""
HOSTILE = "'); DROP TABLE runs; -- $number \" \\ \n\u202e"


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Query:
    folder: Path = tmp_path_factory.mktemp("queries")
    (folder / "echo.sql").write_text(QUERY)
    return load_catalogue([folder])["echo"]


def ask(
    connection: duckdb.DuckDBPyConnection, echo: Query, parameters: dict[str, Value]
) -> tuple[object, ...]:
    result = run_query(connection, "echo", parameters, {**CATALOGUE, "echo": echo})
    [row] = result.rows
    return row


def test_defaults_are_those_of_the_front_matter(
    warehouse: duckdb.DuckDBPyConnection, echo: Query
) -> None:
    assert ask(warehouse, echo, {}) == ("none", 1, 0.5, False, "base", None)


def test_texts_become_values_of_the_declared_type(echo: Query) -> None:
    texts = ["word=12", "number=1_048,576", "share=1e-3", "flag=Yes"]
    assert parse_parameters(echo, texts) == {
        "word": "12",
        "number": 1048576,
        "share": 0.001,
        "flag": True,
    }
    assert parse_parameters(echo, ["word=a=b", "number=", "flag=off", "ids=3,-4"]) == {
        "word": "a=b",
        "number": None,
        "flag": False,
        "ids": [3, -4],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("number", "-p takes name=value, not 'number'"),
        ("number=1.5", "parameter 'number' is BIGINT, not '1.5'"),
        ("share=half", "parameter 'share' is DOUBLE, not 'half'"),
        ("flag=maybe", "parameter 'flag' is BOOLEAN, not 'maybe'"),
        ("ids=1,x", "parameter 'ids' is BIGINT[], not '1,x'"),
        (
            "numbr=1",
            "query echo has no parameter 'numbr', it has word, number, share, flag,"
            " side, ids; did you mean number?",
        ),
    ],
)
def test_a_faulty_parameter(echo: Query, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        parse_parameters(echo, [text])


def test_a_value_is_one_of_the_choices(
    warehouse: duckdb.DuckDBPyConnection, echo: Query
) -> None:
    assert ask(warehouse, echo, {"side": "candidate"})[4] == "candidate"
    assert ask(warehouse, echo, {"side": None})[4] is None
    message = (
        "parameter 'side' is one of base, candidate, not 'bass'; did you mean base?"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        ask(warehouse, echo, {"side": "bass"})


def test_values_are_bound_and_never_pasted(
    warehouse: duckdb.DuckDBPyConnection, echo: Query
) -> None:
    select = composed(echo, ["word", "number"], CATALOGUE).select
    assert "CAST($word AS VARCHAR) AS word_given, CAST($number AS BIGINT)" in select
    least = -(2**63)
    given: dict[str, Value] = {"word": HOSTILE, "number": least, "flag": None}
    given |= {"ids": [least, 0]}
    expected = (HOSTILE, least, 0.5, None, "base", f"[{least}, 0]")
    assert ask(warehouse, echo, given) == expected
    assert warehouse.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_explained_sql_is_a_script_with_quoted_values(
    warehouse: duckdb.DuckDBPyConnection, echo: Query
) -> None:
    given: dict[str, Value] = {"word": HOSTILE, "share": 0.25, "flag": True}
    given |= {"ids": [3, -4]}
    script = explain(echo, given, {**CATALOGUE, "echo": echo})
    *_, last = warehouse.extract_statements(script)
    for statement in warehouse.extract_statements(script):
        warehouse.execute(statement)
    row = (HOSTILE, 1, 0.25, True, "base", "[3, -4]")
    assert warehouse.execute(last).fetchall() == [row]


def test_a_run_that_is_not_there_suggests_the_nearest(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    warehouse.execute("INSERT INTO runs BY NAME SELECT 1 AS run_id, 'night-7' AS name")
    message = "the warehouse has no run 'nigth-7'; did you mean night-7? It has night-7"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        run_query(warehouse, "peak_by_space", {"run": "nigth-7"}, CATALOGUE)


@pytest.mark.parametrize(
    ("held", "listed"),
    [
        ([], "none"),
        (["b", "a"], "a, b"),
        ([*"nmlkjihgfedcba"], "a, b, c, d, e, f, g, h, i, j, k, l and 2 more"),
    ],
)
def test_a_run_that_resembles_none_lists_what_there_is(
    warehouse: duckdb.DuckDBPyConnection, held: list[str], listed: str
) -> None:
    warehouse.execute(
        "INSERT INTO runs BY NAME SELECT generate_subscripts($1, 1) AS run_id,"
        " unnest($1::VARCHAR[]) AS name",
        [held],
    )
    message = f"the warehouse has no run 'xyzzy'; it has {listed}"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        run_query(warehouse, "peak_by_space", {"run": "xyzzy"}, CATALOGUE)


def test_a_query_that_duckdb_refuses_is_named(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    warehouse.execute("DROP VIEW module_memory")
    with pytest.raises(HlodbError, match=r"^query peak_by_space \(queries/sql/peak/"):
        run_query(warehouse, "peak_by_space", {}, CATALOGUE)


def test_sql_of_ones_own(warehouse: duckdb.DuckDBPyConnection) -> None:
    result = run_sql(warehouse, "SELECT 3 AS peak_bytes, 'a' AS name, 0.5 AS x_ratio")
    assert [(c.name, c.type, c.unit) for c in result.columns] == [
        ("peak_bytes", "INTEGER", "bytes"),
        ("name", "VARCHAR", "text"),
        ("x_ratio", "DECIMAL(2,1)", "ratio"),
    ]
    with pytest.raises(UsageError, match="Parser Error"):
        run_sql(warehouse, "SELEC 1")


def test_columns_that_share_a_name(warehouse: duckdb.DuckDBPyConnection) -> None:
    """They are numbered as in a table of DuckDB's, and keep their units."""
    sql = "SELECT 1 AS a_bytes, 2 AS a_bytes, 3 AS b, 4 AS a_bytes_1, 5 AS a_bytes"
    result = run_sql(warehouse, sql)
    warehouse.execute(f"CREATE TEMP TABLE made AS {sql}")
    made = warehouse.execute("DESCRIBE made").fetchall()
    assert list(result.names) == [row[0] for row in made]
    assert [column.unit for column in result.columns][:3] == ["bytes", "bytes", "text"]
    assert list(result.dicts()[0].values()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("sql", ["", " ", ";", "-- nothing"])
def test_no_statement(warehouse: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(UsageError, match="there is no statement"):
        run_sql(warehouse, sql)


def test_explained_sql_gives_duckdb_alone_the_rows_of_the_query(
    demo_warehouse: Path,
) -> None:
    query = CATALOGUE["peak_by_role"]
    given: dict[str, Value] = {"run": "v5e-jax-0.10.2", "program": "jit_cnn"}
    script = explain(query, given, CATALOGUE)
    assert script.count("CREATE OR REPLACE TEMP TABLE ") > 10
    with connect(demo_warehouse) as connection:
        rows = run_query(connection, query.name, given).rows
    with duckdb.connect(str(demo_warehouse), read_only=True) as alone:
        assert alone.execute(script).fetchall() == rows != []
