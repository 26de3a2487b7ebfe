"""Every query on a terminal: nothing is wider than it, and nothing is cut."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import duckdb
import pytest
from rich.cells import cell_len

from hlodb.queries.catalogue import BUILDING_BLOCKS
from hlodb.queries.render.table import LEFT_UNITS, NOTHING, human, write_table
from hlodb.queries.result import Result
from hlodb.schema.warehouse import open_connection
from tests.gold_results import answers, queries

QUERIES = {q.name: q for q in queries() if q.group not in BUILDING_BLOCKS}
NAMES = {"program", "instruction", "buffer"}
ROWS = 12
WIDTHS = (60, 80, 100, 120, 200)
LONGEST_NAME = 40


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def connection(gold_warehouse: Path) -> duckdb.DuckDBPyConnection:
    return open_connection(gold_warehouse)


def shown(result: Result) -> str:
    stream = Terminal()
    write_table(result, stream)
    return stream.getvalue().decode()


def shown_columns(result: Result, text: str) -> list[str]:
    """Return the columns that a table should show, by how many it says it leaves out.

    The last leading columns are left out first, programs and instructions never.
    """
    columns = [*(result.leading or result.names)]
    said = re.search(r"^\+(\d+) columns?, shown with --wide$", text, re.MULTILINE)
    hidden = int(said[1]) if said else 0
    while len(result.columns) - len(columns) < hidden:
        columns.remove([c for c in columns[1:] if c not in NAMES][-1])
    return columns


def whole_values(result: Result, shown: list[str]) -> Iterator[str]:
    """Yield what a table may not break: numbers with units, and names."""
    for row in result.rows:
        for column, value in zip(result.columns, row, strict=True):
            if column.name not in shown:
                continue
            text = human(value, column)
            is_name = column.name in NAMES and cell_len(text) <= LONGEST_NAME
            if text != NOTHING and (is_name or column.unit not in LEFT_UNITS):
                yield text


@pytest.mark.parametrize("name", QUERIES)
def test_leading_columns_name_programs_and_instructions(name: str) -> None:
    query = QUERIES[name]
    named = NAMES & {c.name for c in query.columns}
    # A buffer is named by its instruction, on whichever side it is.
    wanted = named - {"instruction"} if "buffer" in named else named
    assert wanted <= {*query.leading}
    assert len(query.leading) == min(len(query.columns), len(query.leading), 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_a_table_cuts_nothing(
    name: str, connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in answers(connection, QUERIES[name]):
        for leading, width in product((answer.leading, ()), WIDTHS):
            monkeypatch.setenv("COLUMNS", str(width))
            result = Result(answer.columns, answer.rows[:ROWS], leading)
            text = shown(result)
            assert max(map(cell_len, text.splitlines())) <= width
            words = re.split(r"\s{2,}|: |\n", text)
            columns = shown_columns(result, text)
            assert {*whole_values(result, columns)} <= {*map(str.strip, words)}
            if leading and width >= 80 and len(result.rows) > 1:
                assert "── row 1 of" not in text
                assert len(columns) >= min(3, len(leading))
