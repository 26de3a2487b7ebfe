"""`hlodb explain` of one file alone: what it says, and what would say more."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.explanation import headline, outline
from hlodb.reports.read.capacity import NOT_INCLUDED
from hlodb.reports.read.overview import read_overview
from hlodb.schema.warehouse import connect
from tests.cli.test_explain import explain
from tests.conftest import DATA

ALONE = DATA / "alone"
NEWEST = DATA / "newest"
STEM = "module_0000.jit_loop.cpu_after_optimizations"
DUMP = (
    "XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_text writes them all when the"
    " program is compiled, which needs no device memory; then explain DIR."
)
HLO = f"{STEM}.txt (its HLO: shapes, source lines, schedule)"
ASSIGNMENT = f"{STEM}-buffer-assignment.txt (sizes and places of values)"
RANGES = f"{STEM}-live-range.txt (when each value is live)"


def beside(*missing: str) -> str:
    return f"For more, pass what XLA wrote beside it, too: {'; '.join(missing)}. {DUMP}"


def unpacked(archive: str, ending: str, folder: Path) -> Path:
    """Return the only file of an archive with an ending, in a folder of its own."""
    with tarfile.open(NEWEST / archive) as packed:
        [member] = [m for m in packed if m.name.endswith(ending)]
        packed.extract(member, folder)
    return folder / member.name


def said(path: Path, folder: Path) -> list[str]:
    """Return the headline of a file's explanation, and its paragraphs."""
    file = folder / "w.duckdb"
    ingest([str(path)], file, jobs=1, request=RunRequest(name="run"))
    with connect(file) as connection:
        overview = read_overview(connection, None, None, paths=[str(path)])
        assert not overview.is_empty
        sections = outline(overview, 3, 5)
        found = [
            block.text
            for section in sections[:-1]
            for block in section.blocks
            if isinstance(block, Paragraph)
        ]
        return [headline(overview), *found]


PLAIN = "plain-cpu-jaxlib-0.12.0.1.tar.xz"


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (
            "-buffer-assignment.txt",
            [
                "run: jit_loop, 768.22 KiB reserved in CPU memory",
                "768.22 KiB reserved in CPU memory (arguments 256.00 KiB, results"
                " 256.05 KiB,"
                " temporaries 256.15 KiB, constants 16 B). The live peak is not known.",
                NOT_INCLUDED,
                beside(HLO, RANGES),
            ],
        ),
        (
            "-memory-usage-report.txt",
            [
                "run: jit_loop, 768.22 KiB reserved in CPU memory; peak unknown",
                "768.22 KiB reserved in CPU memory, says the memory report; it does"
                " not tell"
                " when each value is live.",
                beside(HLO, ASSIGNMENT, RANGES),
            ],
        ),
        (
            "-live-range.txt",
            [
                "run: jit_loop, sizes and peak unknown",
                "Live ranges are known, but not the sizes of what is live.",
                beside(HLO, ASSIGNMENT),
            ],
        ),
        (
            "cpu_after_optimizations.txt",
            [
                "run: jit_loop, at least 512.03 KiB in CPU memory; peak unknown",
                "The peak is at least 512.03 KiB in CPU memory: arguments take"
                " 256.00 KiB,"
                " results 256.03 KiB (padded as their layouts say). Temporaries beyond"
                " that are unknown.",
                beside(ASSIGNMENT, RANGES),
            ],
        ),
    ],
)
def test_a_file_alone_says_what_it_can(
    tmp_path: Path, ending: str, expected: list[str]
) -> None:
    path = unpacked(PLAIN, ending, tmp_path)
    assert said(path, tmp_path) == expected


def test_text_of_a_program_too_large_bounds_its_peak(tmp_path: Path) -> None:
    archive = "failed-v5e-jax-0.12.0.1.tar.xz"
    path = unpacked(archive, "217.after_optimizations.txt", tmp_path)
    assert said(path, tmp_path)[:2] == [
        "run: jit__lambda, at least 201.00 GiB in HBM; peak unknown",
        "The peak is at least 201.00 GiB in HBM: arguments take 1.00 GiB, the largest"
        " array that one instruction makes 200.00 GiB (padded as their layouts say)."
        " Temporaries beyond that are unknown.",
    ]


def test_hlo_without_header_in_a_page(tmp_path: Path) -> None:
    assert said(ALONE / "comment.md", tmp_path) == [
        "run: module_main, at least 20.00 KiB; peak unknown",
        "The peak is at least 20.00 KiB: arguments take 14.00 KiB, results 6.00 KiB"
        " (padded as their layouts say). Temporaries beyond that are unknown.",
        f"For more, these are missing: buffer assignment, live ranges. {DUMP}",
    ]


def test_an_assignment_with_live_ranges_has_a_peak(tmp_path: Path) -> None:
    [path] = ALONE.glob("*-buffer-assignment.txt")
    file = tmp_path / "w.duckdb"
    ingest([str(path)], file, jobs=1)
    with connect(file) as connection:
        overview = read_overview(connection, None, None)
        assert (
            headline(overview) == "alone: jit_forward, 24.05 MiB reserved in CPU memory"
        )
        assert "partial_memory" not in overview.answers
        found = run_query(connection, "check_results", {}).dicts()
        ends = [row for row in found if row["check_name"] == "range_ends"]
        assert [(r["status"], r["checked_count"]) for r in ends] == [("ok", 0)]
        assert all(row["status"] == "ok" for row in found)


def test_stablehlo_is_refused_and_named(tmp_path: Path) -> None:
    shutil.copy(ALONE / "model.mlir", tmp_path)
    done = explain(tmp_path, "model.mlir")
    assert (done.returncode, done.stdout) == (3, "")
    said = "(MLIR, such as StableHLO: a program not compiled yet, without buffers)"
    assert f"model.mlir is no XLA dump {said}" in " ".join(done.stderr.split())
