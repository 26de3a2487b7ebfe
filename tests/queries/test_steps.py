"""Steps of a query: relations in files of their own, computed once in its statement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from hlodb.errors import HlodbError, UsageError
from hlodb.queries import catalogue
from hlodb.queries.catalogue import load_catalogue, read_queries
from hlodb.queries.front_matter import parse_query
from hlodb.queries.query import Query, Vocabulary
from hlodb.queries.steps import Step, parse_step
from hlodb.schema.stored import public_tables

HEADER = """\
-- title: T
-- question: Q?
-- definition: D.
-- grain: row
"""
LEAST = "-- param least BIGINT = 0: The least.\n"
NUMBER = "-- column n BIGINT count neutral: A number.\n"
HEAD = "-- step: Numbers,\n--   from the least.\n-- grain: number\n"
NUMBERS = HEAD + "SELECT r.n FROM range(5) AS r (n) WHERE r.n >= $least\n"
TWICE = "-- step: Each twice.\n-- grain: number\nSELECT 2 * n AS n FROM numbers\n"


def read(sql: str, names: str, texts: Mapping[str, str]) -> Query:
    steps = {name: parse_step(text, f"q/{name}.sql") for name, text in texts.items()}
    return parse_query(
        f"{HEADER}-- steps: {names}\n{LEAST}{NUMBER}{sql}",
        name="q",
        group="shared",
        path="q.sql",
        vocabulary=Vocabulary(),
        steps=steps,
    )


def test_a_step_is_its_select_below_what_it_does() -> None:
    sql = "SELECT r.n FROM range(5) AS r (n) WHERE r.n >= $least"
    assert parse_step(NUMBERS, "numbers.sql") == Step("numbers.sql", sql, 4)


def test_a_step_may_be_left_to_duckdb() -> None:
    text = NUMBERS.replace(
        "-- grain: number\n", "-- grain: number\n-- materialised: no\n"
    )
    query = read("SELECT n.n FROM numbers AS n", "numbers", {"numbers": text})
    assert query.sql.startswith("WITH numbers AS (\nSELECT r.n ")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 AS n",
        "-- step: Numbers.\nSELECT 1 AS n",
        "-- grain: number\n-- step: Numbers.\nSELECT 1 AS n",
        "-- step: Numbers.\n-- grain: number\n-- column n\nSELECT 1 AS n",
    ],
)
def test_a_step_without_its_head_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^numbers\.sql:1: expected `-- step: text`"):
        parse_step(text, "numbers.sql")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.n FROM twice AS t JOIN numbers AS a USING (n) ORDER BY ALL",
        "WITH x AS (FROM twice) SELECT x.n FROM x JOIN numbers USING (n) ORDER BY ALL",
        "WITH RECURSIVE x AS (FROM twice UNION SELECT x.n FROM x WHERE x.n > 9)"
        " SELECT x.n FROM x JOIN numbers USING (n) ORDER BY ALL",
    ],
)
def test_each_step_is_one_expression_of_the_statement(sql: str) -> None:
    query = read(sql, "numbers, twice", {"numbers": NUMBERS, "twice": TWICE})
    assert query.sql.count("MATERIALIZED") == 2
    rows = duckdb.execute(query.sql, {"least": 1}).fetchall()
    assert rows == [(2,), (4,)]


@pytest.mark.parametrize(
    ("names", "texts", "fault"),
    [
        (
            "numbers, twice",
            {"numbers": NUMBERS},
            "q.sql:1: `-- steps: …` and the files of its folder differ: twice",
        ),
        (
            "numbers",
            {"numbers": NUMBERS, "twice": TWICE},
            "q.sql:1: `-- steps: …` and the files of its folder differ: twice",
        ),
        (
            "numbers, numbers",
            {"numbers": NUMBERS},
            "q.sql:1: `-- steps: …` and the files of its folder differ: one is"
            " listed twice",
        ),
        (
            "numbers, twice",
            {"numbers": NUMBERS, "twice": TWICE},
            "q/twice.sql:1: neither the query nor another step reads this one",
        ),
        (
            "numbers",
            {"numbers": NUMBERS.replace("$least", "$most")},
            "q/numbers.sql:4: $most is not declared: add `-- param most …`",
        ),
    ],
)
def test_faults_of_steps(names: str, texts: Mapping[str, str], fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        read("SELECT n.n FROM numbers AS n WHERE n.n > $least", names, texts)
    assert str(raised.value) == fault


def test_files_below_a_query_of_ours_are_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sql" / "shared" / "sums"
    (folder / "q" / "least").mkdir(parents=True)
    (tmp_path / "sql" / "vocabulary.sql").write_text(NUMBER)
    (folder / "q.sql").write_text(
        f"{HEADER}-- steps: numbers, twice\n{LEAST}{NUMBER}FROM twice ORDER BY ALL\n"
    )
    (folder / "q" / "least" / "numbers.sql").write_text(NUMBERS)
    (folder / "q" / "twice.sql").write_text(TWICE)
    monkeypatch.setattr(catalogue, "_ROOT", tmp_path / "sql")
    [query] = read_queries()
    assert not isinstance(query, HlodbError)
    assert duckdb.execute(query.sql, {"least": 3}).fetchall() == [(6,), (8,)]
    (folder / "q" / "twice.sql").write_text("SELECT 1 AS n")
    [fault] = read_queries()
    assert str(fault).startswith("queries/sql/shared/sums/q/twice.sql:1: expected")


def test_no_step_of_ours_has_the_name_of_a_query_or_table() -> None:
    """DuckDB would read the step, where the query or table was meant."""
    root = Path(catalogue.__file__).parent / "sql"
    ours = load_catalogue()
    homes = {file for file in root.rglob("*.sql") if file.with_suffix("").is_dir()}
    steps = [p.stem for home in homes for p in home.with_suffix("").rglob("*.sql")]
    assert steps != []
    assert {*steps} & (ours.keys() | public_tables()) == set()
