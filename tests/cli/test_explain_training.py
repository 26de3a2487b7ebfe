"""A training step that ran out of memory of a TPU v5e, by its dump and by its log.

tests/data/newcomers/training.tar.xz has two attempts, compiled by libtpu ahead of time.
`dump` died of one buffer, `dump_s1024` of the whole program, which four files report.
"""

from __future__ import annotations

import re
import tarfile
from functools import cache
from pathlib import Path

import pytest

from tests.cli import test_explain
from tests.conftest import DATA

explain = cache(test_explain.explain)
"""Several tests ask the same."""

NEEDS = (
    "jit_train_step ran out of memory in HBM: it needs 30.11 GiB of 15.75 GiB usable of"
    " 16.00 GiB (named by the log), 14.36 GiB too much"
)
ONE_BUFFER = (
    "ran out of memory in HBM: one buffer alone, bf16[24,16,8,2048,2048], 24.00 GiB,"
    " exceeds 16.00 GiB"
)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    with tarfile.open(DATA / "newcomers" / "training.tar.xz") as packed:
        packed.extractall(folder)
    return folder / "training"


def paragraphs(folder: Path, *paths: str, code: int = 0) -> list[str]:
    """Return the lines of an explanation as Markdown, without its signs."""
    done = explain(folder, *paths, "--format", "markdown")
    assert done.returncode == code
    return [line.replace("\\", "").lstrip("# ") for line in done.stdout.splitlines()]


def test_four_reports_of_one_failure_are_one(training: Path) -> None:
    said = paragraphs(training, "dump_s1024", "log_s1024.txt")
    counted = "the message counts 22.50 GiB, without arguments and results"
    assert said[0] == f"dump_s1024: {NEEDS} ({counted})"
    assert said.count("Out of memory") == 1
    assert (
        "log_s1024.txt:31: jit_train_step ran out of memory in HBM: it needs 22.50 GiB"
        " of 15.75 GiB, 6.75 GiB too much (E1000). The message leaves out arguments"
        " (3.95 GiB) and results (3.66 GiB): with them its 22.50 GiB are the 30.11 GiB"
        " that the dump reserves."
    ) in said
    assert (
        "The same failure is reported at module_0001.jit_train_step.cl_878335365."
        "oom_top_memory_consuming_instructions:1,"
        " 1795705407956099.peak_memory_tensors.txt:1,"
        " 1795705407956289.peak_memory_tensors.txt:1."
    ) in said
    # The message has the loop's own line, which the dump knows better.
    told = "Its largest buffers are listed below, with the lines that the dump has."
    assert said.count(told) == 1
    assert not any(
        line.startswith("| 6.00 GiB | 6.00 GiB | HLO temp |") for line in said
    )
    assert (
        sum(line.startswith("| 6.00 GiB | 19.9 % | while.95 |") for line in said) == 1
    )


def test_figures_that_do_not_add_up_are_both_named(training: Path) -> None:
    """The log is of another attempt than the dump."""
    said = paragraphs(training, "dump", "log_s1024.txt")
    both = "The message counts 22.50 GiB, the dump reserves 140.74 GiB."
    assert any(line.endswith(f"too much (E1000). {both}") for line in said)
    assert said[0].endswith("it needs 22.50 GiB of 15.75 GiB, 6.75 GiB too much")


def test_a_buffer_alone_is_not_what_the_program_needs(training: Path) -> None:
    said = paragraphs(training, "dump", "log.txt")
    assert said[0] == (
        "dump: jit_train_step ran out of memory in HBM: it needs 140.74 GiB of 15.75"
        " GiB usable of 16.00 GiB (TPU v5e), 124.99 GiB too much"
    )
    assert f"log.txt:31: jit_train_step {ONE_BUFFER}." in said
    alone = paragraphs(training, "log.txt")
    assert alone[0] == f"log.txt: a program {ONE_BUFFER}"


def test_a_dump_that_does_not_fit_says_so_first(training: Path) -> None:
    done = explain(training, "dump", "--color", "always")
    first = " ".join(done.stdout.split("\x1b[0m")[0].split())
    assert first.endswith(
        "dump: jit_train_step does not fit HBM: it reserves 140.74 GiB of 15.75 GiB"
        " usable of 16.00 GiB (TPU v5e), 124.99 GiB too much"
    )
    assert "\x1b[31m-124.99 GiB\x1b[0m" in done.stdout
    page = explain(training, "dump", "--format", "html").stdout
    assert '<header class="fail">' in page
    assert 'class="ceiling"' in page
    assert "limit 15.75 GiB" in page


def test_advice_says_whether_the_program_fits_then(training: Path) -> None:
    done = explain(training, "dump", "--format", "markdown")
    rows = re.findall(r"^\| [0-9.]+ GiB \| .*(?:fit |too much).*$", done.stdout, re.M)
    cells = [tuple(cell.strip() for cell in row.split("|")[1:4]) for row in rows]
    assert cells[:2] == [
        ("126.06 GiB", "126.06 GiB", "14.68 GiB, may just fit (estimated)"),
        ("73.70 GiB", "74.18 GiB", "67.05 GiB, too much"),
    ]
    page = explain(training, "dump", "--format", "html").stdout
    assert "; then 14.68 GiB of 15.75 GiB: may just fit (estimated)" in page
    assert "; then 67.05 GiB of 15.75 GiB: too much" in page


def test_the_middle_of_a_message_is_read(training: Path, tmp_path: Path) -> None:
    lines = (training / "log_s1024.txt").read_text().splitlines(keepends=True)
    begins = next(n for n, line in enumerate(lines) if "  7. Size: 1.50G" in line)
    (tmp_path / "mid.txt").write_text("".join(lines[begins - 6 : begins + 24]))
    said = paragraphs(tmp_path, "mid.txt", code=3)
    assert said[0] == (
        "mid.txt: a program ran out of memory; the message names no total, the 3"
        " buffers that it lists take 3.75 GiB (1 place could not be read)"
    )
    assert any("the report begins before this line" in line for line in said)
    both = paragraphs(training, str(tmp_path / "mid.txt"), "dump_s1024", code=3)
    assert both[0].startswith("dump_s1024: jit_train_step ran out of memory in HBM: it")
    assert both.count("Out of memory") == 1


def test_a_list_that_ends_early_is_called_cut(training: Path, tmp_path: Path) -> None:
    lines = (training / "log_s1024.txt").read_text().splitlines(keepends=True)
    ends = next(n for n, line in enumerate(lines) if "  3. Size: 1.50G" in line)
    (tmp_path / "mid2.txt").write_text("".join(lines[30:ends]))
    said = paragraphs(tmp_path, "mid2.txt")
    cut = "The list is cut: 2 buffers take 9.00 GiB of the 21.69 GiB of temporaries."
    assert cut in said
    assert cut not in paragraphs(training, "dump_s1024", str(tmp_path / "mid2.txt"))


def test_a_log_that_says_nothing_blocks_no_dump(training: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("step 1\n")
    done = explain(training, str(nothing), "dump")
    assert done.returncode == 0
    assert done.stdout.startswith("dump: jit_train_step does not fit HBM:")
    assert f"{nothing} is left out: no line in it tells of running" in done.stderr
    alone = explain(tmp_path, "nothing.txt")
    assert alone.returncode == 3
    assert "nothing.txt is no XLA dump (text that is no XLA dump)." in alone.stderr
    assert "holds no XLA dump" not in alone.stderr
