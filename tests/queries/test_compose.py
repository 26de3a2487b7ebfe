"""A query and its blocks as one statement."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.compose import compose_query, compose_text
from hlodb.queries.run import run_query
from tests.queries.conftest import OWNERS

HEADER = """\
-- title: T
-- question: Q?
-- definition: D.
-- grain: row
"""
LEAST = "-- param least BIGINT = 0: The least.\n"
NUMBER = "-- column n BIGINT count neutral: A number.\n"
NUMBERS = "SELECT r.n FROM range(5) AS r (n) WHERE r.n >= $least"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "numbers.sql").write_text(HEADER + LEAST + NUMBER + NUMBERS)
    return tmp_path


def catalogue_with(folder: Path, sql: str, *, takes_least: bool = True) -> Catalogue:
    """Return the catalogue with a query `asked` of this SQL, and one `numbers`."""
    header = HEADER + (LEAST if takes_least else "") + NUMBER
    (folder / "asked.sql").write_text(header + sql)
    return load_catalogue([folder])


def answer(catalogue: Catalogue, given: dict[str, str] | None = None) -> list[object]:
    statement = compose_query(catalogue["asked"], given or {}, catalogue)
    return [n for (n,) in duckdb.sql(statement).fetchall()]


def test_a_block_is_a_subquery_in_the_place_of_its_call(folder: Path) -> None:
    catalogue = catalogue_with(
        folder,
        "SELECT a.n FROM numbers() AS a JOIN numbers(least := $least) AS b USING (n)"
        " JOIN numbers(least := 3) AS c USING (n) ORDER BY a.n DESC",
    )
    statement = compose_query(catalogue["asked"], {"least": "2"}, catalogue)
    assert statement.count("range(5)") == 3
    assert statement.count("CAST(2 AS BIGINT)") == 2
    assert answer(catalogue, {"least": "2"}) == [4, 3]
    assert answer(catalogue) == [4, 3]


def test_a_parameter_of_the_same_name_is_handed_on(folder: Path) -> None:
    sql = "SELECT n.n FROM numbers() AS n ORDER BY ALL"
    assert answer(catalogue_with(folder, sql), {"least": "3"}) == [3, 4]
    without = catalogue_with(folder, sql, takes_least=False)
    assert answer(without) == [0, 1, 2, 3, 4]


def test_arguments_from_rows_stay_in_their_place(folder: Path) -> None:
    catalogue = catalogue_with(
        folder,
        "SELECT b.n FROM range(3, 5) AS a (least_of_row)"
        " JOIN LATERAL numbers(least := a.least_of_row) AS b ON TRUE"
        " WHERE b.n IN (SELECT n.n FROM numbers(least := (SELECT 4)) AS n)"
        " ORDER BY ALL",
    )
    assert answer(catalogue) == [4, 4]


@pytest.mark.parametrize(
    "sql",
    [
        "WITH numbers AS (SELECT n FROM numbers(least := 3)) FROM numbers ORDER BY n",
        "WITH RECURSIVE up AS (SELECT 3 AS n UNION ALL SELECT up.n + 1 FROM up"
        " WHERE up.n < 4) SELECT up.n FROM up JOIN numbers() USING (n) ORDER BY ALL",
        "SELECT numbers.n FROM numbers(least := 3) ORDER BY ALL",
        "SELECT x.n FROM numbers(least := 3) x ORDER BY ALL",
        "SELECT x.n FROM numbers(3) AS x ORDER BY ALL",
        "SELECT n FROM LATERAL numbers(least := 3) ORDER BY ALL",
        "/* A comment. */ WITH x AS (FROM numbers(least := 3)) FROM x ORDER BY n",
    ],
)
def test_forms_of_calls(folder: Path, sql: str) -> None:
    assert answer(catalogue_with(folder, sql)) == [3, 4]


def test_a_table_takes_the_place_of_a_block(folder: Path) -> None:
    catalogue = catalogue_with(folder, "SELECT n.n FROM numbers(least := 3) AS n")
    statement = compose_query(
        catalogue["asked"], {}, catalogue, {"numbers": "temp.kept"}
    )
    assert statement == "SELECT n.n FROM temp.kept AS n"
    whole = compose_query(catalogue["numbers"], {}, catalogue, {"numbers": "temp.kept"})
    assert whole == "SELECT * FROM temp.kept"


def test_text_keeps_its_own_names_to_bind(folder: Path) -> None:
    catalogue = catalogue_with(folder, "SELECT 1 AS n")
    text = "SELECT n.n FROM numbers(least := $from) AS n WHERE n.n < $until"
    rows = duckdb.execute(compose_text(text, catalogue), {"from": 2, "until": 4})
    assert rows.fetchall() == [(2,), (3,)]


def test_queries_in_a_circle_are_refused(folder: Path) -> None:
    (folder / "numbers.sql").write_text(HEADER + NUMBER + "SELECT a.n FROM asked() a")
    catalogue = catalogue_with(folder, "SELECT n.n FROM numbers() AS n")
    with pytest.raises(UsageError, match=r"read one another: asked → numbers → asked$"):
        compose_query(catalogue["asked"], {}, catalogue)


def test_rules_of_a_user_are_in_no_later_answer(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "owner_rules.sql").write_text(OWNERS)
    ours = load_catalogue([tmp_path])
    assert run_query(warehouse, "owner_rules", {}, ours).rows == [("models/", "vision")]
    assert "'vision'" in compose_query(ours["peak_by_owner"], {}, ours)
    assert run_query(warehouse, "owner_rules").rows == []


def test_macros_of_a_warehouse_take_the_place_of_no_block(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    for name in ("run_order", "selected_run", "run_list"):
        warehouse.execute(
            f"CREATE OR REPLACE MACRO {name}(run := NULL, series := NULL) AS TABLE"
            " SELECT 'other' AS run"
        )
    assert run_query(warehouse, "run_list").rows == []
