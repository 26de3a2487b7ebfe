"""A recommender that libtpu refused for a v5e: its dump, its log, and both.

What fills the memory beside weights and optimiser state is a copy of a table in another
layout, half of which is padding. Four files report the one failure.
"""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path

import pytest

from tests.cli import test_explain
from tests.cli.test_explain_training import paragraphs
from tests.conftest import DATA

explain = cache(test_explain.explain)
"""Several tests ask the same."""

OOM = "module_0001.jit_step.cl_878335365.oom_top_memory_consuming_instructions:1"
NEEDS = (
    "jit_step ran out of memory in HBM: it needs 17.33 GiB of 15.75 GiB,"
    " 1.59 GiB too much"
)
PARTS = (
    "Included in this: arguments 11.31 GiB; results 11.31 GiB, of which 11.31 GiB share"
    " memory with arguments; temporaries 6.02 GiB; fragmentation of the temporaries"
    " 4.18 MiB."
)
PADDED = (
    "3.01 GiB of the listed 6.02 GiB are padding, most of it in copy.49: its data fill"
    " 64 of 128 lanes. Fold short dimensions into others, or put several rows into one,"
    " so that the data fill the tile of the layout; wider dimensions save nothing."
)
COPY = "copy.49, a copy of state['params']['tables']['user']"


@pytest.fixture(scope="module")
def recommender(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recommender")
    with tarfile.open(DATA / "newcomers" / "recommender.tar.xz") as packed:
        packed.extractall(folder)
    return folder / "recommender"


def test_a_dump_and_its_log_report_one_failure(recommender: Path) -> None:
    said = paragraphs(recommender, "base", "log.txt")
    assert said[0] == f"base: {NEEDS}"
    assert said.count("Out of memory") == 1
    assert f"log.txt:31: {NEEDS} (E1000)." in said
    assert (
        f"The same failure is reported at {OOM},"
        " 1795717683882585.peak_memory_tensors.txt:1,"
        " 1795717683882745.peak_memory_tensors.txt:1."
    ) in said
    assert PARTS in said
    assert PADDED in said
    refused = (
        "The compiler refused jit_step, which does not fit HBM: 17.33 GiB of 15.75 GiB"
        " usable of 16.00 GiB (named by the log), 1.59 GiB too much."
    )
    assert refused in said
    assert not any("1.58 GiB" in line for line in said)


def test_temporaries_are_not_what_a_program_needs(recommender: Path) -> None:
    said = paragraphs(recommender, "base")
    alone = f"{OOM}: jit_step ran out of memory in HBM: its temporaries alone are"
    [line] = [line for line in said if line.startswith(alone)]
    assert line.removeprefix(alone).startswith(" 6.02 GiB. The message ")
    assert said[0].endswith(
        "it needs 17.33 GiB of 15.75 GiB usable of 16.00 GiB (TPU v5e), 1.58 GiB too"
        " much (the message counts 6.02 GiB, without arguments)"
    )


def test_the_dump_knows_the_lines_of_what_a_log_lists(recommender: Path) -> None:
    listed = (
        f"| 6.00 GiB | 3.00 GiB | HLO temp | f32[12582912,64]{{1,0:T(8,128)}} | {COPY}"
    )
    both = paragraphs(recommender, "base", "log.txt")
    assert f"{listed} | /home/me/rec.py:20 |" in both
    alone = paragraphs(recommender, "log.txt")
    assert f"{listed} |" in alone
    assert "| size | data | kind | shape | operation |" in alone
    assert not any("backend_config" in line for line in [*both, *alone])


def test_a_few_mebibytes_of_padding_are_worth_no_advice(recommender: Path) -> None:
    said = paragraphs(recommender, "cut.txt", code=3)
    assert "2.00 MiB of the listed 3.12 MiB are padding." in said


def test_a_copy_of_weights_is_no_weight(recommender: Path) -> None:
    said = paragraphs(recommender, "base")
    roles = said[said.index("| bytes | share | role |") + 2 :][:3]
    assert roles == [
        "| 7.54 GiB | 43.5 % | optimiser state |",
        "| 6.00 GiB | 34.6 % | argument copies, 3.00 GiB of them padding |",
        "| 3.77 GiB | 21.8 % | weights |",
    ]
