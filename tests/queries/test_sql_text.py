"""Tokens and names in SQL that nobody parses."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.sql_text import (
    code_tokens,
    macro_body,
    parameter_faults,
    parameter_names,
    source_names,
)


def test_tokens_skip_comments_and_keep_strings() -> None:
    sql = "SELECT 'it''s -- $x', \"a b\" -- $y\n/* $z\n */ FROM $run"
    assert list(code_tokens(sql)) == [
        (0, "SELECT"),
        (0, "'it''s -- $x'"),
        (0, ","),
        (0, '"a b"'),
        (2, "FROM"),
        (2, "$run"),
    ]


def test_names_of_parameters() -> None:
    sql = "SELECT '$a''$b', \"$c\", $d -- $e\n/* $f\n */ FROM $run WHERE x = $d - 1"
    assert parameter_names(sql) == {"d", "run"}


def test_source_names() -> None:
    sql = """
    WITH c AS (SELECT * FROM runs) SELECT 'FROM x'
    FROM c JOIN peak_values(run := $run) AS p JOIN store.schedule AS s
    ANTI JOIN "values" AS v ON v.a = s.a
    """
    assert source_names(sql) == {"runs", "c", "peak_values", "schedule", "values"}


def test_every_query_that_is_called_is_a_source() -> None:
    catalogue = load_catalogue()
    for query in catalogue.values():
        tokens = [token for _, token in code_tokens(query.sql)]
        called = {a for a, b in pairwise(tokens) if b == "(" and a in catalogue}
        assert called <= source_names(query.sql), query.name


def test_macro_body_names_parameters_plainly() -> None:
    sql = "SELECT $run, '$run' -- $run\nFROM t"
    assert macro_body(sql, {}) == "SELECT run, '$run' -- $run\nFROM t"


def test_macro_body_hands_parameters_on_to_queries_that_it_reads() -> None:
    sql = """FROM f() JOIN f( run := ($x[1]), y := g(z := 1))
    JOIN other() WHERE f(1) = '' AND 'FROM f()'"""
    assert (
        macro_body(sql, {"f": ["run", "z"]})
        == """FROM f(run := run, z := z) JOIN f(z := z,  run := (x[1]), y := g(z := 1))
    JOIN other() WHERE f(1) = '' AND 'FROM f()'"""
    )


def test_columns_called_like_parameters_are_qualified() -> None:
    sql = """SELECT
      m.run, x AS run, $run, f(run := $run), RUN, "run"
    FROM a JOIN b USING (run, step) WHERE color = 1"""
    assert list(parameter_faults(sql, {"run"}, {"color"})) == [
        (1, "qualify the column RUN (t.RUN), or write $RUN"),
        (1, 'qualify the column "run" (t."run"), or write $"run"'),
        (2, "qualify the column color (t.color), or write $color"),
    ]


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    lines = [line for line, _ in code_tokens(text)]
    assert lines == sorted(lines)
    assert isinstance(macro_body(text, {"f": ["run"]}), str)
