"""`hlodb fit`: the largest size that fits, against sizes that the law has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from tests.conftest import DATA

SIZES = DATA / "sizes"
DONATION = DATA / "changes" / "donation" / "base"


def fitted(
    capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[dict[str, Any]], str]:
    code = main(["fit", "--format", "json", *arguments])
    out, narration = capsys.readouterr()
    return code, json.loads(out or "[]"), narration


@pytest.mark.slow
def test_sizes_that_were_not_compiled_are_foretold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """JAX's memory analysis has arguments and temporaries of three other sizes."""
    _, rows, _ = fitted(capsys, str(SIZES / "cpu.tar.xz"), "--limit", "500MiB")
    laws = {(row["axis"], row["other_axes"]): row for row in rows}
    for asked in json.loads((SIZES / "cpu.json").read_text()):
        batch, length = asked["batch"], asked["length"]
        if length == 256:
            law, size = laws["4[0], 5[0]", "4[1], 5[1] = 256"], batch
        else:
            law, size = laws["4[1], 5[1]", "4[0], 5[0] = 16"], length
        needed = asked["argument_bytes"] + asked["temp_bytes"]
        promised = (
            law["constant_bytes"]
            + law["linear_bytes"] * size
            + law["quadratic_bytes"] * size**2
        )
        assert promised == pytest.approx(needed, rel=0.02), asked
        assert law["growing_part"] == "temp"
    assert laws["4[0], 5[0]", "4[1], 5[1] = 256"]["largest_size"] == 71


@pytest.mark.slow
def test_a_memory_space_has_a_name_and_a_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = str(SIZES / "v5e.tar.xz")
    _, by_name, _ = fitted(capsys, sizes, "--space", "vmem", "--limit", "128MiB")
    _, by_number, _ = fitted(capsys, sizes, "--space", "1", "--limit", "128MiB")
    assert {row["space_name"] for row in by_name} == {"VMEM"}
    assert by_name == by_number
    code, _, narration = fitted(capsys, sizes, "--space", "vram")
    assert code == 2
    assert "no memory space 'vram'" in narration
    assert "VMEM" in narration


def test_nothing_to_fit(capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, narration = fitted(capsys, str(DONATION))
    assert (code, rows) == (4, [])
    assert "Compile it at another size" in narration


def test_what_cannot_be_read_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why there are no two sizes may be that one of them was not read."""
    monkeypatch.chdir(tmp_path)
    Path("-small").mkdir()
    text = Path("-small", "module_0001.jit_f.cpu_after_optimizations.txt")
    text.write_bytes(bytes(range(256)))
    code, rows, narration = fitted(capsys, "--", "-small")
    assert (code, rows) == (4, [])
    lost = "-small: 1 place could not be read; `hlodb explain -- -small` lists them"
    assert narration.startswith(f"hlodb: {lost}\n")


def test_the_limit_is_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, narration = fitted(capsys, str(DONATION), "--limit", "much")
    assert code == 2
    assert "'--limit': 'much' is no size" in narration


def test_nothing_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fitted(capsys, str(DONATION))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_fusions_that_take_memory_at_run_time_are_narrated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes = str(SIZES / "cpu.tar.xz")
    code, rows, narration = fitted(capsys, sizes, "--limit", "500MiB")
    caveats = {row["caveat"] for row in rows}
    assert code == 0
    for caveat in caveats:
        assert "ynn_fusion" in caveat and caveat.endswith(" is not included")
        assert f"jit_train_step: {caveat}" in narration
    assert "the limit is 500.00 MiB (given by --limit)" in narration


@pytest.mark.parametrize(
    ("series", "limit", "warning"),
    [
        (
            "patches",
            "100MiB",
            "x[1] = 257 needs more than twice as much as 160, the largest compiled:"
            " compile 214 before you rely on it",
        ),
        (
            "words",
            "246MiB",
            "table[0] = 63,392 is more than twice 16,000, the largest compiled:"
            " compile 18,712 before you rely on it",
        ),
        ("edges", "103MiB", None),
    ],
)
def test_what_is_far_from_the_compiled_sizes_is_to_be_compiled(
    series: str, limit: str, warning: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Squares need twice as much long before they are twice as large."""
    dumps = str(DATA / "fits" / f"{series}.tar.xz")
    code, rows, narration = fitted(capsys, dumps, "--limit", limit)
    assert code == 0
    assert [row["is_extrapolated"] for row in rows] == [warning is not None]
    assert ("rely on it" in narration) == (warning is not None)
    assert (warning or "") in narration
