"""`hlodb triage`: what is decided about findings, and how long it holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import main
from tests.cli.nights import build, headline, listed
from tests.reports.situations import GROWN, MIB, STEP, WORK, night


def decide(finding: str, *arguments: str) -> int:
    return main(["triage", finding, *arguments])


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("decision", ["acknowledge", "fixed"])
def test_a_decision_that_allows_nothing_leaves_a_regression_one(
    nights: Path, capsys: pytest.CaptureFixture[str], decision: str
) -> None:
    assert main(["report"]) == 1
    before = headline(capsys)
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"], decision) == 0
    assert main(["report"]) == 1
    assert headline(capsys) == before
    assert before.startswith(
        "❌ 1 regression (1 gate failed): jit_step CPU memory +2.00 MiB"
    )


@pytest.mark.slow
def test_a_duplicate_is_counted(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report"])
    (finding,) = listed(capsys)
    decide(finding["finding_id"], "duplicate", "--reason", "of 06d73e61")
    assert main(["report"]) == 0
    assert headline(capsys) == "✅ no regression; 1 duplicate; 1 same"


@pytest.mark.slow
def test_what_still_stands_is_told_until_somebody_decides(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, GROWN))
    assert main(["report"]) == 0
    assert "Still open: jit_step CPU memory +2.00 MiB" in capsys.readouterr().out
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"], "accept", "--reason", "needed") == 0
    assert main(["report"]) == 0
    assert "Still open" not in capsys.readouterr().out


def test_whoever_names_a_base_hears_of_no_other_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, GROWN), night(4, STEP))
    last = ["report", "--run", "night-3"]
    assert main(last) == 0
    assert "Still open: jit_step CPU memory +2.00 MiB" in capsys.readouterr().out
    assert main([*last, "--baseline", "night-2"]) == 0
    assert "Still open" not in capsys.readouterr().out
    # The rise is a finding of this run, and fails its gate.
    assert main([*last, "--baseline", "night-1"]) == 1
    assert "+2.00 MiB" in headline(capsys)
    assert main(["report"]) == 0
    assert "1 back at its level" in headline(capsys)
    assert main(["report", "--baseline", "night-3"]) == 0
    assert headline(capsys) == "✅ no regression; 1 improved"


@pytest.mark.slow
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
    assert statuses == {"night-2": ("undone", 1), "night-3": ("noted", 1)}


@pytest.mark.slow
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

    def status() -> object:
        return {f["finding_id"]: f["status"] for f in listed(capsys)}[
            finding["finding_id"]
        ]

    assert [main([*against, f"night-{n}"]) for n in (2, 3)] == [0, 0]
    assert status() == "accepted"
    capsys.readouterr()
    assert main([*against, "night-4"]) == 1
    assert "accepted at 16.00 MiB, grown since" in capsys.readouterr().out
    assert status() == "outgrown"
    assert decide(finding["finding_id"], "accept", "--reason", "that too") == 0
    assert status() == "accepted"
    assert main([*against, "night-4"]) == 0
    assert status() == "accepted"


@pytest.mark.slow
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
    assert "Still open" not in capsys.readouterr().out
    told = {f["first_run"]: (f["status"], f["reason"]) for f in listed(capsys)}
    assert told == dict.fromkeys(("night-2", "night-3"), ("accepted", "needed"))
    (now,) = [f for f in listed(capsys) if f["first_run"] == "night-2"]
    assert decide(now["finding_id"], "reopen") == 0
    assert main(["report", "--series", "nightly"]) == 0
    assert "Still open" in capsys.readouterr().out


@pytest.mark.slow
def test_a_decision_does_not_cover_a_rise_before_it_that_came_late(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One rise of two nights' ago turns out to be two: accepted is the last."""
    monkeypatch.chdir(tmp_path)
    programs = [
        replace(STEP, buffers=(replace(WORK, size=size * MIB),), text=f"{size}")
        for size in (3, 5, 9)
    ]
    path = build(tmp_path, *(night(n, p) for n, p in enumerate(programs, 1)))
    set_night = "UPDATE runs SET series = ?, ingested_at = ? WHERE name = 'night-2'"
    with duckdb.connect(str(path)) as connection:
        connection.execute(set_night, ["elsewhere", None])
    assert main(["report", "--series", "nightly"]) == 1
    (first,) = listed(capsys)
    assert decide(first["finding_id"], "accept", "--reason", "needed") == 0
    with duckdb.connect(str(path)) as connection:
        connection.execute(set_night, ["nightly", datetime(2027, 2, 1)])
    assert main(["report", "--series", "nightly"]) == 0
    assert "Still open: jit_step CPU memory +2.00 MiB" in capsys.readouterr().out
    told = {f["first_run"]: (f["status"], f["reason"]) for f in listed(capsys)}
    assert told == {"night-2": ("open", None), "night-3": ("accepted", "needed")}


@pytest.mark.slow
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
    keys = ("status", "reason", "until", "actor")
    for today, status in (("2027-01-31", "waived"), ("2027-02-01", "expired")):
        (finding,) = listed(capsys, "--today", today)
        told = [finding[k] for k in keys]
        assert told == [status, "a kernel is coming", "2027-02-01", "me"]


@pytest.mark.slow
def test_report_and_triage_say_alike_that_a_waiver_is_over(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Both by the day of the latest run, where no other is said."""
    monkeypatch.chdir(tmp_path)
    nights = [night(number, GROWN) for number in (2, 3)]
    path = build(tmp_path, night(1, STEP), *nights)
    assert main(["report", "--run", "night-2"]) == 1
    (finding,) = listed(capsys)
    waive = ("waive", "--reason", "a kernel is coming", "--until")
    assert decide(finding["finding_id"], *waive, "2027-01-03") == 2
    assert capsys.readouterr().err.endswith(
        "a waiver until 2027-01-03 holds for no day: the latest run is of 2027-01-03;"
        " name a later one\n"
    )
    assert decide(finding["finding_id"], *waive, "2027-01-04") == 0
    assert [f["status"] for f in listed(capsys)] == ["waived"]
    with duckdb.connect(str(path)) as connection:
        day = datetime(2027, 1, 4)
        connection.execute(
            "UPDATE runs SET started_at = ? WHERE name = 'night-3'", [day]
        )
    assert [f["status"] for f in listed(capsys)] == ["expired"]
    assert main(["report"]) == 0
    said = capsys.readouterr().out
    assert f"{finding['finding_id']} (waiver expired on 2027-01-04)." in said


@pytest.mark.slow
def test_only_what_needs_a_decision_is_open(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What vanished is undone once it is back, also where no report says so."""
    monkeypatch.chdir(tmp_path)
    evaluation = replace(STEP, name="jit_eval", source="eval")
    wide = replace(evaluation, shapes="(f32[16]{0})->f32[8]{0}", source=None)
    nights = [
        night(1, GROWN, evaluation),
        night(2, STEP),
        night(3, STEP, evaluation),
        night(4, STEP, wide),
    ]
    build(tmp_path, *nights)

    def statuses(*arguments: str) -> list[tuple[str, str, str]]:
        main(["report", *arguments])
        told = [(f["first_run"], f["change"], f["status"]) for f in listed(capsys)]
        return sorted(told)

    improved = ("night-2", "improved", "noted")
    assert statuses("--run", "night-2") == [("night-2", "failed", "open"), improved]
    third = statuses("--run", "night-3", "--baseline", "night-1")
    assert third == [("night-2", "failed", "undone"), improved]
    assert statuses()[2:] == [("night-4", "changed", "noted")]


@pytest.mark.slow
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


@pytest.mark.slow
def test_findings_are_a_table_like_any_other(nights: Path) -> None:
    main(["report"])
    with duckdb.connect(str(nights), read_only=True) as connection:
        rows = connection.execute(
            "SELECT program, change, cause_key, event FROM findings"
            " JOIN finding_events USING (finding_id)"
        ).fetchall()
    assert rows == [("jit_step", "worse", "fusion/new/exp", "seen")]


@pytest.mark.slow
def test_what_was_decided_about_is_undone_all_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Reopened it needs no decision: a later run took it back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("USER", raising=False)
    build(tmp_path, night(1, STEP), night(2, GROWN), night(3, STEP))
    assert main(["report", "--run", "night-2"]) == 1
    (finding,) = listed(capsys)
    assert decide(finding["finding_id"], "accept", "--reason", "needed") == 0
    assert main(["report"]) == 0
    assert decide(finding["finding_id"], "reopen") == 0
    (undone,) = [f for f in listed(capsys) if f["first_run"] == "night-2"]
    keys = ("status", "until", "actor", "reason")
    assert [undone[key] for key in keys] == ["undone", None, None, None]
