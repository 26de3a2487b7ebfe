"""Numbers of parameters: what is declared is taken, all else is refused in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from hlodb.cli import main
from hlodb.errors import UsageError
from hlodb.queries.bounds import require_within
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.query import NUMERIC_TYPES, Parameter
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.gold_results import calls

CATALOGUE = load_catalogue()
LARGEST = (1 << 63) - 1
UNBOUNDED = (
    *("base_ids", "candidate_ids", "locations_ids", "module_ids"),
    *("base_key", "candidate_key"),
    *("member_locations", "member_modules", "member_values", "value_modules"),
)
"""Digests: any number is one."""


def parameter(kind: str, *bounds: float | None) -> Parameter:
    return Parameter("n", kind, "NULL", None, (), "A number.", *bounds)


@pytest.mark.parametrize(
    ("kind", "bounds", "value", "allowed"),
    [
        ("BIGINT", (0, None), -1, f"from 0 to {LARGEST:,}"),
        ("BIGINT", (None, None), LARGEST + 1, f"from {-LARGEST - 1:,} to {LARGEST:,}"),
        ("BIGINT[]", (None, 9), [9, 10], f"from {-LARGEST - 1:,} to 9"),
        ("DOUBLE", (0, 1), 1.5, "from 0 to 1"),
        ("DOUBLE", (0, None), float("nan"), "at least 0"),
        ("DOUBLE", (None, None), float("inf"), "a finite number"),
    ],
)
def test_what_is_refused(
    kind: str,
    bounds: tuple[float | None, float | None],
    value: list[int] | float,
    allowed: str,
) -> None:
    bad = value[-1] if isinstance(value, list) else value
    message = f"parameter 'n' is {allowed}, not {bad}"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        require_within(parameter(kind, *bounds), value)


@pytest.mark.parametrize("value", [None, True, "text", 0, 1, 0.5, [0, 1]])
def test_what_is_taken(value: object) -> None:
    require_within(parameter("DOUBLE", 0, 1), value)


@pytest.mark.slow
def test_a_number_that_is_refused_is_a_mistake_of_usage(
    gold_warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["query", "live_timeline", "-p", "points=9000000000"]
    assert main([*asked, "--db", str(gold_warehouse)]) == 2
    assert capsys.readouterr().err == (
        "hlodb: parameter 'points' is from 0 to 1,000,000,000, not 9000000000\n"
    )


def test_every_number_says_where_it_begins() -> None:
    unsaid = {
        p.name
        for query in CATALOGUE.values()
        for p in query.parameters
        if p.type in NUMERIC_TYPES and p.least is None
    }
    assert unsaid == set(UNBOUNDED)


@pytest.mark.slow
def test_the_least_and_the_greatest_numbers_have_an_answer(
    gold_warehouse: Path,
) -> None:
    """No sum or product of a query overflows with what its parameters take."""
    with connect(gold_warehouse, read_only=True) as connection:
        for query in CATALOGUE.values():
            numbers = [
                p
                for p in query.parameters
                if p.type in NUMERIC_TYPES and p.name not in (*UNBOUNDED, "color")
            ]
            tried = [
                {p.name: p.least for p in numbers},
                {p.name: LARGEST for p in numbers if p.most is None},
                *({p.name: p.most} for p in numbers if p.most is not None),
            ]
            for numbers_given in filter(None, tried):
                given = cast("dict[str, Value]", numbers_given)
                run_query(connection, query.name, {**calls(query)[0], **given})
