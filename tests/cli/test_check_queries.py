"""`hlodb check --queries` binds what other DuckDB clients call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.renewal import renew_macros
from hlodb.schema.warehouse import transaction
from tests.conftest import DATA

ALL = len(load_catalogue())
NOT_THERE = "Catalog Error: Table Function with name owner_rules does not exist!"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    ingest([str(DATA / "moved_lines" / "before")], path, jobs=1, prepare=renew_macros)
    return path


def checked(
    db: Path, capfd: pytest.CaptureFixture[str], *statements: str
) -> tuple[int, list[dict[str, Any]], str]:
    """Return the exit code, the rows of `queries`, and the first line said of it."""
    with transaction(db) as connection:
        for statement in statements:
            connection.execute(statement)
    capfd.readouterr()
    code = main(["check", "--queries", "--format", "json", "--db", str(db)])
    out, err = capfd.readouterr()
    rows = [r for r in json.loads(out) if r["check_name"] == "queries"]
    return code, rows, err.partition("\n")[0]


@pytest.mark.slow
def test_queries_of_this_hlodb(db: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, [row], said = checked(db, capfd)
    assert (code, row["status"], row["checked_count"], said) == (0, "ok", ALL, "")


CHANGES = {
    "gone": (
        "DROP MACRO TABLE rejects_summary",
        [("rejects_summary: the warehouse has no such macro", 8, 0)],
    ),
    "a part gone": (
        "DROP MACRO TABLE owner_rules",
        [
            ("owner_rules: the warehouse has no such macro", 2, 0),
            (f"peak_by_owner: {NOT_THERE}", 10, 0),
        ],
    ),
    "another type": (
        "CREATE OR REPLACE MACRO owner_rules() AS TABLE"
        " SELECT '' AS path_prefix, 1 AS owner",
        [
            (
                "owner_rules: columns differ: the SQL gives owner INTEGER; declared"
                " and not given: owner VARCHAR",
                2,
                1,
            ),
            (
                "peak_by_owner: columns differ: the SQL gives owner INTEGER; declared"
                " and not given: owner VARCHAR",
                10,
                9,
            ),
        ],
    ),
    "another parameter": (
        "CREATE OR REPLACE MACRO owner_rules(team := NULL) AS TABLE"
        " SELECT '' AS path_prefix, '' AS owner",
        [
            (
                "owner_rules: parameters differ: the macro takes team, declared: none",
                2,
                2,
            )
        ],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_queries_that_somebody_changed(
    db: Path, capfd: pytest.CaptureFixture[str], change: str
) -> None:
    statement, faults = CHANGES[change]
    code, rows, said = checked(db, capfd, statement)
    found = [(r["place"], r["expected"], r["found"]) for r in rows]
    assert (code, sorted(found)) == (3, [(f"query {p}", e, f) for p, e, f in faults])
    assert said == (
        "hlodb: queries of the warehouse changed since an ingest made them; the next"
        " one makes them anew after `DELETE FROM warehouse_info WHERE key = 'macros'`"
    )


@pytest.mark.slow
def test_queries_of_another_hlodb_until_the_next_ingest(
    db: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    older = "UPDATE warehouse_info SET value = '0' WHERE key = 'macros'"
    code, [row], said = checked(db, capfd, CHANGES["gone"][0], older)
    assert (code, row["found"]) == (3, 0)
    assert said == (
        "hlodb: the queries of the warehouse are those of another hlodb; the next"
        " ingest makes them anew"
    )
    ingest([str(DATA / "moved_lines" / "before")], db, jobs=1, prepare=renew_macros)
    assert checked(db, capfd)[0] == 0
