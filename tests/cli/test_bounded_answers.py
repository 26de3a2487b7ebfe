"""Answers within bounds: --columns, --limit, the compact form, queries by question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.queries.catalogue import load_catalogue
from hlodb.warehouse import open as open_warehouse

QUERY = ["query", "peak_by_space", "-p", "run=jaxlib-0.5.3"]


@pytest.fixture
def db(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HLODB_DB", str(demo_warehouse))
    return demo_warehouse


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    assert main([*arguments]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_the_compact_form_has_units_once(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, err = printed(capsys, *QUERY, "--format", "compact")
    with open_warehouse(db) as warehouse:
        answer = warehouse.query("peak_by_space", run="jaxlib-0.5.3")
    units = {c.name: c.unit for c in load_catalogue()["peak_by_space"].columns}
    rows = [list(row) for row in answer.rows]
    assert found == {"columns": units, "total_rows": len(rows), "rows": rows}
    assert list(found["columns"]) == list(units)
    assert err == ""


def test_bounds_pick_columns_and_rows(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _ = printed(capsys, *QUERY, "--format", "json")
    picked = [{"live_peak_bytes": row["live_peak_bytes"]} for row in whole[:2]]
    bounds = ["--columns", "live_peak_bytes", "--limit", "2"]
    found, err = printed(capsys, *QUERY, *bounds, "--format", "json")
    assert found == picked
    assert err == f"hlodb: first 2 of {len(whole)} rows\n"
    found, _ = printed(capsys, *QUERY, *bounds, "--format", "compact")
    assert found == {
        "columns": {"live_peak_bytes": "bytes"},
        "total_rows": len(whole),
        "rows": [[row["live_peak_bytes"]] for row in picked],
    }


def test_a_table_shows_the_columns_that_are_asked_for(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ["rank", "path", "program"]
    assert main([*QUERY, "--columns", ",".join(columns), "--limit", "1"]) == 0
    head, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == columns


def test_sql_has_the_same_bounds(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT range AS n, n * 2 AS twice_bytes FROM range(5)"
    found, err = printed(
        capsys, "sql", sql, "--columns", "twice_bytes", "--limit", "1",
        "--format", "compact",
    )  # fmt: skip
    assert found == {
        "columns": {"twice_bytes": "bytes"},
        "total_rows": 5,
        "rows": [[0]],
    }
    assert err == "hlodb: first 1 of 5 rows\n"


def test_an_unknown_column_is_named_with_those_there(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", "run_list", "--columns", "runn"]) == 2
    assert capsys.readouterr().err.startswith(
        "hlodb: the answer has no column 'runn'; did you mean run? It has "
    )


def test_the_catalogue_has_bounds_too(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["query", "--columns", "name", "--limit", "3", "--format", "json"]
    found, err = printed(capsys, *arguments)
    assert found == [{"name": name} for name in list(load_catalogue())[:3]]
    assert err == f"hlodb: first 3 of {len(load_catalogue())} rows\n"


def test_a_question_finds_queries(capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = printed(
        capsys, "query", "--find", "which lines own the peak", "--format", "json"
    )
    query = load_catalogue()["peak_by_source_line"]
    assert found[0] == {
        "name": query.name,
        "title": query.title,
        "question": query.question,
    }
    assert len(found) <= 8


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--find", "zzz"], "no query fits 'zzz'; `hlodb query` lists them all"),
        (["run_list", "--find", "runs"], "pass the name of a query or --find"),
    ],
)
def test_a_question_that_finds_nothing_says_what_to_do(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(["query", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"hlodb: {told}")


def test_one_note_counts_what_limit_and_top_leave_out(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = ["query", "peak_contents", "-p", "run=jaxlib-0.5.3"]
    whole, _ = printed(capsys, *contents, "--format", "json")
    assert len(whole) > 20
    rest = "; pass `-p top=N` for N, `-p top=` for all"
    for limit, note in (("6", ""), ("1000", rest)):
        assert main([*contents, "--limit", limit, "--format", "table"]) == 0
        [told] = re.findall("first .*", capsys.readouterr().err)
        assert re.fullmatch(f"first \\d+ of {len(whole)} rows{note}", told), told
