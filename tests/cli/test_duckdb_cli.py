"""The DuckDB command line on a warehouse file, with no hlodb code involved."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DATA

DUCKDB = Path(sys.executable).parent / "duckdb"


@pytest.mark.slow
def test_a_canned_query_in_the_bare_duckdb(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    dump = DATA / "moved_lines" / "before"
    hlodb = [sys.executable, "-m", "hlodb"]
    subprocess.run(
        [*hlodb, "ingest", str(dump), "--db", str(db)], check=True, capture_output=True
    )
    sql = "SELECT program, reserved_bytes FROM peak_by_space(program := 'jit_cg')"
    asked = [[str(DUCKDB), "-readonly", "-json", str(db), "-c", sql]]
    asked.append([*hlodb, "sql", sql, "--db", str(db), "--format", "json"])
    answers = [
        json.loads(subprocess.run(a, check=True, capture_output=True).stdout)
        for a in asked
    ]
    assert answers[0] == answers[1] != []
