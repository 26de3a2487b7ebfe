"""`hlodb explain --format html`: the same words as a page, with curves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.test_explain import explain
from tests.conftest import DATA
from tests.gold_reports import EXPLAINED
from tests.ingest.formats.logs.test_oom_log import TPU

DONATION = DATA / "changes" / "donation"


@pytest.mark.slow
def test_the_page_has_the_words_of_the_text_and_the_curve(tmp_path: Path) -> None:
    page = explain(tmp_path, str(EXPLAINED), "--format", "html").stdout
    text = explain(tmp_path, str(EXPLAINED)).stdout
    assert f"<h1>{text.splitlines()[0]}</h1>" in page
    cells = re.findall(r"<t[dh][^>]*>([^<]+)</t[dh]>", page)
    assert {"784.00 KiB", "p[0][0]", "f32[784,256]{1,0}"} <= set(cells)
    assert (
        "jit_zoo_mlp: CPU memory: live memory over the schedule; peak of the program"
        " 2.83 MiB at step 17." in page
    )
    assert (
        "jit_zoo_mlp: CPU memory: free of the arena at its fullest step: 0.0 % of"
        in page
    )
    assert page.count("<script>") == 1
    assert "src=" not in page


@pytest.mark.slow
def test_runs_with_programs_of_one_name_keep_their_sections_apart(
    tmp_path: Path,
) -> None:
    dumps = [str(DONATION / side) for side in ("base", "dropped")]
    page = explain(tmp_path, *dumps, "--format", "html").stdout
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count('<svg role="img"') == 2


def test_a_job_that_ran_out_of_memory_is_marked(tmp_path: Path) -> None:
    page = explain(tmp_path, "-", "--format", "html", given=TPU).stdout
    assert '<header class="fail">' in page


@pytest.mark.slow
def test_the_page_opens_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")
    output = tmp_path / "page.html"
    done = explain(tmp_path, str(EXPLAINED), "--open", "--output", str(output))
    assert (done.returncode, done.stdout) == (0, "")
    assert output.read_text().startswith("<!DOCTYPE html>")
    assert str(output) in done.stderr
