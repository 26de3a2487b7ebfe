"""Compilations of one program in one run: each is explained by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlodb.reports.document.blocks import Table
from hlodb.reports.document.explanation import outline
from hlodb.reports.read.facts import Run
from hlodb.reports.read.overview import Overview, Row, compilations
from tests.cli.test_explain import explain
from tests.conftest import DATA


def module(
    program: str, number: int | None, rank: int | None, path: str
) -> dict[str, object]:
    return {"program": program, "module_number": number, "rank": rank, "path": path}


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([module("f", 1, None, "a/1"), module("g", 1, None, "b/1")], ["f", "g"]),
        ([module("f", 1, None, "1"), module("f", 2, None, "2")], ["f #1", "f #2"]),
        (
            [module("f", 1, 0, "r0/1"), module("f", 1, 1, "r1/1")],
            ["f rank 0", "f rank 1"],
        ),
        (
            [module("f", 1, None, "a/1"), module("f", 1, None, "b/1")],
            ["f in a", "f in b"],
        ),
        (
            [
                module("f", 1, None, "a/1"),
                module("f", 1, None, "a/2"),
                module("f", 3, None, "a/3"),
            ],
            ["f #1 (a/1)", "f #1 (a/2)", "f #3"],
        ),
    ],
)
def test_names_are_as_short_as_they_can_be(rows: list[Row], names: list[str]) -> None:
    assert list(compilations(rows).values()) == names


@pytest.mark.slow
def test_compilations_of_one_number_are_not_mixed(tmp_path: Path) -> None:
    """The archive has a folder for each way of compiling one program."""
    done = explain(tmp_path, str(DATA / "remedies" / "narrow.tar.xz"), "--format=json")
    [run] = json.loads(done.stdout)["runs"]
    overview = Overview(
        Run(1, "narrow", *[None] * (len(Run._fields) - 2)), run["answers"]
    )
    sections = {s.title: s.blocks for s in outline(overview, programs=3, top=9)}
    tables = {
        title: [row for b in blocks if isinstance(b, Table) for row in b.rows]
        for title, blocks in sections.items()
        if title.endswith(": HBM")
    }
    assert {
        title: [row[0] for row in rows if row[2:] == ("inputs",)]
        for title, rows in tables.items()
    } == {
        "jit_scaled in narrow/base: HBM": ["165.00 MiB"],
        "jit_scaled in narrow/filled: HBM": ["137.00 MiB"],
    }
