"""Front matter: what is read, and where each fault is said to be."""

from __future__ import annotations

import pytest

from hlodb.errors import UsageError
from hlodb.queries.front_matter import parse_query, parse_vocabulary
from hlodb.queries.query import Column, Parameter, Query, Vocabulary

VOCABULARY = parse_vocabulary(
    "-- param run VARCHAR = NULL of runs.name: Name of the run.\n"
    "-- column program VARCHAR name neutral: Name of the\n"
    "--   program.\n",
    "vocabulary.sql",
)
HEADER = """\
-- title: Steps
-- question: How many?
-- definition: The last step,
--   counted from 1.
-- grain: program
"""
COLUMN = "-- column steps BIGINT count lower_is_better: How many steps.\n"
SQL = "SELECT 1 AS steps\n"


def read(text: str) -> Query:
    return parse_query(
        text, name="steps", group="peak", path="steps.sql", vocabulary=VOCABULARY
    )


def test_leading_columns() -> None:
    """Declared ones in their order, else eight that tell rows apart."""
    more = "".join(f"-- column c{i} BIGINT count neutral: A count.\n" for i in range(9))
    head = HEADER + "-- leading: steps, c1\n"
    assert read(head + COLUMN + more + SQL).leading == ("steps", "c1")
    run = "-- column run VARCHAR name neutral: The run.\n"
    text = HEADER + run + more + "-- column program\n" + SQL
    assert read(text).leading == (*(f"c{i}" for i in range(7)), "program")


def test_whole_query() -> None:
    text = (
        HEADER
        + "-- param run\n-- param top BIGINT = 20 from 0: At most this many rows.\n"
        + "-- param share DOUBLE = 0.5 from -1 to 1: A share.\n"
        + "-- column program\n"
        + COLUMN
        + "SELECT p.program, p.steps FROM $run LIMIT $top * $share\n"
    )
    assert read(text) == Query(
        name="steps",
        group="peak",
        path="steps.sql",
        title="Steps",
        question="How many?",
        definition="The last step, counted from 1.",
        grain="program",
        parameters=(
            Parameter(
                "run", "VARCHAR", "NULL", ("runs", "name"), (), "Name of the run."
            ),
            Parameter(
                "top", "BIGINT", "20", None, (), "At most this many rows.", 0, None
            ),
            Parameter("share", "DOUBLE", "0.5", None, (), "A share.", -1, 1),
        ),
        columns=(
            Column("program", "VARCHAR", "name", "neutral", "Name of the program."),
            Column("steps", "BIGINT", "count", "lower_is_better", "How many steps."),
        ),
        sql="SELECT p.program, p.steps FROM $run LIMIT $top * $share",
        leading=("program", "steps"),
    )


def test_what_to_do_without_rows_may_be_said() -> None:
    assert (
        read(f"{HEADER}-- empty: ask\n--   later.\n{COLUMN}{SQL}").empty == "ask later."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "steps.sql:1: `-- title: …` is missing"),
        (
            HEADER.replace("-- grain: program\n", "") + COLUMN + SQL,
            "steps.sql:1: `-- grain: …` is missing",
        ),
        (
            HEADER + "-- titel: x\n" + COLUMN + SQL,
            "steps.sql:6: unknown key 'titel'; known are title, question, definition,"
            " grain, empty, leading, split, steps, param, column",
        ),
        (
            HEADER + "-- title: x\n" + COLUMN + SQL,
            "steps.sql:6: 'title' is declared twice",
        ),
        (
            HEADER + "--title x\n" + COLUMN + SQL,
            "steps.sql:6: expected `-- key: text`, found '--title x'",
        ),
        (
            HEADER + "-- param top BIGINT: no default\n" + COLUMN + SQL,
            "steps.sql:6: expected `-- param NAME TYPE = DEFAULT [of TABLE.COLUMN |"
            " in A, B | from 0 to 1]: text`",
        ),
        (
            HEADER + "-- param word VARCHAR = 'a' from 0: no number\n" + COLUMN + SQL,
            "steps.sql:6: only numbers go `from` one to another, not VARCHAR",
        ),
        (
            HEADER + "-- param top TEXT = 1: wrong type\n" + COLUMN + SQL,
            "steps.sql:6: unknown type 'TEXT'; "
            "known: BIGINT, BIGINT[], BOOLEAN, DOUBLE, VARCHAR",
        ),
        (
            HEADER + "-- param series\n" + COLUMN + SQL,
            "steps.sql:6: the vocabulary has no parameter 'series'",
        ),
        (HEADER + SQL, "steps.sql:1: declare every column of the result with"),
        (
            HEADER + "-- column color\n" + SQL,
            "steps.sql:6: the vocabulary has no column 'color'",
        ),
        (
            HEADER + "-- column n BIGINT count: no polarity\n" + SQL,
            "steps.sql:6: expected `-- column NAME TYPE UNIT POLARITY: text`",
        ),
        (
            HEADER + "-- column n BIGINT litres neutral: no unit\n" + SQL,
            "steps.sql:6: unknown unit 'litres'",
        ),
        (
            HEADER + COLUMN + COLUMN + SQL,
            "steps.sql:7: column 'steps' is declared twice",
        ),
        (
            HEADER + "-- leading: steps, bytes\n" + COLUMN + SQL,
            "steps.sql:1: leading column 'bytes' is not a column of the query",
        ),
        (
            HEADER + "-- leading: steps, steps\n" + COLUMN + SQL,
            "steps.sql:1: declare at most 8 different leading columns",
        ),
        (HEADER + COLUMN, "steps.sql:7: no SQL follows the front matter"),
        (
            HEADER + COLUMN + "SELECT 1;\n",
            "steps.sql:7: write one SELECT, without a semicolon",
        ),
        (
            HEADER + COLUMN + "SELECT\n  $top\n",
            "steps.sql:8: $top is not declared: add `-- param top …`",
        ),
        (
            HEADER + "-- param run\n" + COLUMN + "SELECT $run,\n run FROM runs\n",
            "steps.sql:9: qualify the column run (t.run), or write $run",
        ),
    ],
)
def test_fault_names_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_vocabulary_holds_no_sql() -> None:
    with pytest.raises(UsageError, match=r"^v.sql:2: a vocabulary holds only"):
        parse_vocabulary("-- param a BIGINT = 1: A.\nSELECT 1\n", "v.sql")


def test_vocabulary_may_be_empty() -> None:
    assert parse_vocabulary("", "v.sql") == Vocabulary()
