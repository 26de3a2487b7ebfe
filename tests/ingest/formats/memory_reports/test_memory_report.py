"""Memory-usage reports of both forms, whole, cut and broken."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.memory_reports.memory_report import (
    MemoryReport,
    ParsedReport,
    ReportAllocation,
    ReportRow,
    ReportSpace,
    ReportTable,
    parse_memory_report,
)
from hlodb.ingest.records import Reject, Unclaimed
from tests.conftest import SHARED_ARCHIVES

# Cut from jaxlib 0.4.35, module jit_mlp_step.
OF_2024 = """\
Total bytes used: 14728384 (14.05MiB)

Allocations sorted by size:

cumulative_size; total_size - cumulative_size; allocation
------------------------------------------------------------------------------
   6.55MiB( 47%);    7.50MiB; allocation 23: size 6.55MiB, preallocated-temp:
  10.55MiB( 75%);    3.50MiB; allocation 0: size 4.00MiB, parameter 2, shape |f32[1024,1024]| at ShapeIndex {}, maybe-live-out:
The rest 102 allocations are less than 5% of the total size and not shown.


Allocations sorted by size with their values:
allocation 23: size 6.55MiB, preallocated-temp:

\tcumulative_size;       size;       offset; used_by_n_values; shapes_list
\t------------------------------------------------------------
\t  4.00MiB( 57%);    4.00MiB;            0;                4; f32[784,1024], 2\u00d7f32[4,10]
\t  7.05MiB(100%);        40B;      6866944;                1; f32[10]
\tThe rest 29 values are less than 5% of the total size and not shown.

allocation 11: size 4B, thread-local:
"""  # noqa: E501
ROWS_OF_2024 = [
    ReportRow(0, 0, 4, "f32[784,1024], 2\u00d7f32[4,10]", "4.00MiB", 4194304),
    ReportRow(0, 6866944, 1, "f32[10]", "40B", 40),
]

# Cut from libtpu 0.10.2, module jit_gpt_scan_remat.
OF_2026 = """\
Memory Space: default (color=0)
Total bytes: 27703296 (26.42MiB)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
    60.5KiB( 95%);       512B;        49152;                1; (f32[2,256], u32[])
  The rest 6 values are less than 5% of the total size and not shown.

  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
       512B( 50%);       512B;          512;                3; u32[], 2\u00d7s32[]


Memory Space: color_6 (color=6)
Total bytes: 0 (0B)
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
         0B(-nan%);         0B;            0;                1; token[]

"""


def test_a_report_of_one_total() -> None:
    parsed = parse_memory_report(OF_2024)
    assert parsed == ParsedReport(
        MemoryReport(
            total_bytes=14728384,
            allocations=[
                ReportAllocation(23, "6.55MiB", 6868173),
                ReportAllocation(0, "4.00MiB", 4194304),
            ],
            allocations_not_shown=102,
            tables=[ReportTable(0, None, 23), ReportTable(1, None, 11)],
            rows=ROWS_OF_2024,
        ),
        lines_total=21,
    )


def test_a_report_by_memory_space() -> None:
    parsed = parse_memory_report(OF_2026)
    assert parsed == ParsedReport(
        MemoryReport(
            spaces=[ReportSpace(0, 27703296), ReportSpace(6, 0)],
            tables=[
                ReportTable(0, 0, None),
                ReportTable(1, 0, None),
                ReportTable(2, 6, None),
            ],
            rows=[
                ReportRow(0, 49152, 1, "(f32[2,256], u32[])", "512B", 512),
                ReportRow(1, 512, 3, "u32[], 2\u00d7s32[]", "512B", 512),
                ReportRow(2, 0, 1, "token[]", "0B", 0),
            ],
        ),
        lines_total=18,
    )


def test_a_broken_row_is_rejected_and_a_strange_line_counted() -> None:
    broken = OF_2026.replace("   49152;", "   here;").replace(
        "Memory Space: color_6", "W0101 log line\nMemory Space: color_6"
    )
    parsed = parse_memory_report(broken)
    assert parsed.rejects == [
        Reject(5, 1, "memory report", "malformed",
               "expected a row of sizes, within its table",
               "60.5KiB( 95%);       512B;        here;                1;"
               " (f32[2,256], u32[])"),
    ]  # fmt: skip
    assert parsed.unclaimed == [Unclaimed(13, "W0101 log line")]
    assert [row.table for row in parsed.report.rows] == [1, 2]


def test_a_count_of_values_outside_a_table_is_not_taken() -> None:
    line = "The rest 6 values are less than 5% of the total size and not shown."
    assert parse_memory_report(f"{line}\n") == ParsedReport(
        MemoryReport(), [], [Unclaimed(1, line)], 1
    )


def test_a_cut_report_gives_its_rows_up_to_the_cut() -> None:
    parsed = parse_memory_report(OF_2024[: OF_2024.index("f32[10]") - 4])
    assert [(r.line, r.code) for r in parsed.rejects] == [(18, "truncated")]
    assert parsed.report.rows == ROWS_OF_2024[:1]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from((OF_2024 + OF_2026).splitlines()) | st.text(max_size=20))
)
def test_lines_in_any_order_end_in_records_and_rejects(lines: list[str]) -> None:
    parsed = parse_memory_report("\n".join(lines))
    tables = range(len(parsed.report.tables))
    assert {row.table for row in parsed.report.rows} <= set(tables)


@pytest.mark.shared
@pytest.mark.parametrize("archive", SHARED_ARCHIVES, ids=lambda p: p.name)
def test_every_line_of_every_real_report_is_claimed(archive: Path) -> None:
    with tarfile.open(archive) as members:
        for member in members:
            if not member.name.endswith("memory-usage-report.txt"):
                continue
            file = members.extractfile(member)
            assert file is not None
            text = file.read().decode()
            parsed = parse_memory_report(text)
            assert (parsed.rejects, parsed.unclaimed) == ([], []), member.name
            assert parsed.lines_total == text.count("\n")
            assert parsed.report.tables
