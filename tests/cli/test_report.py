"""`hlodb report`, `diff` and `triage`: what they print, keep and return."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.cli import main
from hlodb.reports.render import FORMATS
from tests.reports.situations import EVAL, GROWN, MIB, STEP, WORK, night
from tests.reports.worlds import World, make


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A regression in the second of two nights; the settings file is empty."""
    monkeypatch.chdir(tmp_path)
    return build(tmp_path, night(1, STEP, EVAL), night(2, GROWN, EVAL))


def build(folder: Path, *worlds: World) -> Path:
    return make(folder / "hlodb.duckdb", *worlds)


def configure(text: str) -> None:
    Path("hlodb.toml").write_text(text)


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["triage", "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def headline(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.partition("\n")[0]


def test_a_regression_fails(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 1
    assert headline(capsys) == (
        "❌ 1 regression (1 gate failed): jit_step host +2.00 MiB (+50.0 %), cause:"
        " 1 new buffer of exp (+2.00 MiB); 1 same"
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--warn-only"], 0),
        (["--fail-on", "none"], 0),
        (["--fail-on", "quality"], 0),
        (["--fail-on", "budget"], 0),
        (["--fail-on", "regression"], 1),
        (["--run", "night-1"], 4),
        (["--run", "night-1", "--allow-empty"], 0),
        (["--run", "night-9"], 2),
        (["--series", "weekly"], 4),
        (["--series", "weekly", "--allow-empty"], 0),
        (["--config", "missing.toml"], 2),
        (["--write", "pdf=x"], 2),
        (["--write", "json=no/such/folder/x"], 2),
        (["--db", "missing.duckdb"], 2),
    ],
)
def test_exit_codes(nights: Path, arguments: list[str], code: int) -> None:
    assert main(["report", "--no-record", *arguments]) == code


def test_a_budget_fails_where_nothing_else_does(nights: Path) -> None:
    configure('[[budget]]\nprogram = "jit_eval"\nspace = "host"\nbytes = "4 MiB"\n')
    assert main(["report", "--fail-on", "budget"]) == 1
    configure('[[budget]]\nprogram = "jit_eval"\nspace = "host"\nbytes = "5 MiB"\n')
    assert main(["report", "--fail-on", "budget"]) == 0


def test_a_mistake_in_the_settings_names_its_line(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("[floors]\n\nratio = 7\n")
    assert main(["report"]) == 2
    assert capsys.readouterr().err == (
        "hlodb: hlodb.toml:3: 'ratio' must be a share from 0 to 1, not 7\n"
    )


def test_rejected_data_leaves_the_verdict_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, STEP, rejects=("cut_off",)))
    assert main(["report"]) == 3
    configure("[quality]\nmax_rejects = 1\n")
    assert main(["report"]) == 0


@contextmanager
def held_open(path: Path) -> Iterator[None]:
    """Another process has the warehouse open for writing."""
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]);"
        " print('held', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate()


def test_a_locked_warehouse(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HLODB_LOCK_TIMEOUT", "0")
    with held_open(nights):
        assert main(["report"]) == 5


def test_every_form_to_its_file_in_one_go(nights: Path, tmp_path: Path) -> None:
    wanted = [f"--write={form}={tmp_path}/out.{form}" for form in FORMATS]
    assert main(["report", "--output", "out.main", *wanted]) == 1
    for form in FORMATS:
        assert (tmp_path / f"out.{form}").stat().st_size > 0
    assert (tmp_path / "out.main").read_text() == (tmp_path / "out.text").read_text()


def test_a_report_is_the_same_before_and_after_it_is_recorded(
    nights: Path, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        main(["report", "--format", "json", "-o", name])
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_two_schedulers_record_a_finding_once(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report"])
    main(["report"])
    (finding,) = listed(capsys)
    assert (finding["status"], finding["seen_count"]) == ("open", 1)
    assert (finding["program"], finding["delta_bytes"]) == ("jit_step", 2 * MIB)


def test_a_proposed_budget_is_what_is_needed_and_never_more(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--propose-budgets", "-o", "hlodb.toml"]) == 0
    assert "bytes = 6291456" in (tmp_path / "hlodb.toml").read_text()
    assert main(["report", "--fail-on", "budget"]) == 0
    tight = (tmp_path / "hlodb.toml").read_text().replace("6291456", "5000000")
    configure(tight)
    assert main(["report", "--fail-on", "budget"]) == 1
    capsys.readouterr()
    main(["report", "--propose-budgets"])
    assert capsys.readouterr().out == tight


# --- Triage -------------------------------------------------------------------


def decide(finding: str, *arguments: str) -> int:
    return main(["triage", finding, *arguments])


def test_accepted_is_the_new_normal(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report"]) == 1
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"][:6], "accept", "--reason", "needed") == 0
    assert main(["report"]) == 0
    assert headline(capsys) == "✅ no regression; 1 accepted; 1 same"
    assert decide(finding["finding_id"], "reopen") == 0
    assert main(["report"]) == 1


def test_what_still_stands_is_told_until_somebody_decides(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, GROWN))
    assert main(["report"]) == 0
    assert "Still there: jit_step host +2.00 MiB" in capsys.readouterr().out
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"], "accept", "--reason", "needed") == 0
    assert main(["report"]) == 0
    assert "Still there" not in capsys.readouterr().out


def test_a_rise_that_was_undone_is_not_open(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, STEP))
    assert main(["report", "--run", "night-2"]) == 1
    assert [f["status"] for f in listed(capsys)] == ["open"]
    assert main(["report"]) == 0
    statuses = {f["first_run"]: (f["status"], f["seen_count"]) for f in listed(capsys)}
    assert statuses == {"night-2": ("undone", 1), "night-3": ("open", 1)}


def test_a_decision_holds_for_what_it_was_about(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not for what grows upon it, since the same run, by more than the floors."""
    monkeypatch.chdir(tmp_path)
    sizes = [8 * MIB, 16 * MIB, 17 * MIB - 1, 17 * MIB]
    programs = [
        replace(STEP, buffers=(replace(WORK, size=size),), text=f"{size}")
        for size in sizes
    ]
    build(tmp_path, *(night(number, p) for number, p in enumerate(programs, 1)))
    against = ("report", "--baseline", "night-1", "--run")
    assert main([*against, "night-2"]) == 1
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"], "accept", "--reason", "needed") == 0
    assert [main([*against, f"night-{n}"]) for n in (2, 3)] == [0, 0]
    capsys.readouterr()
    assert main([*against, "night-4"]) == 1
    assert "accepted at 16.00 MiB, grown since" in capsys.readouterr().out
    assert decide(finding["finding_id"], "accept", "--reason", "that too") == 0
    assert main([*against, "night-4"]) == 0


def test_a_decision_follows_its_finding_to_a_night_that_comes_late(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And stays with it: reopened, the finding doesn't take up the older one again."""
    monkeypatch.chdir(tmp_path)
    path = build(tmp_path, night(1, STEP), night(2, GROWN), night(3, GROWN))
    set_night = "UPDATE runs SET series = ?, ingested_at = ? WHERE name = 'night-2'"
    with duckdb.connect(str(path)) as connection:
        connection.execute(set_night, ["elsewhere", None])
    assert main(["report", "--series", "nightly"]) == 1
    (first,) = listed(capsys)
    assert decide(first["finding_id"], "accept", "--reason", "needed") == 0
    with duckdb.connect(str(path)) as connection:
        connection.execute(set_night, ["nightly", datetime(2027, 2, 1)])
    assert main(["report", "--series", "nightly"]) == 0
    assert "Still there" not in capsys.readouterr().out
    told = {f["first_run"]: (f["status"], f["reason"]) for f in listed(capsys)}
    assert told == dict.fromkeys(("night-2", "night-3"), ("accepted", "needed"))
    (now,) = [f for f in listed(capsys) if f["first_run"] == "night-2"]
    assert decide(now["finding_id"], "reopen") == 0
    assert main(["report", "--series", "nightly"]) == 0
    assert "Still there" in capsys.readouterr().out


def test_a_waiver_of_triage_ends_on_its_day(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report"])
    (finding,) = listed(capsys)
    key = finding["finding_id"]
    waive = ("waive", "--until", "2027-02-01", "--reason", "a kernel is coming")
    assert decide(key, *waive, "--by", "me") == 0
    assert main(["report", "--today", "2027-01-31"]) == 0
    assert main(["report", "--today", "2027-02-01"]) == 1
    (finding,) = listed(capsys)
    told = [finding[k] for k in ("status", "reason", "until", "actor")]
    assert told == ["waived", "a kernel is coming", "2027-02-01", "me"]


def test_a_finding_keeps_its_id_while_the_difference_stands(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    later = replace(GROWN, text="reordered")
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, later))
    main(["report", "--run", "night-2"])
    (first,) = listed(capsys)
    main(["report", "--baseline", "night-1"])
    main(["report"])
    (again,) = listed(capsys)
    assert again["finding_id"] == first["finding_id"]
    assert (again["first_run"], again["seen_count"]) == ("night-2", 3)


@pytest.mark.parametrize(
    "arguments",
    [
        ["000000", "accept", "--reason", "x"],
        ["000000"],
        ["000000", "accept"],
        ["000000", "waive", "--reason", "x"],
        ["000000", "fixed", "--until", "2027-01-01"],
        ["000000", "forget"],
    ],
)
def test_triage_says_what_it_needs(nights: Path, arguments: list[str]) -> None:
    assert main(["triage", *arguments]) == 2


def test_findings_are_a_table_like_any_other(nights: Path) -> None:
    main(["report"])
    with duckdb.connect(str(nights), read_only=True) as connection:
        rows = connection.execute(
            "SELECT program, change, cause_key, event FROM findings"
            " JOIN finding_events USING (finding_id)"
        ).fetchall()
    assert rows == [("jit_step", "worse", "fusion/new/exp", "seen")]


# --- Diff -------------------------------------------------------------------


def test_a_diff_explains_and_does_not_judge(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "night-1", "night-2"]) == 0
    assert headline(capsys) == (
        "± 1 worse: jit_step host +2.00 MiB (+50.0 %), cause: 1 new buffer of exp"
        " (+2.00 MiB); 1 same"
    )


def test_a_diff_of_unsound_data_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it found is told behind that, since a cut file makes programs smaller."""
    monkeypatch.chdir(tmp_path)
    cut = {"rejects": ("bad_line",)}
    build(tmp_path, night(1, GROWN), night(2, STEP, **cut), night(3, **cut))
    assert main(["diff", "night-1", "night-2"]) == 3
    unsound = "❓ unknown: the data is not sound (1 place, first reject bad_line)"
    assert headline(capsys) == f"{unsound}; as it stands, nothing worse; 1 improved"
    assert main(["diff", "night-1", "night-3"]) == 3
    assert headline(capsys) == unsound
    assert main(["report", "--run", "night-2"]) == 3
    assert headline(capsys) == unsound


def test_a_diff_of_one_program_and_of_two(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "night-1:jit_eval", "night-2:jit_eval"]) == 0
    assert headline(capsys) == "± nothing worse; 1 same"
    two = ["diff", "night-1:jit_eval", "night-1:jit_step", "--format", "json"]
    assert main(two) == 0
    (row,) = json.loads(capsys.readouterr().out)["programs"]
    names = (row["base_program"], row["program"], row["delta_bytes"])
    assert names == ("jit_eval", "jit_step", -MIB)


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        (["night-1", "night-9"], 2),
        (["night-1:", "night-2"], 2),
    ],
)
def test_what_a_diff_can_not_do(nights: Path, sides: list[str], code: int) -> None:
    assert main(["diff", *sides]) == code


@pytest.mark.parametrize(
    "sides",
    [
        ["night-1:jit_stp", "night-2"],
        ["night-1:jit_stp", "night-2:jit_step"],
        ["night-2", "night-1:jit_stp"],
    ],
)
def test_a_diff_of_a_program_that_its_run_does_not_hold(
    nights: Path, capsys: pytest.CaptureFixture[str], sides: list[str]
) -> None:
    assert main(["diff", *sides]) == 2
    said = "hlodb: run night-1 has no program 'jit_stp'; did you mean jit_step?\n"
    assert capsys.readouterr().err == said


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


@pytest.mark.parametrize(
    ("program", "space", "said"),
    [
        ("*", "host", []),
        ("jit_none", "host", ["The budget of jit_none fits no program of this run."]),
        (
            "jit_eval",
            "HBM",
            [
                "The budget of jit_eval for HBM fits nothing of this run,"
                " which uses host."
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
