"""`hlodb report`: what it prints, keeps and returns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from hlodb.cli import main
from hlodb.reports.config.reading import read_settings
from hlodb.reports.render.forms import FORMATS
from tests.cli.nights import build, configure, headline, held_open, listed
from tests.reports.situations import EXTRA, MIB, STEP, WORK, night
from tests.reports.worlds import Program, World


@pytest.mark.slow
def test_a_regression_fails(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 1
    assert headline(capsys) == (
        "❌ 1 regression (1 gate failed): jit_step CPU memory +2.00 MiB (+50.0 %),"
        " cause:"
        " 1 new buffer of exp (+2.00 MiB); 1 same"
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--warn-only"], 0, marks=pytest.mark.slow),
        pytest.param(["--fail-on", "none"], 0, marks=pytest.mark.slow),
        pytest.param(["--fail-on", "quality"], 0, marks=pytest.mark.slow),
        (["--fail-on", "budget"], 0),
        (["--fail-on", "regression"], 1),
        (["--run", "night-1"], 0),
        (["--run", "night-1", "--allow-empty"], 0),
        (["--run", "night-9"], 2),
        (["--baseline", ""], 2),
        (["--series", ""], 2),
        (["--series", "weekly"], 4),
        (["--series", "weekly", "--allow-empty"], 0),
        (["--series", "weekly", "--warn-only"], 0),
        (["--series", "weekly", "--fail-on", "none"], 0),
        (["--config", "missing.toml"], 2),
        (["--write", "pdf=x"], 2),
        (["--write", "json=no/such/folder/x"], 2),
        (["--db", "missing.duckdb"], 2),
    ],
)
def test_exit_codes(nights: Path, arguments: list[str], code: int) -> None:
    assert main(["report", "--no-record", *arguments]) == code


@pytest.mark.slow
def test_a_budget_fails_where_nothing_else_does(nights: Path) -> None:
    configure('[[budget]]\nprogram = "jit_eval"\nspace = "host"\nbytes = "4 MiB"\n')
    assert main(["report", "--fail-on", "budget"]) == 1
    configure('[[budget]]\nprogram = "jit_eval"\nspace = "host"\nbytes = "5 MiB"\n')
    assert main(["report", "--fail-on", "budget"]) == 0


@pytest.mark.parametrize("command", ["report", "diff a b", "explain", "query run_list"])
def test_an_output_in_no_folder_is_refused_before_the_work(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even whether there is a warehouse is looked at."""
    nowhere = tmp_path / "none" / "x"
    refused = f"hlodb: cannot write {nowhere}: No such file or directory\n"
    outputs = [["-o", str(nowhere)]]
    if command == "report":
        outputs.append([f"--write=json={nowhere}"])
    for output in outputs:
        missing = ["--db", str(tmp_path / "missing.duckdb")]
        assert main([*command.split(), *missing, *output]) == 2
        assert capsys.readouterr().err == refused


@pytest.mark.slow
def test_limits_hold_on_the_first_night(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no other run is needed for is judged without one."""
    first = ["report", "--run", "night-1"]
    assert main([*first, "--propose-budgets", "-o", "hlodb.toml"]) == 0
    budgets = read_settings(tmp_path / "hlodb.toml").budgets
    assert [(b.program, b.space, b.bytes) for b in budgets] == [
        ("jit_eval", "host", 6 * MIB),
        ("jit_step", "host", 5 * MIB),
    ]
    assert main(first) == 0
    alone = '"night-1" is the first run of series "nightly"'
    assert headline(capsys) == f"✅ no gate failed; {alone}"
    tight = (tmp_path / "hlodb.toml").read_text().replace("5242880", "3145728")
    configure(tight)
    assert main([*first, "--write", "junit=tests.xml", "--write", "json=all.json"]) == 1
    assert headline(capsys) == (
        "❌ 1 gate failed: jit_step CPU memory is 1.00 MiB over the budget of 3.00 MiB;"
        f" {alone}"
    )
    report = json.loads((tmp_path / "all.json").read_text())
    assert report["findings"] == []
    assert [(g["gate"], g["program"], g["status"]) for g in report["gates"]] == [
        ("budget", "jit_eval", "pass"),
        ("budget", "jit_step", "fail"),
    ]
    cases = ET.parse(tmp_path / "tests.xml").getroot().iter("testcase")
    assert [
        (c.get("classname"), c.get("name"), [e.tag for e in c if e.tag != "properties"])
        for c in cases
    ] == [
        ("hlodb.budget", "jit_eval host", []),
        ("hlodb.budget", "jit_step host", ["failure"]),
        ("hlodb.regression", "jit_eval host", ["skipped"]),
        ("hlodb.regression", "jit_step host", ["skipped"]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            0.5,
            "❌ 1 gate failed: fragmentation of jit_step; 1 with other inputs",
        ),
        (
            1.0,
            "⚠️ jit_step CPU memory grew 4.00 → 22.00 MiB (+18.00 MiB, +450.0 %), inputs"
            " changed;"
            " no regression",
        ),
    ],
)
def test_limits_hold_where_inputs_changed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: float,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    now = Program("jit_step", (WORK, replace(EXTRA, offset=20 * MIB)), "()->()", None)
    build(tmp_path, night(1, replace(STEP, source=None)), night(2, now))
    assert main(["report", "--no-record"]) == 0
    capsys.readouterr()
    configure(f"[gates]\nfragmentation_ratio = {limit}\n")
    command = ["report", "--no-record", "--write", "json=all.json"]
    assert main(command) == (1 if limit < 1 else 0)
    assert headline(capsys) == said
    gates = json.loads((tmp_path / "all.json").read_text())["gates"]
    assert [g["gate"] for g in gates if g["status"] != "pass" or g["program"]] == (
        ["changed_inputs", "fragmentation"] if limit < 1 else ["changed_inputs"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("worlds", "code", "verdict", "gates"),
    [
        ([night(1)], 4, "nothing", []),
        ([night(1, STEP), night(2)], 1, "fail", ["missing_program"]),
    ],
)
def test_without_a_program_no_limit_is_judged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    worlds: list[World],
    code: int,
    verdict: str,
    gates: list[str],
) -> None:
    """A pass would say that all is well; forms for machines say no other than text."""
    monkeypatch.chdir(tmp_path)
    build(tmp_path, *worlds)
    configure("[gates]\nrecompiles = 3\n")
    assert main(["report", "--no-record", "--format", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    found = [gate["gate"] for gate in report["gates"]]
    assert (report["verdict"], found) == (verdict, gates)


@pytest.mark.slow
def test_budgets_are_proposed_for_programs_of_the_candidate(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not for those that only the base has."""
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2))
    assert main(["report", "--propose-budgets"]) == 0
    nothing = "# The candidate holds no program with a buffer assignment.\n"
    assert capsys.readouterr().out == nothing


@pytest.mark.slow
def test_what_is_unsound_in_a_run_against_itself_is_told_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, replace(STEP, printed=17)))
    assert main(["report", "--baseline", "night-1"]) == 3
    assert headline(capsys) == ("❓ unknown: the data is not sound (1 fault: total)")


@pytest.mark.slow
def test_the_first_night_says_what_programs_need(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--run", "night-1", "--no-record"]) == 0
    sections = capsys.readouterr().out.split("\n\n")
    (programs,) = [s for s in sections if s.startswith("Programs\n")]
    assert [re.split(r"  +", line.strip()) for line in programs.splitlines()[2:]] == [
        ["program", "space", "reserved", "live peak", "fragmentation", "padding"],
        ["jit_eval", "CPU memory", "5.00 MiB", "5.00 MiB", "0 B", "0 B"],
        ["jit_step", "CPU memory", "4.00 MiB", "4.00 MiB", "0 B", "0 B"],
    ]


@pytest.mark.slow
def test_the_first_night_knows_nothing_of_a_base(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """How often the base compiled a program is not 0 where there is no base."""
    monkeypatch.chdir(tmp_path)
    larger = replace(STEP, buffers=(WORK, EXTRA))
    build(tmp_path, night(1, STEP, larger))
    assert main(["report", "--no-record"]) == 0
    sections = capsys.readouterr().out.split("\n\n")
    (health,) = [s for s in sections if s.startswith("Compile health\n")]
    assert [re.split(r"  +", line.strip()) for line in health.splitlines()[2:]] == [
        ["what", "name", "base", "candidate"],
        ["recompiled", "jit_step", "-", "2"],
        ["nondeterministic", "jit_step", "-", "2.00 MiB"],
    ]


OF_TWO = ": its history has 2 comparable runs, the candidate included."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("series", "said"),
    [
        ("nightly", ' Series "nightly"' + OF_TWO),
        (
            "weekly",
            ' Series "weekly": its history has 1 comparable run, the candidate'
            " included.",
        ),
        (None, ""),
    ],
)
def test_a_run_that_is_named_is_of_its_own_series(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    series: str | None,
    said: str,
) -> None:
    """Whatever series hlodb.toml takes runs from that nobody names.

    The first of a series follows runs of others, which are not of its history.
    """
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, STEP, series=series))
    configure('[report]\nseries = "nightly"\n')
    assert main(["report", "--no-record", "--run", "night-2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (compared,) = [line for line in lines if line.startswith("Candidate ")]
    assert compared == (
        'Candidate "night-2", base "night-1": the latest comparable run before.' + said
    )


def test_a_mistake_in_the_settings_names_its_line(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("[floors]\n\nratio = 7\n")
    assert main(["report"]) == 2
    assert capsys.readouterr().err == (
        "hlodb: hlodb.toml:3: 'ratio' must be a share from 0 to 1, not 7\n"
    )


@pytest.mark.slow
def test_rejected_data_leaves_the_verdict_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, STEP, rejects=("cut_off",)))
    assert main(["report"]) == 3
    configure("[quality]\nmax_rejects = 1\n")
    assert main(["report"]) == 0


def test_a_locked_warehouse(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", "0")
    with held_open(nights):
        assert main(["report"]) == 5


@pytest.mark.slow
def test_what_is_staged_is_told_to_be_missing(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    staged = nights.with_name(f"{nights.name}.staged")
    staged.mkdir()
    assert main(["report"]) == 1
    assert capsys.readouterr().err == ""
    (staged / "night-3-0").mkdir()
    assert main(["report"]) == 1
    assert capsys.readouterr().err == (
        f"hlodb: runs staged in {staged.name} are not in this report; `hlodb ingest`"
        " without a PATH absorbs them\n"
    )


@pytest.mark.slow
def test_every_form_to_its_file_in_one_go(nights: Path, tmp_path: Path) -> None:
    wanted = [f"--write={form}={tmp_path}/out.{form}" for form in FORMATS]
    assert main(["report", "--output", "out.main", *wanted]) == 1
    for form in FORMATS:
        assert (tmp_path / f"out.{form}").stat().st_size > 0
    assert (tmp_path / "out.main").read_text() == (tmp_path / "out.text").read_text()


@pytest.mark.slow
def test_a_report_is_the_same_before_and_after_it_is_recorded(
    nights: Path, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        main(["report", "--format", "json", "-o", name])
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.slow
def test_two_schedulers_record_a_finding_once(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report"])
    main(["report"])
    (finding,) = listed(capsys)
    assert (finding["status"], finding["seen_count"]) == ("open", 1)
    assert (finding["program"], finding["delta_bytes"]) == ("jit_step", 2 * MIB)


@pytest.mark.slow
def test_a_proposed_budget_is_what_is_needed_and_the_floor(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What no report calls a regression fails no budget."""
    assert main(["report", "--propose-budgets", "-o", "hlodb.toml"]) == 0
    proposed = (tmp_path / "hlodb.toml").read_text()
    assert proposed.startswith(
        "# What night-2 needs, and 1.00 MiB more, or 0.5 % where that is more.\n"
        "# Programs below 10 % of the largest have none, unless they fell.\n"
    )
    assert "bytes = 7340032" in proposed
    assert main(["report", "--fail-on", "budget"]) == 0
    tight = proposed.replace("7340032", "5000000")
    configure(tight)
    assert main(["report", "--fail-on", "budget"]) == 1
    capsys.readouterr()
    main(["report", "--propose-budgets"])
    nothing = "# No budget of what night-2 needs is missing, or could be lower.\n"
    assert capsys.readouterr().out == nothing


@pytest.mark.slow
def test_proposed_budgets_are_added_to_those_that_are_there(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `>> hlodb.toml` does it, as often as one likes; a lower one goes before."""
    loose = '[[budget]]\nprogram = "jit_step"\nspace = "host"\nbytes = 9000000\n'
    configure(loose)
    for _ in range(3):
        main(["report", "--propose-budgets"])
        configure((tmp_path / "hlodb.toml").read_text() + capsys.readouterr().out)
    budgets = [
        (b.program, b.bytes) for b in read_settings(tmp_path / "hlodb.toml").budgets
    ]
    assert budgets == [
        ("jit_step", 9000000), ("jit_eval", 6 * MIB), ("jit_step", 7 * MIB)
    ]  # fmt: skip
    main(["report", "--propose-budgets", "-o", "hlodb.toml"])
    assert "would replace all of its settings" in capsys.readouterr().err
    assert read_settings(tmp_path / "hlodb.toml").budgets


@pytest.mark.slow
def test_a_dash_is_the_standard_output(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "--format", "csv", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("run,")
    main(["report", "--no-record", "--write", "csv-gates=-", "-o", "-"])
    out = capsys.readouterr().out
    main(["report", "--no-record", "--format", "csv-gates"])
    gates = capsys.readouterr().out
    main(["report", "--no-record"])
    assert out == gates + capsys.readouterr().out
    assert not Path("-").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "space", "said"),
    [
        ("*", "host", []),
        (
            "jit_none",
            "host",
            ["The budget of jit_none matches no program of this run."],
        ),
        (
            "jit_eval",
            "HBM",
            [
                "The budget of jit_eval for HBM matches no memory space of this run,"
                " which uses CPU memory."
            ],
        ),
    ],
)
def test_a_budget_that_fits_nothing_is_noted(
    nights: Path,
    capsys: pytest.CaptureFixture[str],
    program: str,
    space: str,
    said: list[str],
) -> None:
    budget = f'program = "{program}"\nspace = "{space}"\nbytes = "1 GiB"\n'
    configure(f"[[budget]]\n{budget}")
    assert main(["report", "--no-record", "--warn-only", "--format", "json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert [note for note in notes if "budget" in note] == said


@pytest.mark.slow
@pytest.mark.parametrize("command", [["report"], ["diff", "night-1", "night-2"]])
def test_the_page_opens_in_the_browser(
    command: list[str],
    nights: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    output = nights.parent / "page.html"
    assert main([*command, "--open", "-o", str(output)]) in (0, 1)
    out, err = capsys.readouterr()
    assert (out, opened) == ("", [output.as_uri()])
    assert f"the page is {output}" in err
    assert output.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_helpers_get_no_budget(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    small = replace(STEP, name="jit_stage", buffers=(replace(WORK, size=8),))
    build(tmp_path, night(1, STEP, small))
    assert main(["report", "--propose-budgets", "-o", "hlodb.toml"]) == 0
    budgets = read_settings(tmp_path / "hlodb.toml").budgets
    assert [(b.program, b.bytes) for b in budgets] == [("jit_step", 5 * MIB)]


@pytest.mark.slow
def test_what_fell_gets_a_budget_and_none_is_above_one_in_force(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where the budget in force has the former name of the program."""
    monkeypatch.chdir(tmp_path)
    small = Program("jit_small", (replace(WORK, size=3 * MIB),), text="small")
    less = replace(small, buffers=(replace(WORK, size=MIB),), text="less")
    large = Program("jit_old", (replace(WORK, size=50 * MIB),), text="large")
    build(
        tmp_path, night(1, large, small), night(2, replace(large, name="jit_k"), less)
    )
    budget = f'[[budget]]\nprogram = "jit_old"\nspace = "host"\nbytes = {50 * MIB}\n'
    configure(budget)
    assert main(["report", "--propose-budgets"]) == 0
    configure(budget + capsys.readouterr().out)
    budgets = read_settings(tmp_path / "hlodb.toml").budgets
    assert [(b.program, b.bytes) for b in budgets] == [
        ("jit_old", 50 * MIB),
        ("jit_small", 2 * MIB),
    ]
    assert main(["report", "--propose-budgets"]) == 0
    assert "[[budget]]" not in capsys.readouterr().out


@pytest.mark.slow
def test_several_budgets_of_a_program_are_one_gate(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {"jit_*": 9 * MIB, "jit_step": 8 * MIB}
    configure(
        "".join(
            f'[[budget]]\nprogram = "{name}"\nspace = "host"\nbytes = {size}\n'
            for name, size in sizes.items()
        )
    )
    main(["report", "--no-record", "--format", "json"])
    gates = json.loads(capsys.readouterr().out)["gates"]
    assert [(g["program"], g["limit"]) for g in gates if g["gate"] == "budget"] == [
        ("jit_eval", 9 * MIB),
        ("jit_step", 8 * MIB),
    ]
