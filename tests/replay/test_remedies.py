"""`hlodb explain --measure`: remedies that are an edit, compiled by a fake compiler.

In tests/data/changes/donation, `dropped` lacks the donation of `v`, 32 KiB, of `base`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.replay import remedies as replayed
from hlodb.replay.compare import Bytes, Space
from hlodb.replay.remedies import Outcome
from tests.conftest import DATA
from tests.replay.fake_jax import fake_python, jobs

BASE, DROPPED = (DATA / "changes" / "donation" / name for name in ("base", "dropped"))
ADVICE = (
    'Donate these arguments: jax.jit(…, donate_argnames="v") lets results take'
    " their memory."
)

UNCHANGED = "hlodb: compiling 1 of 2: unchanged\n"
EDITED = "hlodb: compiling 2 of 2: v\n"


def explained(
    capsys: pytest.CaptureFixture[str], python: Path, *arguments: str
) -> tuple[list[dict[str, Any]], str]:
    measuring = ["--measure", "--with", str(python), *arguments]
    assert main(["explain", str(DROPPED), "--format", "json", *measuring]) == 0
    out, narration = capsys.readouterr()
    [run] = json.loads(out)["runs"]
    remedies: list[dict[str, Any]] = run["answers"]["remedies"]
    return remedies, narration


def by_rule(remedies: list[dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    return {
        row["rule_id"]: (
            row["standing"], row["saved_bytes"], row["saved_reserved_bytes"]
        )
        for row in remedies
    }  # fmt: skip


def test_a_donation_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = fake_python(tmp_path / "fake", DROPPED, donated=BASE)
    remedies, narration = explained(capsys, python)
    found = by_rule(remedies)
    assert found.pop("donate") == ("measured", 32 << 10, 32 << 10)
    assert found == {}
    assert narration == UNCHANGED + EDITED
    assert [job["donate"] for job in jobs(python)] == [None, "auto"]


def test_a_remedy_that_saves_nothing_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remedies, narration = explained(capsys, fake_python(tmp_path / "fake", DROPPED))
    assert "donate" not in by_rule(remedies)
    assert narration == (
        f"{UNCHANGED}{EDITED}"
        "hlodb: left out, as it saves next to nothing once compiled: jit_update:"
        f" {ADVICE}\n"
    )


@pytest.mark.parametrize(("saved", "is_kept"), [(11, True), (9, False)])
def test_what_saves_less_than_a_hundredth_is_left_out(
    saved: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the reserved bytes; the live peak is as it was, but for a few bytes."""
    space = Space(0, "HBM")
    before, after = Bytes(1000, (), 1000), Bytes(1000 - saved, (), 999)
    monkeypatch.setattr(
        replayed, "outcomes", lambda *a, **k: [Outcome({space: before}, {space: after})]
    )
    row = {"program": "jit_f", "advice": "Donate.", "color": 0, "space_name": "HBM"}
    row |= {"is_last_resort": False}
    given: Any = None
    kept, notes = replayed.measure(given, [], [row], given)
    assert [row["saved_reserved_bytes"] for row in kept] == [saved] * is_kept
    assert len(notes) == (not is_kept)


def test_what_cannot_be_measured_stays_an_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remedies, narration = explained(capsys, fake_python(tmp_path / "fake", BASE))
    assert by_rule(remedies)["donate"] == ("estimated", 32 << 10, 32 << 10)
    assert narration == (
        f"{UNCHANGED}hlodb: not measured: jit_update: {ADVICE}"
        " (compiled again unchanged by jaxlib 0.99.0, it reserves 192.02 KiB instead"
        " of 224.02 KiB: name the release that made the dump by --with jaxlib==X)\n"
    )


def test_the_table_says_what_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = fake_python(tmp_path / "fake", DROPPED, donated=BASE)
    assert main(["explain", str(DROPPED), "--measure", "--with", str(python)]) == 0
    lines = capsys.readouterr().out.splitlines()
    [row] = [line.split(ADVICE)[0].split() for line in lines if ADVICE in line]
    assert row == ["32.00", "KiB", "32.00", "KiB", "measured", "v"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--measure"], "--measure compiles a dump again: pass its PATH"),
        ([str(DROPPED), "--with", "python"], "--with names the compiler of --measure"),
    ],
)
def test_both_options_need_a_dump(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments]) == 2
    assert message in capsys.readouterr().err
