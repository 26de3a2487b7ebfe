"""A dump beside the log of a program that ran out of memory, explained."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.document.blocks import Paragraph, Section, Table
from hlodb.reports.document.explanation import headline, outline
from hlodb.reports.read.capacity import NOT_INCLUDED
from hlodb.reports.read.overview import read_overview
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

FOLDER = DATA / "oom_dumps"
MIB = 1 << 20


def warehouse(name: str, folder: Path) -> Path:
    """Return the path of a warehouse with a dump and its log as one run."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as packed:
        packed.extractall(folder)
    shutil.copy(FOLDER / f"{name}.log", folder)
    path = folder / "w.duckdb"
    given = [str(folder / name), str(folder / f"{name}.log")]
    [run] = ingest(given, path, request=RunRequest(name=name), jobs=1)
    assert run.rejects == 0
    return path


@pytest.fixture(scope="module")
def forward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return warehouse("forward", tmp_path_factory.mktemp("forward"))


def explained(path: Path, name: str) -> tuple[str, list[Section]]:
    with connect(path) as connection:
        overview = read_overview(connection, name, None)
        return headline(overview), outline(overview, 3, 5)


def test_the_program_that_a_log_names_leads(forward: Path) -> None:
    """Another program of the dump is ten times as large."""
    title, sections = explained(forward, "forward")
    assert (
        title
        == "forward: jit_forward ran out of memory: a request for 24.00 MiB failed"
    )
    assert [section.title for section in sections] == [
        *(
            "Out of memory",
            "Programs",
            "jit_forward: CPU memory",
            "jit_update: CPU memory",
            "More",
        ),
    ]
    assert sections[0].blocks == [
        Paragraph(
            "forward.log:1: jit_forward ran out of memory: a request for 24.00 MiB"
            " failed."
        )
    ]
    assert sections[2].blocks[:2] == [
        Paragraph(
            "24.05 MiB reserved in CPU memory; 24.04 MiB are live at the peak (step 5,"
            " broadcast_divide_fusion)."
        ),
        Paragraph(NOT_INCLUDED),
    ]
    assert Paragraph(NOT_INCLUDED) not in sections[3].blocks
    blocks = sections[2].blocks
    lines = blocks[blocks.index(Paragraph("Which lines hold it:")) + 1]
    assert isinstance(lines, Table)
    assert lines.rows == (
        ("18.00 MiB", "74.9 %", "pairs.py:5", ""),
        ("6.00 MiB", "25.0 %", "pairs.py:4", ""),
        ("36.00 KiB", "0.1 %", "arguments", ""),
        ("4 B", "0.0 %", "constants", ""),
    )
    with connect(forward) as connection:
        [summary] = run_query(connection, "oom_summary", {"run": "forward"}).dicts()
    told = {name: value for name, value in summary.items() if value not in (None, 0)}
    assert told == {
        "run": "forward",
        "path": "forward.log",
        "line": 1,
        "failure_number": 1,
        "failure_place": 1,
        "form": "allocation",
        "has_failed": True,
        "program": "jit_forward",
        "program_run": "forward",
        "program_by": "message",
        "needed_bytes": 24 * MIB,
        "requested_bytes": 24 * MIB,
    }


def test_a_request_alone_is_that_of_equal_temporaries(
    forward: Path, tmp_path: Path
) -> None:
    """The name is cut off: only one program has an arena of that very size."""
    said, _, _ = (FOLDER / "forward.log").read_text().partition(" [executable_name")
    (tmp_path / "cut.log").write_text(said)
    ingest([str(tmp_path / "cut.log")], forward, request=RunRequest("cut"), jobs=1)
    with connect(forward) as connection:
        [summary] = run_query(connection, "oom_summary", {"run": "cut"}).dicts()
    found = (summary["program"], summary["program_run"], summary["program_by"])
    assert found == ("jit_forward", "forward", "temporaries")


def test_the_kernel_of_a_message_is_that_of_the_dump(tmp_path: Path) -> None:
    """Its source line is the dump's: the message has none."""
    path = warehouse("kernel", tmp_path)
    title, sections = explained(path, "kernel")
    assert title == (
        "kernel: jit__lambda ran out of memory in vmem: it needs 32.00 MiB of"
        " 16.00 MiB, 16.00 MiB too much"
    )
    assert [section.title for section in sections] == [
        *("Refused", "Out of memory", "Programs", "jit__lambda: VMEM"),
        *("jit__lambda: HBM", "More"),
    ]
    assert sections[0].blocks == [
        Paragraph("The compiler refused jit__lambda, which does not fit.")
    ]
    assert sections[1].blocks == [
        Paragraph(
            "kernel.log:3: jit__lambda ran out of memory in vmem: it needs 32.00 MiB of"
            " 16.00 MiB, 16.00 MiB too much (E1001)."
        ),
        Table(
            ("size", "data", "kind", "shape", "operation", "source line"),
            (
                (
                    *("32.00 MiB", "-", "stack", "f32[4096,2048]{1,0:T(8,128)}"),
                    "jit(<lambda>)/pallas_call",
                    "/opt/programs/oom_pallas.py:9",
                ),
            ),
            (0, 1),
        ),
    ]
    assert sections[3].blocks == [
        Paragraph(
            "The assignment holds nothing in VMEM. What a kernel reserves for itself"
            " (scoped memory) is in no assignment."
        )
    ]
    with connect(path) as connection:
        [summary] = run_query(connection, "oom_summary").dicts()
        [buffer] = run_query(connection, "oom_buffers_explained").dicts()
    told = {name: value for name, value in summary.items() if value not in (None, 0)}
    assert told == {
        "run": "kernel",
        "path": "kernel.log",
        "line": 3,
        "failure_number": 1,
        "failure_place": 1,
        "form": "program_memory",
        "has_failed": True,
        "space_name": "vmem",
        "program": "jit__lambda",
        "program_run": "kernel",
        "program_by": "buffers",
        "needed_bytes": 32 * MIB,
        "capacity_bytes": 16 * MIB,
        "over_bytes": 16 * MIB,
        "buffer_count": 1,
        "listed_bytes": 32 * MIB,
        "largest_bytes": 32 * MIB,
        "largest": "jit(<lambda>)/pallas_call",
        "error_code": "E1001",
    }
    assert (buffer["instruction"], buffer["source_file"], buffer["source_line"]) == (
        *("_lambda_.1", "/opt/programs/oom_pallas.py", 9),
    )
