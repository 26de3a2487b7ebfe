"""What is claimed of two edits at once has the bytes that undoing one gives back.

Each pair of edits was compiled together, and each edit by itself; see tests/data/edits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.causes import EDITS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect

Row = tuple[Any, ...]


def _claims(folder: Path, program: str, name: str) -> list[Row]:
    """Return kind, change, bytes and standing of the claims of memory space 0."""
    pairs = {p.name: p for p in unpacked(EDITS / f"{program}.tar.xz", folder)}
    path = folder / "w.duckdb"
    for run, dump in (("base", pairs[name].base), ("edit", pairs[name].candidate)):
        ingest([str(dump)], path, request=RunRequest(name=run), jobs=1)
    with connect(path) as connection:
        asked = {"base": "base", "candidate": "edit"}
        rows = run_query(connection, "claims", asked).dicts()
    return [
        (r["kind"], r["change"], r["delta_bytes"], r["standing"])
        for r in rows
        if r["color"] == 0
    ]


def _bytes(program: str) -> dict[str, int]:
    truths = json.loads((EDITS / f"{program}.json").read_text())
    return {name: truth["bytes"] for name, truth in truths.items()}


@pytest.mark.slow
def test_the_last_edit_has_what_the_exact_ones_leave(tmp_path: Path) -> None:
    """What an arena takes more is less than the arrays that an edit adds to it.

    The address of one result more is of the arena.
    """
    known = _bytes("e3nn_forces")
    sent = known["forces_sent"] - 8
    assert _claims(tmp_path, "e3nn_forces", "two_one_hot_sent") == [
        ("edit", "replaced", known["two_one_hot_sent"] - sent, "proven"),
        ("edit", "output", sent, "proven"),
    ]


@pytest.mark.slow
def test_a_lone_edit_has_the_whole_rise_even_if_it_should_save(tmp_path: Path) -> None:
    assert _claims(tmp_path, "e3nn_forces", "forces_checkpoint") == [
        ("edit", "recomputation", _bytes("e3nn_forces")["forces_checkpoint"], "likely")
    ]


@pytest.mark.slow
def test_a_result_in_memory_that_is_needed_anyway_has_no_claim(tmp_path: Path) -> None:
    """The tree that is returned lies where the loop keeps it, and adds 8 bytes."""
    both = _bytes("mctx_planner")["two_deeper_tree"]
    assert both - _bytes("mctx_planner")["plan_deeper"] == 8
    assert _claims(tmp_path, "mctx_planner", "two_deeper_tree") == [
        ("edit", "reshaped", both, "proven")
    ]
