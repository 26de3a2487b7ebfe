"""The first run of a series, and growth with other inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.cli import main
from tests.cli.nights import build
from tests.reports.situations import EVAL, GROWN, STEP, night

OTHER_INPUTS = replace(GROWN, source=None, shapes="(f32[16]{0})->f32[8]{0}")


@pytest.mark.slow
def test_the_first_run_of_a_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, STEP, EVAL))
    assert main(["report", "--no-record"]) == 0
    first, *_, before, command = (
        capfd.readouterr().out.partition("\n\nWhat was")[0].splitlines()
    )
    assert first == (
        '⚪ nothing to compare yet: "night-1" is the first run of series "nightly"'
    )
    assert before.startswith("Next: ingest another run and report again.")
    printed = "hlodb report --run night-1 --propose-budgets"
    assert command == f"$ {printed} >> hlodb.toml"
    assert main(printed.split()[1:]) == 0
    assert "[[budget]]" in capfd.readouterr().out


@pytest.mark.slow
def test_growth_with_other_inputs_is_never_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = night(1, replace(STEP, source=None), EVAL)
    build(tmp_path, before, night(2, OTHER_INPUTS, EVAL))
    assert main(["report", "--no-record"]) == 0
    text = capfd.readouterr().out
    first, _, _, _, why, *_ = text.splitlines()
    assert first == (
        "⚠️ jit_step CPU memory grew 4.00 → 6.00 MiB (+2.00 MiB, +50.0 %), inputs"
        " changed; no regression; 1 same"
    )
    assert why == "Why: inputs changed; largest part: 1 new buffer of exp (+2.00 MiB)."
    assert "Likely cause" not in text.partition("What was compared")[0]
    assert main(["report", "--no-record", "--format", "html"]) == 0
    assert '<header class="warn">' in capfd.readouterr().out


@pytest.mark.slow
def test_growth_with_other_inputs_fails_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build(tmp_path, night(1, replace(STEP, source=None)), night(2, OTHER_INPUTS))
    assert main(["report", "--no-record"]) == 0
    assert capfd.readouterr().out.splitlines()[0] == (
        "⚠️ jit_step CPU memory grew 4.00 → 6.00 MiB (+2.00 MiB, +50.0 %), inputs"
        " changed; no regression"
    )
    Path("hlodb.toml").write_text('[gates]\nchanged_inputs = "fail"\n')
    assert main(["report", "--no-record"]) == 1
    assert capfd.readouterr().out.startswith("❌ ")
