"""Every canned query in the DuckDB command line gives the rows that hlodb gives.

hlodb composes statements, and the command line calls the macros of the warehouse. With
the parameters and the dumps of the gold results: `test_gold`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import install_macros
from hlodb.queries.renewal import renew_macros
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect, transaction
from tests.conftest import DATA
from tests.queries.bare_duckdb import Call, Rows, assert_equal, told_by_duckdb

CATALOGUE = load_catalogue()
BY_DEFAULT: list[Call] = [(query, {}) for query in CATALOGUE.values()]

DUMPS = [
    *(DATA / "seeds", DATA / "passes" / "jit_ring.tar.xz"),
    *sorted((DATA / "proto").glob("*.tar.xz")),
]
"""Kinds of dumps that the demo has not."""

ANSWERED = {
    "argument_arrays", "buffer_rungs", "cause_rules", "check_list", "check_results",
    "difference_parts", "differing_keys", "flag_names", "former_queries",
    "framework_files", "layer_rules", "library_programs", "line_marks",
    "managed_spaces", "match_rungs", "pass_origins", "path_marks", "program_names",
    "referential_integrity", "remedy_rules", "report_platforms", "role_rules",
    "run_time_rules", "same_device", "shared_names", "size_names",
}  # fmt: skip
"""Queries that have rows to give where there is no run."""


@pytest.mark.slow
def test_dumps_of_all_kinds(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(path) for path in DUMPS], db, prepare=renew_macros)
    told = told_by_duckdb(db, BY_DEFAULT)
    with connect(db) as connection:
        for call, rows in zip(BY_DEFAULT, told, strict=True):
            answer = run_query(connection, call[0].name, {}, CATALOGUE)
            assert_equal(call, rows, answer)


@pytest.mark.slow
def test_a_warehouse_without_runs(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with transaction(db) as connection:
        install_macros(connection)
    told: dict[str, Rows] = {
        query.name: rows
        for (query, _), rows in zip(
            BY_DEFAULT, told_by_duckdb(db, BY_DEFAULT), strict=True
        )
    }
    assert {name for name, rows in told.items() if rows} == ANSWERED
    with connect(db) as connection:
        for name in ANSWERED:
            answer = run_query(connection, name, {}, CATALOGUE)
            assert_equal((CATALOGUE[name], {}), told[name], answer)
