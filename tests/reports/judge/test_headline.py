"""What stands first in a report."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.judge.sentences import (
    annotated_line,
    cause_line,
    changes_of_inputs,
    input_words,
)
from hlodb.reports.read.claims import Claim
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.differences import InputChange
from hlodb.reports.render import github
from hlodb.schema.warehouse import connect, transaction
from tests.reports.situations import GROWN, SITUATIONS, STEP, night, report_on
from tests.reports.worlds import Buffer, make


def test_growth_with_other_inputs_is_named_where_no_gate_judges_it(
    tmp_path: Path,
) -> None:
    worlds = SITUATIONS["changed_inputs"].worlds
    settings = parse_settings('[gates]\nchanged_inputs = "ignore"\n')
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        request = SITUATIONS["changed_inputs"].request
        report = build_report(connection, request, settings)
    assert report.headline == "✅ no regression; 1 with other inputs (+2.00 MiB)"


def test_memory_spaces_of_a_program_with_other_inputs_are_not_counted(
    tmp_path: Path,
) -> None:
    """The headline has named it; nothing else has other inputs."""
    small = Buffer("vmem", 4 << 20, color=1)
    shapes = "(f32[16]{0})->f32[8]{0}"
    before = replace(STEP, buffers=(*STEP.buffers, small), source=None)
    after = replace(
        STEP,
        buffers=(*GROWN.buffers, replace(small, size=8 << 20)),
        source=None,
        shapes=shapes,
    )
    worlds = night(1, before), night(2, after)
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        report = build_report(connection, Request(), parse_settings(""))
    assert len([p for p in report.programs if p.state == "changed"]) == 2
    assert "inputs changed" in report.headline
    assert "with other inputs" not in report.headline


def test_other_inputs_alone_have_no_line_to_annotate(tmp_path: Path) -> None:
    """The largest buffer has one, which did nothing."""
    [finding] = report_on("changed_inputs", tmp_path).findings
    assert annotated_line(finding) is None
    assert cause_line(finding) == ("model/train.py", 18)


def test_one_more_count_is_no_state_beside_moments() -> None:
    """A batch is of few bytes, too."""
    moments = InputChange("new", "optimiser state", None, "48", 48, "mu['w']", 1 << 30)
    count = InputChange("repeated", "optimiser state", "1", "2", 1, "count", 4)
    batch = InputChange("resized", "batch", "8", "16", 1, "tokens", 64)
    assert input_words([batch, count, moments]) == (
        "batch 8 → 16 (tokens); optimiser state new (mu['w'] and 47 more)"
    )
    assert input_words([count]) == "optimiser state 1 → 2 (count)"


def test_inputs_that_shrank_are_no_reason_for_growth(tmp_path: Path) -> None:
    """Weights in other arrays are gone and new at once: neither says which way."""
    [finding] = report_on("changed_inputs", tmp_path).findings
    state = InputChange("gone", "optimiser state", "9", None, 9, "nu", -(1 << 30))
    batch = InputChange("resized", "batch", "8", "10", 1, "frames", 1 << 20)
    grown = replace(finding, inputs=[state, batch], claims=[], delta_bytes=1 << 28)
    assert changes_of_inputs(grown) == (
        "batch 8 → 10 (frames); optimiser state gone (nu and 8 more), against it"
    )
    gone = InputChange("gone", "weights", "2", None, 2, "w['k']", -4096)
    new = InputChange("new", "weights", None, "1", 1, "w['q']", 4096)
    assert changes_of_inputs(replace(grown, inputs=[gone, new])) == (
        "weights gone (w['k'] and 1 more); weights new (w['q'])"
    )


def test_smaller_inputs_are_against_growth_where_rows_show_it(tmp_path: Path) -> None:
    """Smaller patches are longer sequences: the kernel alone says nothing."""
    [finding] = report_on("changed_inputs", tmp_path).findings
    patch = InputChange("resized", "patch", "64", "32", 1, "kernel", -(1 << 20))
    grown = replace(finding, inputs=[patch], claims=[], delta_bytes=1 << 30)
    assert changes_of_inputs(grown) == "patch 64 → 32 (kernel)"
    for size, words in (
        (1 << 20, "patch 64 → 32 (kernel)"),
        (-(1 << 20), "patch 64 → 32 (kernel), against it"),
    ):
        unsaid: dict[str, Any] = dict.fromkeys(each.name for each in fields(Claim))
        rows = Claim(**unsaid | {"kind": "inputs", "delta_bytes": size})
        assert changes_of_inputs(replace(grown, claims=[rows])) == words


def test_programs_with_other_inputs_that_are_not_named_say_by_how_much(
    tmp_path: Path,
) -> None:
    """The headline names the one that grew most; a gate warns of both."""
    shapes = "(f32[16]{0})->f32[8]{0}"
    more = replace(GROWN, name="jit_more", source=None)
    before = [replace(STEP, source=None), replace(more, buffers=STEP.buffers)]
    after = [
        replace(each, buffers=buffers, shapes=shapes)
        for each, buffers in zip(
            before,
            (
                (*STEP.buffers, Buffer("large", 64 << 20)),
                (*STEP.buffers, Buffer("less", 16 << 20)),
            ),
            strict=True,
        )
    ]
    worlds = night(1, *before), night(2, *after)
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        report = build_report(connection, Request(), parse_settings(""))
    assert "1 with other inputs (+16.00 MiB)" in report.headline


def test_nothing_is_green_above_a_limit(tmp_path: Path) -> None:
    """No gate judges a limit, and the exit code is that of the gates."""
    worlds = night(1, STEP), night(2, STEP)
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        limits = [
            build_report(
                connection,
                Request(),
                replace(parse_settings(""), limit_bytes=size << 20),
            )
            for size in (3, 5)
        ]
    assert [(r.verdict, r.exit_code) for r in limits] == [("warn", 0), ("pass", 0)]
    above, below = [r.headline for r in limits]
    assert above.startswith("⚠️ does not fit: 33.3 % over 3.00 MiB (given by --limit)")
    assert above.endswith("no regression; 1 same")
    assert below.startswith("✅ no regression; ")
    assert github.render(limits[0]).startswith("::warning title=hlodb::⚠️ does not fit")


def test_a_base_that_was_ingested_later_is_told(tmp_path: Path) -> None:
    """The times of its files may be those of a copy."""
    file = make(tmp_path / "w.duckdb", night(1, STEP), night(2, STEP))
    asked = [Request(), Request("night-2", "night-1")]

    def rules() -> list[str]:
        with connect(file) as connection:
            return [
                build_report(
                    connection, request, parse_settings("")
                ).comparison.rule_text
                for request in asked
            ]

    plain = rules()
    with transaction(file) as connection:
        connection.execute(
            "UPDATE runs SET ingested_at = ingested_at + INTERVAL 9 DAY"
            " WHERE name = 'night-1'"
        )
    assert rules() == [
        f"{plain[0]}, though it was ingested later: its files are older, or it was"
        " dated so (--started-at)",
        plain[1],
    ]
