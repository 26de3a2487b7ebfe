"""Tables, reports and progress on terminals of several widths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.pseudo_terminal import SIZES, on_terminal
from tests.conftest import DATA

ESCAPE = re.compile(r"\x1b\[\d*m")
RUNS = ["jaxlib-0.4.35", "jaxlib-0.5.3"]


def lines_of(text: str) -> list[str]:
    return ESCAPE.sub("", text).splitlines()


HIDDEN = {60: 15, 80: 13}
"""Columns of peak_by_space that do not fit; without --wide 12 are hidden anyway."""


@pytest.mark.parametrize("columns", SIZES)
def test_a_query(columns: int, demo_warehouse: Path, tmp_path: Path) -> None:
    """Names and sizes are whole, and what is left out is counted."""
    query = ["query", "peak_by_space", "-p", "run=v5e-jax-0.10.2"]
    command = [*query, "--db", str(demo_warehouse)]
    code, text = on_terminal(command, columns, tmp_path)
    lines = lines_of(text)
    hidden = HIDDEN.get(columns, 12)
    assert (code, lines[-1]) == (0, f"+{hidden} columns, shown with --wide")
    assert max(map(cell_len, lines)) <= columns
    for shown in ("jit_gpt_unrolled", "jit_gpt_fsdp", "64.23 MiB", "48.59 MiB"):
        assert shown in text
    code, wide = on_terminal([*command, "--wide"], columns, tmp_path)
    lines = lines_of(wide)
    assert (code, "thread_" in wide, "--wide" in wide) == (0, True, False)
    assert max(map(cell_len, lines)) <= columns


@pytest.mark.slow
@pytest.mark.parametrize("columns", SIZES)
def test_a_report(columns: int, demo_warehouse: Path, tmp_path: Path) -> None:
    command = ["diff", *RUNS, "--db", str(demo_warehouse)]
    code, text = on_terminal(command, columns, tmp_path)
    lines = lines_of(text)
    assert code == 0
    pasted = [line for line in lines if line.lstrip().startswith("$ ")]
    assert pasted
    assert max(cell_len(line) for line in lines if line not in pasted) <= columns
    assert "+7.43 MiB" in text
    assert "It accounts for 97 % of +7.43 MiB added." in " ".join(
        line.strip() for line in lines
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "variables", "is_coloured"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {}, False),
    ],
)
def test_colours(
    options: list[str],
    variables: dict[str, str],
    is_coloured: bool,
    demo_warehouse: Path,
    tmp_path: Path,
) -> None:
    command = ["diff", *RUNS, *options, "--db", str(demo_warehouse)]
    _, text = on_terminal(command, 120, tmp_path, **variables)
    assert ("\x1b[31m+7.43 MiB\x1b[0m" in text) == is_coloured
    assert bool(ESCAPE.search(text)) == is_coloured


@pytest.mark.slow
def test_progress_has_a_total(tmp_path: Path) -> None:
    dumps = DATA / "changes" / "donation"
    paths = [str(dumps / name) for name in ("base", "dropped")]
    code, text = on_terminal(["ingest", *paths], 120, tmp_path)
    drawn = re.findall(r"run (\d) of 2, (\d+) files?, [\d.]+ \w+ of [\d.]+ \w+", text)
    assert code == 0
    assert drawn[-1][0] == "2"
