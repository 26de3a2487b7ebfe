"""What frameworks call things: code without a database reads the queries' rows."""

from __future__ import annotations

import duckdb
import pytest

from hlodb.queries.catalogue import find_query, load_catalogue
from hlodb.rules import rule_rows


@pytest.mark.parametrize("name", ["framework_files", "program_names", "shared_names"])
def test_code_and_queries_read_the_same_rows(name: str) -> None:
    query = find_query(load_catalogue(), name)
    assert query.group == "rules"
    found = duckdb.sql(f"SELECT COLUMNS(*)::VARCHAR FROM ({query.sql})").fetchall()
    assert len(found) > 3
    assert rule_rows(name) == tuple(found)
