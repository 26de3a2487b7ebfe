"""`hlodb diff`: what it prints and returns."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from hlodb.cli import main
from tests.cli.nights import build, headline
from tests.reports.situations import EXTRA, GROWN, MIB, STEP, WORK, night

DONATION = Path(__file__).parents[1] / "data" / "changes" / "donation"
"""Dumps of one program: `base`, and `dropped`, which donates nothing."""


@pytest.mark.slow
def test_a_diff_explains_and_does_not_judge(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "night-1", "night-2"]) == 0
    assert headline(capsys) == (
        "± 1 worse: jit_step CPU memory +2.00 MiB (+50.0 %), largest part: 1 new"
        " buffer of exp (+2.00 MiB); 1 same"
    )


@pytest.mark.slow
def test_nothing_is_too_small_for_a_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    large = replace(STEP, buffers=(replace(WORK, size=1 << 30),))
    grown = replace(large, buffers=(*large.buffers, replace(EXTRA, size=64)))
    build(tmp_path, night(1, large), night(2, grown))
    assert main(["diff", "night-1", "night-2"]) == 0
    assert headline(capsys) == (
        "± 1 worse by less than 1 MiB: jit_step CPU memory +64 B (+0.0 %), largest"
        " part: 1 new buffer of exp (+64 B)"
    )


@pytest.mark.slow
def test_a_diff_of_unsound_data_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its findings follow, since a cut file makes programs smaller."""
    monkeypatch.chdir(tmp_path)
    cut = {"rejects": ("bad_line",)}
    build(tmp_path, night(1, GROWN), night(2, STEP, **cut), night(3, **cut))
    assert main(["diff", "night-1", "night-2"]) == 3
    unsound = "❓ unknown: the data is not sound (1 reject: bad_line)"
    assert headline(capsys) == f"{unsound}; as it stands, nothing worse; 1 improved"
    assert main(["diff", "night-1", "night-3"]) == 3
    assert headline(capsys) == unsound
    assert main(["report", "--run", "night-2"]) == 3
    assert headline(capsys) == unsound


@pytest.mark.slow
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
    said = (
        "hlodb: run night-1 has no program 'jit_stp'; did you mean jit_step?"
        " It has jit_eval, jit_step\n"
    )
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("db", [[], ["--db", "../the nights/hlodb.duckdb"]])
@pytest.mark.slow
def test_commands_that_are_told_can_be_typed(
    db: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Runs may be called like options, and with blanks; the warehouse lies anywhere."""
    nights, here = tmp_path / "the nights", tmp_path / "here"
    nights.mkdir()
    here.mkdir()
    monkeypatch.chdir(here if db else nights)
    names = ("-x", "--a night", "--")
    programs = ((STEP,), (GROWN,), ())
    worlds = [
        replace(night(n, *own), name=name)
        for n, (name, own) in enumerate(zip(names, programs, strict=True), 1)
    ]
    build(nights, *worlds)
    told = []
    asked = [
        ["report", *db, "--no-record", "--run=--a night", "--baseline=-x"],
        ["diff", *db, "--", "-x", "--"],
        ["explain", *db, "--run=--a night"],
    ]
    for arguments in asked:
        main(arguments)
        lines = capsys.readouterr().out.splitlines()
        told += [line.strip()[2:] for line in lines if line.strip()[:1] == "$"]
    # What nothing recorded can't be triaged.
    commands = [c for c in dict.fromkeys(told) if " triage " not in c]
    named = "--db '../the nights/hlodb.duckdb' " if db else ""
    assert [command for command in commands if " diff " in command] == [
        f"hlodb {named}diff -- -x:jit_step '--a night:jit_step'"
    ]
    assert [main(shlex.split(command)[1:]) for command in commands] == 6 * [0]


@pytest.mark.parametrize("has_warehouse", [False, True])
def test_dumps_are_compared_as_runs_of_a_warehouse_are(
    has_warehouse: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, side in (("base", "before"), ("dropped", "after")):
        copytree(DONATION / name, side)
    if has_warehouse:
        build(tmp_path, night(1))
    files = sorted(tmp_path.rglob("*"))
    assert main(["diff", "before", "after"]) == 0
    out, err = capsys.readouterr()
    assert sorted(tmp_path.rglob("*")) == files
    note = (
        "Nothing is kept. For the commands here, keep both first: `hlodb ingest before"
        " after`."
    )
    assert err == f"hlodb: {note}\n"
    assert main(["ingest", "before", "after"]) == 0
    # Of folders and runs of one name, the runs are meant.
    capsys.readouterr()
    assert main(["diff", "before", "after"]) == 0
    of_runs, err = capsys.readouterr()
    assert err == ""
    head, notes, rest = of_runs.partition("Notes\n─────\n")
    told, _, rest_of_dumps = out.partition("Notes\n─────\n")[2].partition("`.\n")
    assert out.startswith(head + notes)
    assert " ".join(told.split()) + "`." == note
    assert rest_of_dumps.lstrip() == rest


def test_a_diff_of_dumps_needs_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    copytree(DONATION / "base", "before")
    assert main(["diff", "before", "./before"]) == 2
    assert capsys.readouterr().err == (
        "hlodb: A and B have to be one run each; together they hold 1 run: before\n"
    )
    assert main(["diff", "before", "after"]) == 2
    assert capsys.readouterr().err == (
        "hlodb: there is no file or directory after, and no warehouse at hlodb.duckdb"
        " that could have a run of that name\n"
    )
