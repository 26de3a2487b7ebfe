"""`hlodb sql` answers one question; of several it says which."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.cli import main

ONE = "SELECT 1 AS one"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (ONE, ""),
        (f"{ONE};\n", ""),
        (
            f"SELECT 2 AS two; {ONE}",
            "hlodb: 2 statements were run; the rows are those of the last\n",
        ),
    ],
)
def test_rows_are_those_of_the_last_statement(
    demo_warehouse: Path, capsys: pytest.CaptureFixture[str], sql: str, told: str
) -> None:
    arguments = ["sql", sql, "--db", str(demo_warehouse), "--format", "csv"]
    assert main(arguments) == 0
    assert capsys.readouterr() == ("one\n1\n", told)
