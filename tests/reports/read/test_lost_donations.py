"""Donations that are lost while the inputs of a program change, or little memory moves.

tests/data/newcomers/donations.tar.xz has a training step whose moments get half the
width: see make_donations.py beside it. In tests/data/changes/zoo-donation, `dropped`
lacks a donation of 1.03 MiB of `base`, and needs 533 KiB more: less than the floor.
"""

from __future__ import annotations

import json
import tarfile
from datetime import datetime
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.brief import brief
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.cli.nights import configure, headline, listed
from tests.conftest import DATA
from tests.newcomers import ingested
from tests.reports.pages import read_page


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested("donations", tmp_path_factory.mktemp("donations"))


def report_on(path: Path, candidate: str) -> Report:
    with connect(path) as connection:
        request = Request(candidate, "base", shown=frozenset())
        return build_report(connection, request, Settings())


def test_other_inputs_hide_no_lost_donation(steps: Path) -> None:
    """Weights of 4 MiB and moments of 2 MiB could still be donated."""
    report = report_on(steps, "narrow")
    assert (report.verdict, report.exit_code) == ("fail", 1)
    assert report.headline == (
        "❌ 1 regression (2 gates failed): jit_step CPU memory grew 12.38 → 14.13 MiB"
        " (+1.75 MiB, +14.1 %), cause: weights['inner'] and 3 more arguments no longer"
        " donated; 1 more place differs; and inputs changed: element type f32 → bf16"
        " (moments['inner'] and 1 more), against it"
    )
    # Memory grew although the inputs take less, and by what is no longer donated.
    failed = {g.gate: g.value for g in report.gates if g.status == "fail"}
    assert failed["donation_loss"] == 6 << 20
    assert set(failed) == {"donation_loss", "regression"}
    first, advice, *_ = [b.text for b in brief(report) if isinstance(b, Paragraph)]
    assert first.startswith("Why")
    assert "no longer donated" in first
    assert advice.startswith("To undo: Donate them again: ")


def test_aliases_say_what_is_lost_where_values_are_not_dumped(tmp_path: Path) -> None:
    """The weights: no result has the size that the wider moments had."""
    folder = tmp_path / "donations"
    with tarfile.open(DATA / "newcomers" / "donations.tar.xz") as archive:
        archive.extractall(tmp_path)
    for values in folder.glob("*/*-values.txt"):
        values.unlink()
    warehouse = tmp_path / "donations.duckdb"
    for name in ("base", "narrow", "narrow_donated"):
        request = RunRequest(name=name)
        ingest([str(folder / name)], warehouse, request=request, jobs=1)
    lost = {
        gate.value
        for gate in report_on(warehouse, "narrow").gates
        if gate.gate == "donation_loss"
    }
    assert lost == {4 << 20}
    [kept] = [
        gate
        for gate in report_on(warehouse, "narrow_donated").gates
        if gate.gate == "donation_loss"
    ]
    assert kept.status == "pass"


@pytest.mark.parametrize("candidate", ["narrow_donated", "widened"])
def test_what_no_argument_can_hold_is_no_lost_donation(
    steps: Path, candidate: str
) -> None:
    report = report_on(steps, candidate)
    gates = {g.gate: (g.status, g.value) for g in report.gates}
    assert gates["donation_loss"] == ("pass", 0)


def test_a_lost_donation_needs_a_decision(
    steps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["report", "--db", str(steps), "--run", "narrow", "--baseline", "base"]
    assert main(asked) == 1
    capsys.readouterr()
    assert main(["triage", "--db", str(steps), "--format", "json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["status"], finding["change"]) == ("open", "changed")
    decide = ["accept", "--db", str(steps), "--reason", "read again afterwards"]
    assert main(["triage", finding["finding_id"], *decide]) == 0
    assert main(asked) == 0


# --- Nights ------------------------------------------------------------------

OPEN = (
    "Still open: jit_zoo_mlp CPU memory: 1.03 MiB of outputs no longer take over the"
    ' memory of arguments since run "night-2", finding '
)


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ingest four nights: the second loses a donation, the fourth has it again."""
    monkeypatch.chdir(tmp_path)
    warehouse = tmp_path / "hlodb.duckdb"
    dumps = ["base", "dropped", "dropped", "base"]
    for number, dump in enumerate(dumps, 1):
        request = RunRequest(
            name=f"night-{number}",
            series="nightly",
            started_at=datetime(2027, 1, number),
        )
        path = DATA / "changes" / "zoo-donation" / f"{dump}.tar.xz"
        ingest([str(path)], warehouse, request=request, jobs=1)
    return warehouse


def said(capsys: pytest.CaptureFixture[str], night: int, code: int = 0) -> str:
    """Return what the report on a night says, each paragraph in a line."""
    capsys.readouterr()
    asked = ["report", "--run", f"night-{night}", "--format", "markdown"]
    assert main(asked) == code
    return capsys.readouterr().out.replace("\\", "")


def test_a_lost_donation_stays_open_until_it_is_back(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = said(capsys, 2, code=1)
    assert "1 gate failed: jit_zoo_mlp" in first
    assert "same" not in first.partition("\n")[0]
    assert "[d] jit_zoo_mlp CPU memory +533.04 KiB" in first
    assert "Still open" not in first
    [finding] = listed(capsys)
    assert (finding["status"], finding["change"]) == ("open", "donation_lost")
    assert f"{OPEN}{finding['finding_id']} (not triaged)." in said(capsys, 3)
    assert [f["status"] for f in listed(capsys)] == ["open"]
    assert "Still open" not in said(capsys, 4)
    statuses = {f["finding_id"]: f["status"] for f in listed(capsys)}
    assert statuses[finding["finding_id"]] == "undone"


@pytest.mark.slow
def test_a_decision_about_a_lost_donation_ends_it(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, 2, code=1)
    [finding] = listed(capsys)
    decision = ["accept", "--reason", "read again afterwards"]
    assert main(["triage", finding["finding_id"], *decision]) == 0
    assert main(["report", "--run", "night-2"]) == 0
    assert headline(capsys) == "✅ no regression; 1 accepted"
    assert "Still open" not in said(capsys, 3)


@pytest.mark.slow
def test_a_waiver_covers_a_lost_donation_while_it_lasts(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(
        "[[waiver]]\nprogram = 'jit_zoo_mlp'\ngate = 'donation_loss'\nowner = 'me'\n"
        "reason = 'planned'\nuntil = 2027-02-01\n"
    )
    assert main(["report", "--run", "night-2"]) == 0
    assert headline(capsys) == "✅ no regression; 1 waived"
    later = said(capsys, 3)
    assert "Still open" not in later
    assert "unused" not in later
    configure("[gates]\ndonation_loss = false\n")
    assert "Still open" not in said(capsys, 3)


@pytest.mark.slow
def test_code_scanning_keeps_the_alert(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def results(number: int) -> list[tuple[str, str, str]]:
        capsys.readouterr()
        main(["report", "--run", f"night-{number}", "--format", "sarif"])
        found = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        return [
            (
                each["ruleId"],
                each["baselineState"],
                each["partialFingerprints"]["hlodbFinding/v1"],
            )
            for each in found
        ]

    [(rule, state, fingerprint)] = results(2)
    assert (rule, state) == ("donation_loss", "new")
    assert results(3) == [(rule, "unchanged", fingerprint)]
    assert results(4) == []


def test_a_site_shows_the_night_that_lost_it_as_such(
    nights: Path, tmp_path: Path
) -> None:
    assert main(["site", str(tmp_path / "site")]) == 0
    titles = [
        next(read_page(page.read_text()).all("h1")).text
        for page in sorted((tmp_path / "site" / "runs").glob("night-*.html"))
    ]
    assert titles[1:] == [
        "night-2: ± jit_zoo_mlp CPU memory: 1.03 MiB of outputs no longer take over the"
        " memory of arguments",
        "night-3: ± nothing worse; 1 same",
        "night-4: ± nothing worse; 1 same",
    ]


@pytest.mark.slow
def test_a_site_shows_the_latest_night_by_its_gates(
    nights: Path, tmp_path: Path
) -> None:
    configure("[[budget]]\nprogram = 'jit_zoo_mlp'\nbytes = '1 KiB'\n")
    assert main(["site", str(tmp_path / "site")]) == 0
    page = read_page((tmp_path / "site" / "index.html").read_text())
    [latest] = [
        row.text
        for row in page.all("tr")
        if "night-4" in row.text and "2027-01-04" in row.text
    ]
    assert "1 gate failed: jit_zoo_mlp CPU memory is" in latest
    assert "nothing worse" not in latest
