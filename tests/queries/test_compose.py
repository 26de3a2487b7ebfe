"""A query and its blocks as statements."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.compose import compose_query, compose_text
from hlodb.queries.run import run_query, shared_answers
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


def answer(catalogue: Catalogue, given: dict[str, str] | None = None) -> list[int]:
    composed = compose_query(catalogue["asked"], given or {}, catalogue)
    with duckdb.connect() as connection:
        with shared_answers(connection, composed, {}) as select:
            rows = connection.execute(select).fetchall()
        assert connection.execute("FROM duckdb_tables()").fetchall() == []
    return [n for (n,) in rows]


def test_a_block_is_a_subquery_in_the_place_of_its_call(folder: Path) -> None:
    catalogue = catalogue_with(
        folder,
        "SELECT a.n FROM numbers() AS a JOIN numbers(least := 3) AS c USING (n)",
    )
    shared, select = compose_query(catalogue["asked"], {"least": "2"}, catalogue)
    assert shared == {}
    first, second = (NUMBERS.replace("$least", f"CAST({n} AS BIGINT)") for n in (2, 3))
    assert select == (
        f"SELECT a.n FROM (\n{first}\n) AS a JOIN (\n{second}\n) AS c USING (n)"
    )
    assert sorted(answer(catalogue, {"least": "2"})) == [3, 4]


def test_equal_calls_share_an_answer(folder: Path) -> None:
    (folder / "even.sql").write_text(
        HEADER + LEAST + NUMBER + "SELECT n.n FROM numbers() AS n WHERE n.n % 2 = 0"
    )
    catalogue = catalogue_with(
        folder,
        "SELECT a.n FROM numbers() AS a JOIN numbers(least := $least) AS b USING (n)"
        " JOIN even() AS c USING (n) JOIN even($least) AS d USING (n)"
        " JOIN numbers(least := 3) AS e USING (n) ORDER BY a.n DESC",
    )
    shared, select = compose_query(catalogue["asked"], {"least": "2"}, catalogue)
    first, second = (NUMBERS.replace("$least", f"CAST({n} AS BIGINT)") for n in (2, 3))
    assert shared == {
        "numbers_1": first,
        "even_1": "SELECT n.n FROM temp.numbers_1 AS n WHERE n.n % 2 = 0",
    }
    assert select == (
        "SELECT a.n FROM temp.numbers_1 AS a JOIN temp.numbers_1 AS b USING (n)"
        " JOIN temp.even_1 AS c USING (n) JOIN temp.even_1 AS d USING (n)"
        f" JOIN (\n{second}\n) AS e USING (n) ORDER BY a.n DESC"
    )
    assert answer(catalogue, {"least": "2"}) == [4]
    assert answer(catalogue) == [4]


def test_what_is_read_once_within_a_shared_answer_is_a_part_of_it(
    folder: Path,
) -> None:
    (folder / "more.sql").write_text(HEADER + NUMBER + "SELECT n.n FROM numbers(3) n")
    catalogue = catalogue_with(
        folder, "SELECT a.n FROM more() AS a JOIN more() AS b USING (n)"
    )
    shared, _ = compose_query(catalogue["asked"], {}, catalogue)
    assert [*shared] == ["more_1"]
    assert sorted(answer(catalogue)) == [3, 4]


@pytest.mark.parametrize("is_inside", [False, True])
def test_shared_answers_go_with_an_error_and_leave_a_transaction(
    folder: Path, *, is_inside: bool
) -> None:
    catalogue = catalogue_with(
        folder, "SELECT a.n FROM numbers() AS a JOIN numbers() AS b USING (n)"
    )
    composed = compose_query(catalogue["asked"], {}, catalogue)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE kept (n INTEGER)")
        if is_inside:
            connection.execute("BEGIN TRANSACTION")
        connection.execute("INSERT INTO kept VALUES (1)")
        with shared_answers(connection, composed, {}) as select:
            assert len(connection.execute(select).fetchall()) == 5
        if is_inside:
            connection.execute("COMMIT")
        with (
            pytest.raises(ZeroDivisionError),
            shared_answers(connection, composed, {}),
        ):
            raise ZeroDivisionError
        assert connection.execute("FROM kept").fetchall() == [(1,)]
        tables = connection.execute("SELECT table_name FROM duckdb_tables()")
        assert tables.fetchall() == [("kept",)]
        connection.execute("BEGIN TRANSACTION")  # There is none left.


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
    asked = compose_query(catalogue["asked"], {}, catalogue, {"numbers": "temp.kept"})
    assert asked == ({}, "SELECT n.n FROM temp.kept AS n")
    whole = compose_query(catalogue["numbers"], {}, catalogue, {"numbers": "temp.kept"})
    assert whole == ({}, "SELECT * FROM temp.kept")


def test_text_keeps_its_own_names_to_bind(folder: Path) -> None:
    catalogue = catalogue_with(folder, "SELECT 1 AS n")
    text = "SELECT n.n FROM numbers(least := $from) AS n WHERE n.n < $until"
    shared, select = compose_text(text, catalogue)
    assert shared == {}
    rows = duckdb.execute(select, {"from": 2, "until": 4}).fetchall()
    assert rows == [(2,), (3,)]


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
    assert "'vision'" in compose_query(ours["peak_by_owner"], {}, ours).select
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
