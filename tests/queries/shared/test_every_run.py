"""Blocks that are asked for contents of any run answer as for the run that has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_composed
from hlodb.schema.warehouse import connect

_CHOOSING = {"final_modules", "selected_modules"}
"""Read by blocks that choose between a run and contents."""


def test_blocks_of_contents_read_no_blocks_of_runs_alone() -> None:
    catalogue = load_catalogue()
    takes = {
        name: {parameter.name for parameter in query.parameters}
        for name, query in catalogue.items()
    }
    wrong = {
        (name, called)
        for name, query in catalogue.items()
        if "every_run" in takes[name]
        for called in re.findall(r"\b([a-z_0-9]+)\(\)", query.sql)
        if "run" in takes.get(called, ())
        and "every_run" not in takes[called]
        and called not in _CHOOSING
    }
    assert wrong == set()


@pytest.mark.parametrize("run", ["jaxlib-0.7.2", "jaxlib-0.4.20"])
def test_roles_of_contents_are_those_of_an_older_run(
    demo_warehouse: Path, run: str
) -> None:
    with connect(demo_warehouse) as connection:
        rows = run_composed(
            connection, "SELECT * FROM peak_roles(run := $run) AS r", {"run": run}
        )
        of_contents = run_composed(
            connection,
            "SELECT * FROM peak_roles("
            "module_ids := from_json($modules, '[\"BIGINT\"]'),"
            " every_run := TRUE) AS r",
            {"modules": sorted({row[0] for row in rows})},
        )
    assert rows
    assert sorted(of_contents, key=str) == sorted(rows, key=str)
