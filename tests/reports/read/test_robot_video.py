"""What reports say of a learner of robots from video, whose inputs changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.shared.test_compiled_edits import ingested
from tests.reports.read.test_changed_inputs import report_on


@pytest.mark.parametrize(
    ("candidate", "inputs"),
    [
        # The batch is in other parts, and not larger.
        (
            "micro_batches",
            [
                ("resized", "batch['frames']"),
                ("resized", "batch['actions']"),
                ("resized", "batch['joints']"),
                ("resized", "batch['rewards']"),
            ],
        ),
        # Moments have longer names, below another optimiser.
        (
            "multi_steps",
            [
                ("new", "optimiser state"),
                ("resized", "batch['frames']"),
                ("resized", "batch['actions']"),
                ("resized", "batch['joints']"),
                ("resized", "batch['rewards']"),
            ],
        ),
    ],
)
def test_inputs_are_said_as_they_differ(
    candidate: str, inputs: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = ingested("robot_video", tmp_path, candidate)
    (finding,) = report_on(path, "base", candidate).findings
    assert [(change.change, change.meaning) for change in finding.inputs] == inputs
    assert {
        change.base_size: change.candidate_size
        for change in finding.inputs
        if change.meaning == "batch['frames']"
    } == {
        "[2,32,16,2,96,96,3]": "[4,16,16,2,128,128,3]"
        if candidate == "micro_batches"
        else "[32,16,2,96,96,3]"
    }


def test_no_checkpoint_is_advised_where_no_gradient_is_computed(tmp_path: Path) -> None:
    """The loop adds gradients up; there is no backward pass of it."""
    with connect(ingested("robot_video", tmp_path, "noise_scale")) as connection:
        asked = {"base": "base", "candidate": "noise_scale"}
        claim, *_ = run_query(connection, "claims", asked).dicts()
    assert claim["claim"].startswith("train.py:51 accumulate: the loop also stores")
    assert claim["advice"] == (
        "Return from the body of lax.scan only what is read of every step; where only"
        " sums or norms of that are read, compute these in the body."
    )
