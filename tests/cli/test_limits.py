"""What `hlodb explain` and `fit` say of programs at the limits of TPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main

USABLE = {
    "TPU v2": "7.48 GiB usable of 8.00 GiB (TPU v2)",
    "TPU v3": "15.48 GiB usable of 16.00 GiB (TPU v3)",
    "TPU v4": "30.75 GiB usable of 32.00 GiB (TPU v4)",
    "TPU v4 (one core)": "15.25 GiB usable of 32.00 GiB (TPU v4 (one core))",
    "TPU v5e": "15.75 GiB usable of 16.00 GiB (TPU v5e)",
    "TPU v5p": "95.74 GiB usable of 96.00 GiB (TPU v5p)",
    "TPU v6e": "31.25 GiB usable of 32.00 GiB (TPU v6e)",
    "TPU7x": "94.75 GiB usable of 96.00 GiB (TPU7x)",
}
"""What libtpu's own messages name (`of 15.75G hbm`), of what is published."""


def explained(
    capsys: pytest.CaptureFixture[str], db: Path, run: str, *more: str
) -> list[str]:
    assert main(["explain", "--db", str(db), "--run", run, *more]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("device", list(USABLE))
def test_explain_says_first_what_was_refused(
    capsys: pytest.CaptureFixture[str], limits_warehouse: Path, device: str
) -> None:
    limit = USABLE[device]
    size = limit.partition(" usable")[0]
    head = "the compiler refused jit_total, which does not fit HBM"
    lines = explained(capsys, limits_warehouse, f"{device} exceeds")
    more = "and what the dump does not count, such as code"
    assert lines[0] == f"{device} exceeds: {head}: {size} of {limit}, {more}"
    assert lines[2] == "Refused"
    assert not any(" warn" in line for line in lines)
    lines = explained(capsys, limits_warehouse, f"{device} fits")
    reserved = f"jit_total, {size} reserved in HBM, 100.0 % of {limit}"
    assert lines[0] == f"{device} fits: {reserved}"
    page = "\n".join(lines)
    assert "16.00 GiB" not in page.replace(limit, "")


def test_one_line_says_what_the_figures_include(
    capsys: pytest.CaptureFixture[str], limits_warehouse: Path
) -> None:
    lines = explained(capsys, limits_warehouse, "TPU v5e fits")
    assert [line for line in lines if "Not included" in line] == [
        "Included: arguments, results, constants, temporaries. Not included: code,"
        " arrays kept between runs, other programs."
    ]


def test_limit_goes_before_hlodb_toml_which_goes_before_the_chip(
    capsys: pytest.CaptureFixture[str],
    limits_warehouse: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = (capsys, limits_warehouse, "TPU v5e fits")
    (tmp_path / "hlodb.toml").write_text(
        '[[device]]\ndevice = "TPU v5*"\nspace = "HBM"\nbytes = "20 GiB"\n'
    )
    assert explained(*asked)[0].endswith("78.7 % of 20.00 GiB (set in hlodb.toml)")
    of_option = explained(*asked, "--limit", "64 GiB")
    assert of_option[0].endswith(
        "24.6 % of 64.00 GiB (given by --limit); 48.25 GiB are left"
    )


def fitted(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[dict[str, Any], str]:
    code = main(["fit", "--format", "json", *arguments])
    out, narration = capsys.readouterr()
    assert code == 0, narration
    [row] = json.loads(out)
    return row, narration


@pytest.mark.slow
@pytest.mark.parametrize("device", list(USABLE))
def test_the_largest_size_is_the_one_that_libtpu_compiles(
    capsys: pytest.CaptureFixture[str], limits_dumps: Path, device: str
) -> None:
    """But for the code, less than 160 KiB, in units of 4 KiB."""
    cases = [str(limits_dumps / f"{device} {each}") for each in ("fits", "above")]
    row, narration = fitted(capsys, *cases)
    assert row["min_size"] <= row["largest_size"] < row["min_size"] + 40
    assert f"the limit is {USABLE[device]}" in narration
