"""What is said of a program whose dump ends before its compilation did."""

from __future__ import annotations

import shutil
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.document.blocks import Paragraph, Section, Table
from hlodb.reports.document.explanation import headline, outline
from hlodb.reports.read.overview import read_overview
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

SOURCE = """HloModule jit_train_step, num_partitions=4

ENTRY main {
  x = f32[1024,1024]{1,0} parameter(0)
  w = f32[1024,512]{1,0} parameter(1)
  ROOT y = f32[1024,512]{1,0} dot(x, w), lhs_contracting_dims={1}, \
rhs_contracting_dims={0}
}
"""
WITHOUT = "Without a buffer assignment"


def explained(dump: Path, folder: Path) -> tuple[str, list[Section]]:
    """Return the headline and the sections of an explanation."""
    ingest([str(dump)], folder / "w.duckdb", jobs=1, request=RunRequest(name="run"))
    with connect(folder / "w.duckdb") as connection:
        overview = read_overview(connection, None, None, paths=[str(dump)])
        return headline(overview), outline(overview, 3, 5)


def texts(section: Section) -> list[str]:
    return [block.text for block in section.blocks if isinstance(block, Paragraph)]


def begun(folder: Path) -> Path:
    """Return a dump with the source of a program over four devices, and no more."""
    dump = folder / "dump"
    dump.mkdir()
    name = "module_0092.jit_train_step.cl_878335365.before_optimizations.txt"
    (dump / name).write_text(SOURCE)
    return dump


def test_a_source_bounds_the_peak_of_one_of_its_partitions(tmp_path: Path) -> None:
    """All devices together hold arguments of 6 MiB and a result of 2 MiB."""
    first, sections = explained(begun(tmp_path), tmp_path)
    assert first == "run: jit_train_step, at least 2.00 MiB in HBM; peak unknown"
    assert sections[0].title == "jit_train_step: HBM"
    assert WITHOUT not in [section.title for section in sections]
    assert texts(sections[0])[0] == (
        "The peak is at least 2.00 MiB in HBM: arguments take 1.50 MiB, results"
        " 512.00 KiB, if all is split over the 4 partitions. Temporaries beyond that"
        " are unknown."
    )


def test_a_program_that_was_begun_is_listed_beside_one_with_figures(
    tmp_path: Path,
) -> None:
    dump = begun(tmp_path)
    [assignment] = (DATA / "alone").glob("*-buffer-assignment.txt")
    shutil.copy(assignment, dump)
    first, sections = explained(dump, tmp_path)
    assert first.startswith("run: jit_forward, 24.05 MiB reserved in CPU memory")
    titles = [section.title for section in sections]
    assert titles == ["jit_forward: CPU memory", WITHOUT, "More"]
    [listed] = (section for section in sections if section.title == WITHOUT)
    [table] = (block for block in listed.blocks if isinstance(block, Table))
    assert [tuple(row) for row in table.rows] == [
        ("jit_train_step", "HBM", "at least 2.00 MiB in HBM; peak unknown")
    ]
    why, advice = texts(listed)
    assert why == (
        "The peak of these is not known: their compilation did not end, or files are"
        " missing."
    )
    assert "jit_train_step.cl_878335365.*after_optimizations-buffer" in advice
