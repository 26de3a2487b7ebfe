"""`hlodb sql` answers one question; of several it says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from tests.conftest import DATA

ONE = "SELECT 1 AS one"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (ONE, ""),
        (f"{ONE};\n", ""),
        (
            f"SELECT 2 AS two; {ONE}",
            "hlodb: ran 2 statements; these are the rows of the last\n",
        ),
    ],
)
def test_rows_are_those_of_the_last_statement(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str], sql: str, told: str
) -> None:
    arguments = ["sql", sql, "--db", str(demo_warehouse), "--format", "csv"]
    assert main(arguments) == 0
    assert capsys.readouterr() == ("one\n1\n", told)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["query", "run_list", "--format", "csv", "-o"],
        ["sql", "FROM runs", "-o"],
        ["report", "--allow-empty", "--no-record", "-o"],
        ["check", "-o"],
    ],
    ids=lambda command: command[0],
)
def test_output_never_replaces_the_warehouse(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db, link = tmp_path / "w.duckdb", tmp_path / "out.csv"
    ingest([str(DATA / "seeds")], db)
    link.symlink_to(db)
    before = db.read_bytes()
    for output in (db, link):
        assert main([*command, str(output), "--db", str(db)]) == 2
        assert capsys.readouterr().err == (
            f"hlodb: {output} is the warehouse; name another file to write to\n"
        )
    assert db.read_bytes() == before
