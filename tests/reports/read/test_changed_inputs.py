"""What a report says of programs with other inputs, on real pairs of programs."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.differences import InputChange
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.queries.shared.test_compiled_edits import ingested

PAIRS = Path(__file__).parents[2] / "data" / "pairs"
PROGRAMS = {
    "decoder": ("gen_capacity", "gen_layers", "gen_cache_f32", "gen_donation"),
    "sharded": ("mesh_devices", "mesh_batch", "mesh_weights"),
}


class Told(NamedTuple):
    """What a report says first, and of its only program."""

    verdict: str
    exit_code: int
    change: str
    rule: str
    delta_bytes: int | None


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a warehouse of programs on a CPU, each of one edit, and their bases."""
    folder = tmp_path_factory.mktemp("pairs")
    path = folder / "hlodb.duckdb"
    for name, candidates in PROGRAMS.items():
        with tarfile.open(PAIRS / f"{name}-cpu.tar.xz") as archive:
            archive.extractall(folder)
        root = folder / f"{name}-cpu"
        for run in ("base", *candidates):
            request = RunRequest(name=f"{name}_base" if run == "base" else run)
            ingest([str(root / run)], path, request=request, jobs=1)
    return path


def report_on(path: Path, base: str, candidate: str, settings: str = "") -> Report:
    with connect(path) as connection:
        request = Request(candidate, base, shown=frozenset())
        return build_report(connection, request, parse_settings(settings))


def told(report: Report) -> Told:
    (program,) = report.programs
    return Told(
        report.verdict,
        report.exit_code,
        program.change,
        program.rule,
        program.delta_bytes,
    )


@pytest.mark.slow
def test_a_longer_cache_is_never_green(pairs: Path) -> None:
    report = report_on(pairs, "decoder_base", "gen_capacity")
    assert told(report) == ("warn", 0, "changed", "other_inputs", 69_206_016)
    assert report.headline == (
        "⚠️ jit_generate CPU memory grew 89.56 → 155.56 MiB (+66.00 MiB, +73.7 %),"
        " inputs changed: cache length 512 → 1,024 (cache[0] and 1 more); no regression"
    )
    (gate,) = [g for g in report.gates if g.gate == "changed_inputs"]
    assert (gate.status, gate.limit, gate.value) == ("warn", 93_915_496, 163_121_512)


@pytest.mark.slow
def test_settings_decide_what_other_inputs_do(pairs: Path) -> None:
    asked = (pairs, "decoder_base", "gen_capacity")
    fail = report_on(*asked, settings="[gates]\nchanged_inputs = 'fail'")
    assert told(fail)[:2] == ("fail", 1)
    assert fail.headline.startswith(
        "❌ 1 gate failed: jit_generate CPU memory grew 89.56 → 155.56 MiB"
    )
    ignored = report_on(*asked, settings="[gates]\nchanged_inputs = 'ignore'")
    assert told(ignored)[:2] == ("pass", 0)
    budget = "[[budget]]\nprogram = 'jit_generate'\nbytes = '100 MiB'"
    assert told(report_on(*asked, settings=budget))[:2] == ("fail", 1)
    waiver = (
        "[[waiver]]\nprogram = '*'\ngate = 'changed_inputs'\nowner = 'me'\n"
        "reason = 'longer prompts'\nuntil = 2100-01-01"
    )
    assert told(report_on(*asked, settings=waiver))[:2] == ("pass", 0)


@pytest.mark.slow
def test_inputs_are_named_by_what_they_mean(pairs: Path) -> None:
    def changes(base: str, candidate: str) -> list[tuple[object, ...]]:
        findings = report_on(pairs, base, candidate).findings
        # Others are of runs between the two.
        (finding,) = (each for each in findings if each.scope == "candidate")
        return [_short(each) for each in finding.inputs]

    assert changes("decoder_base", "gen_layers") == [("resized", "layers", "4", "6", 6)]
    assert changes("decoder_base", "gen_cache_f32") == [
        ("retyped", "element type", "bf16", "f32", 2)
    ]
    assert changes("sharded_base", "mesh_batch") == [
        ("resized", "batch", "1,024", "2,048", 2)
    ]
    # Twice as wide on each device follows from half as many devices.
    assert changes("sharded_base", "mesh_devices") == [
        ("resized", "devices", "4", "2", 0)
    ]


def _short(each: InputChange) -> tuple[object, ...]:
    return (
        each.change,
        each.meaning,
        each.base_size,
        each.candidate_size,
        each.argument_count,
    )


@pytest.mark.slow
def test_donation_and_sharding_are_judged(pairs: Path) -> None:
    """Of the same inputs: what became of them is of the program's making."""
    donation = report_on(pairs, "decoder_base", "gen_donation")
    assert told(donation) == ("fail", 1, "worse", "more_bytes", 12_582_912)
    sharding = report_on(pairs, "sharded_base", "mesh_weights")
    assert told(sharding) == ("fail", 1, "worse", "more_bytes", 24_117_264)


@pytest.mark.slow
@pytest.mark.parametrize("candidate", PROGRAMS["decoder"])
def test_queries_and_reports_agree(pairs: Path, candidate: str) -> None:
    (program,) = report_on(pairs, "decoder_base", candidate).programs
    with connect(pairs) as connection:
        asked = {"base": "decoder_base", "candidate": candidate}
        (row,) = run_query(connection, "peak_regressions", asked).dicts()
    assert (row["verdict"], row["rule"], row["delta_reserved_bytes"]) == (
        program.change,
        program.rule,
        program.delta_bytes,
    )


@pytest.mark.slow
def test_forms_warn(pairs: Path) -> None:
    report = report_on(pairs, "decoder_base", "gen_capacity")
    assert '"verdict": "warn"' in renderer("json")(report)
    assert "::warning title=hlodb changed_inputs" in renderer("github")(report)
    assert '"level": "warning"' in renderer("sarif")(report)
    assert 'skipped message="warning: jit_generate CPU memory' in renderer("junit")(
        report
    )
    assert 'verdict="warn"' in renderer("openmetrics")(report)
    assert "WARN" in renderer("text")(report)


def test_edits_beside_new_inputs_are_a_regression(tmp_path: Path) -> None:
    """A new argument of 15 MiB excuses no 5 GiB, and is itself below the floor."""
    names = ("average_and_states", "average")
    path = ingested("selective_scan", tmp_path, *names)
    both, alone = (report_on(path, "base", name) for name in names)
    assert told(both)[:4] == ("fail", 1, "changed", "other_inputs")
    assert both.headline == (
        "❌ 1 regression (1 gate failed): jit_train_step CPU memory grew 3.32 → 8.35"
        " GiB (+5.03 GiB, +151.5 %), cause: likely ssm.py:51 selective_scan: the loop"
        " also stores f32[64,4,128,768,16]; and inputs changed: averaged weights new"
        " (ema['layers'][0]['inp'] and 42 more)"
    )
    gates = {g.gate: g for g in both.gates}
    base = 8_968_208_448 - 5_387_088_004
    regression = gates["regression"]
    assert (regression.value, regression.limit) == (
        8_968_208_448,
        base + round(0.005 * base),
    )
    assert gates["changed_inputs"].status == "pass"
    assert told(alone)[:2] == ("pass", 0)
    ignored = report_on(path, "base", names[0], "[gates]\nregression = false")
    assert told(ignored)[:2] == ("warn", 0)


@pytest.mark.slow
def test_one_more_layer_is_not_blamed_on_recomputation(tmp_path: Path) -> None:
    """It recomputes half as much again, as it has half as many layers again."""
    with tarfile.open(PAIRS / "lm-cpu.tar.xz") as archive:
        archive.extractall(tmp_path)
    path = tmp_path / "hlodb.duckdb"
    for run in ("base", "lm_layers"):
        folder = str(tmp_path / "lm-cpu" / run)
        ingest([folder], path, request=RunRequest(name=run), jobs=1)
    (finding,) = report_on(path, "base", "lm_layers").findings
    assert finding.cause is not None
    assert finding.cause.title == (
        "59 new buffers, 8 of mul, multiply_convert_fusion, add (+9.07 MiB, others"
        " +8.75 MiB, net +17.82 MiB)"
    )
