"""Text at five widths: no line is wider, no word is broken, and nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import duckdb
import pytest
from rich.cells import cell_len

from hlodb.reports.judge.report import Report
from hlodb.reports.read.overview import read_overview
from hlodb.reports.render.overviews import Shown, rendered
from hlodb.reports.render.text import render
from tests.conftest import UNWRAPPED
from tests.reports.situations import EACH

WIDTHS = (60, 80, 100, 120, 200)
LONGEST_WORD = 16
"""Longer ones, such as framework paths, may take two lines of a narrow cell."""

PASTED = re.compile(r"^ *\$ .*$", re.MULTILINE)
"""Commands stay on one line, so that they can be pasted."""

OF_LAYOUT = re.compile(r"^ *── row (\d+) of \1?.*$|^[ ─]+$", re.MULTILINE)

EMPTY = {"owner"}
"""A column without a value in any row is left out of a narrow table."""

Text = Callable[[], str]


def words(text: str) -> set[str]:
    return {word.rstrip(":,") for word in OF_LAYOUT.sub("", text).split()}


def compare_widths(text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(UNWRAPPED))
    whole = words(text())
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        fitted = text()
        lines = PASTED.sub("", fitted).splitlines()
        assert [line for line in lines if cell_len(line) > width] == []
        lost = whole - words(fitted) - EMPTY
        assert {word for word in lost if len(word) <= LONGEST_WORD} == set()


@pytest.mark.parametrize("name", EACH)
def test_reports_fit(
    name: str, reported: Callable[[str], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = reported(name)
    compare_widths(lambda: render(report), monkeypatch)


def test_differences_fit(diffs: list[Report], monkeypatch: pytest.MonkeyPatch) -> None:
    for report in diffs:
        compare_widths(partial(render, report), monkeypatch)


def test_explanations_fit(
    reading: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        read_overview(reading, name, None, top=10)
        for name in ("jaxlib-0.10.2", "v5e-jax-0.10.2")
    ]
    compare_widths(lambda: rendered(found, "text", Shown(3, 10)), monkeypatch)
