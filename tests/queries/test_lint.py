"""The linter: nothing to say of our own queries, and every kind of fault in others."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.lint import lint

ROOM = Path(__file__).parents[2] / "queries"
HEADER = """\
-- title: Ours
-- question: How many?
-- definition: Counted.
-- grain: run
-- needs: runs
-- column n BIGINT count neutral: How many.
"""
SQL = "SELECT count(*) AS n FROM runs\n"


def test_our_own_queries_have_no_fault() -> None:
    """Names, types and units of every column are those of the SQL, bound by DuckDB."""
    assert lint() == (len(load_catalogue()), [])


def test_our_own_queries_are_narrower_than_80_columns() -> None:
    wide = [
        f"{path.relative_to(ROOM)}:{number}"
        for path in sorted(ROOM.glob("sql/**/*.sql"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) >= 80
    ]
    assert wide == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            HEADER.replace("n BIGINT", "n INTEGER") + SQL,
            "columns differ: the SQL gives n BIGINT; declared and not given: n INTEGER",
        ),
        (
            HEADER + "-- column m BIGINT count neutral: More.\n" + SQL,
            "columns differ: the SQL gives another order; declared and not given:"
            " m BIGINT",
        ),
        (
            HEADER.replace("runs", "rums") + SQL,
            "needs what is no table or query: rums",
        ),
        (
            HEADER.replace("needs: runs", "needs: nothing") + SQL,
            "reads runs without saying so in `-- needs`",
        ),
        (
            HEADER.replace("needs: runs", "needs: modules, runs") + SQL,
            "`-- needs` names what it doesn't read: modules",
        ),
        (
            HEADER.replace("needs: runs", "needs: ours") + "SELECT n FROM ours()\n",
            "queries read one another: ours → ours",
        ),
    ],
)
def test_a_fault_of_a_users_query(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "ours.sql"
    path.write_text(text)
    count, faults = lint([tmp_path])
    assert count == len(load_catalogue()) + 1
    start, end = f"{path.as_posix()}:1: ", fault
    assert [f for f in faults if not (f.startswith(start) and f.endswith(end))] == []
    assert faults


def test_what_duckdb_says_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "ours.sql").write_text(HEADER + "SELECT nothing AS n FROM runs\n")
    _, [fault] = lint([tmp_path])
    assert fault.startswith(f"{tmp_path.as_posix()}/ours.sql:1: Binder Error: ")
    assert '"nothing" not found' in fault
