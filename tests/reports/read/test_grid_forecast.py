"""What reports say of a forecast of fields on a grid: checkpoints and other inputs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.causes import explaining
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.queries.shared.test_compiled_edits import ingested

EDITS = (
    "no_checkpoint",
    "saved_products",
    "narrow_frames",
    "wider",
    "whole_attention",
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Report]:
    file = ingested("grid_forecast", tmp_path_factory.mktemp("grid"), *EDITS)
    with connect(file) as connection:
        return {
            name: build_report(
                connection,
                Request(name, "base", shown=frozenset()),
                parse_settings(""),
            )
            for name in EDITS
        }


def edits(report: Report) -> list[str]:
    (finding,) = report.findings
    return [claim.claim for claim in explaining(finding.claims)]


def test_a_checkpoint_around_others_is_the_only_edit(
    reports: Mapping[str, Report],
) -> None:
    """What the loop then stores, and converts before it, follows from that."""
    assert edits(reports["no_checkpoint"]) == [
        "train.py:75 rollout_loss: a checkpoint removed, others kept"
        " (3195 → 1548 operations are recomputed)"
    ]


def test_narrower_moments_excuse_no_policy(reports: Mapping[str, Report]) -> None:
    """Memory grew although the inputs take less: that is of the edit."""
    report = reports["saved_products"]
    (finding,) = report.findings
    # The sizes of the parameters in both buffer assignments differ by that.
    assert [(claim.kind, claim.delta_bytes) for claim in finding.claims][1:] == [
        ("several", 655_335_344 + 34_417_040),
        ("inputs", -34_417_040),
    ]
    assert (report.verdict, report.exit_code) == ("fail", 1)
    assert report.headline == (
        "❌ 1 regression (1 gate failed): jit_train_step CPU memory grew 1.49 → 2.10"
        " GiB (+624.98 MiB, +41.0 %), cause: model.py:40 Processor.__call__:"
        " remat saves more, recomputes less (3195 → 3155 operations); and inputs"
        " changed: element type f32 → bf16"
        " (state.opt_state[1][0].mu['encoder']['rows'] and 98 more), against it"
    )


def test_what_is_copied_of_narrower_inputs_is_of_them(
    reports: Mapping[str, Report],
) -> None:
    """Frames and targets have half of 102.50 MiB; the copy of the targets half, too."""
    report = reports["narrow_frames"]
    assert (report.verdict, report.exit_code) == ("warn", 0)
    (finding,) = report.findings
    assert [(claim.kind, claim.delta_bytes) for claim in finding.claims] == [
        ("inputs", -85_983_232),
        ("unexplained", 2_443_776),
    ]
    assert finding.cause is not None
    assert finding.cause.title == (
        "retyped: batch['targets'] f32[8,3,32,256,82] to bf16[8,3,32,256,82] and 2"
        " more (-82.00 MiB, others +2.33 MiB, net -79.67 MiB)"
    )


def test_sizes_are_those_of_whole_arrays(reports: Mapping[str, Report]) -> None:
    """Heads of each block are no layers, and 8 of 16 on a device are no batch of 8."""
    (finding,) = reports["wider"].findings
    meanings = {each.meaning: each for each in finding.inputs}
    assert "layers" not in meanings
    assert meanings["width"].base_size == "1,536"
    batch = meanings["batch"]
    assert (batch.base_size, batch.candidate_size) == ("16", "8")


def test_what_only_arranges_is_named_by_its_shapes(
    reports: Mapping[str, Report],
) -> None:
    """Of an attention that a library computes, the rest has the operations it had."""
    assert edits(reports["whole_attention"]) == [
        "layers.py:103 WindowAttention.__call__: other shapes in 2024 operations, as"
        " f32[16,8,16,6,64] → f32[1,2048,6,64]"
    ]
