"""Answers that several queries share: the same rows, and nothing left behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from hlodb.queries.answer_once import answered_once
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import in_order
from hlodb.queries.run import run_query
from hlodb.reports.read.overview import OF_PROGRAMS, SHARED
from hlodb.schema.warehouse import connect

PROGRAM = {"run": "v5e-jax-0.10.2", "program": "jit_mlp_step"}
OTHER = {"run": "v5e-jax-0.10.2", "program": "jit_cnn"}


@pytest.mark.slow
def test_queries_answer_as_without_it(demo_warehouse: Path) -> None:
    catalogue = load_catalogue()
    with connect(demo_warehouse) as connection:

        def answers(
            asked: dict[str, str], tables: Mapping[str, str] | None = None
        ) -> dict[str, list[dict[str, object]]]:
            return {
                name: run_query(
                    connection, name, {**asked, **more}, catalogue, tables
                ).dicts()
                for name, more in OF_PROGRAMS.items()
            }

        alone = answers(PROGRAM)
        with answered_once(connection, SHARED, PROGRAM, catalogue) as tables:
            assert answers(PROGRAM, tables) == alone
        other = answers(OTHER)
        assert {row["program"] for row in other["peak_contents"]} == {"jit_cnn"}
        with (
            pytest.raises(KeyError),
            answered_once(connection, [*SHARED, "nothing"], PROGRAM, catalogue),
        ):
            pass
        assert answers(OTHER) == other


def test_parts_come_after_those_they_read() -> None:
    catalogue = load_catalogue()

    for place, part in enumerate(SHARED):
        read = {query.name for query in in_order([catalogue[part]], catalogue)}
        assert not (read & set(SHARED[place + 1 :])), part


def test_answers_of_other_parameters_may_stand_meanwhile(demo_warehouse: Path) -> None:
    """As where a long line is followed, and a part of it for its latest run."""
    catalogue = load_catalogue()
    with connect(demo_warehouse) as connection:

        def programs(tables: Mapping[str, str]) -> set[object]:
            rows = run_query(connection, "final_modules", {}, catalogue, tables).dicts()
            return {row["program"] for row in rows}

        with answered_once(connection, ["final_modules"], PROGRAM, catalogue) as outer:
            with answered_once(
                connection, ["final_modules"], OTHER, catalogue
            ) as inner:
                found = programs(inner), programs(outer)
            assert programs(outer) == found[1]
    assert found == ({"jit_cnn"}, {"jit_mlp_step"})
