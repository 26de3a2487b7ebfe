"""A speech encoder that saves every layer for the backward pass, and does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.reports.document.blocks import Paragraph, Table
from hlodb.reports.document.explanation import outline
from hlodb.reports.read.overview import read_overview
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

STEP = {"program": "jit_train_step"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    folder: Path = tmp_path_factory.mktemp("conformer")
    with connect(ingested("conformer", folder, "saved")) as connection:
        yield connection


def test_a_norm_beside_a_sigmoid_is_no_softmax(saved: Connection) -> None:
    """What silu exponentiates has the dimensions of what the norm computes."""
    halved = {
        row["subject"]: (row["rule_id"], row["source_line"])
        for row in run_query(saved, "remedies", STEP).dicts()
        if row["rule_id"] in ("halve_activation", "halve_softmax")
    }
    assert halved == {
        "values of f32[12,32,600,768]": ("halve_activation", 66),
        "values of f32[12,32,12,600,600]": ("halve_softmax", 83),
    }


def test_what_a_loop_has_just_stored_is_saved(saved: Connection) -> None:
    """At the peak the forward loop has written most stacks, and reads none of them."""
    roles = [
        (row["role"], row["owned_bytes"])
        for row in run_query(saved, "peak_by_role", STEP).dicts()
        if row["color"] == 0
    ]
    assert roles[:2] == [
        ("saved_activations", 40751357952),
        ("optimiser_state", 1394067456),
    ]


def test_lines_of_the_dump_come_before_those_of_the_message(saved: Connection) -> None:
    """The message has the line of the scan for each of its arrays, a0.py:114."""
    sections = {
        s.title: s.blocks for s in outline(read_overview(saved, None, None), 3, 5)
    }
    refused = sections["Out of memory"]
    assert (
        Paragraph(
            "Its largest buffers are listed below, with the lines that the dump has."
        )
        in refused
    )
    assert not any(isinstance(block, Table) for block in refused)
    described = sections["jit_train_step: HBM"]
    table = described[described.index(Paragraph("Its largest buffers:")) + 1]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows[:3]] == ["6.59 GiB", "3.30 GiB", "1.32 GiB"]
    assert [row[-1] for row in table.rows[:3]] == [
        f"a0.py:{line}" for line in (83, 83, 59)
    ]
