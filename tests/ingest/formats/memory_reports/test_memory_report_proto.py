"""MemoryUsageReportProto: equal to the text of the same report, and exact."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.memory_reports.memory_report import parse_memory_report
from hlodb.ingest.formats.memory_reports.memory_report_proto import (
    ParsedReportProto,
    parse_memory_report_proto,
)
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from tests.conftest import SHARED
from tests.ingest.formats.proto.proto_pairs import DATA, members

SETS = ("cpu-jaxlib-0.10.2", "tpu-v5e-jax-0.10.2")
FILES = {name: members(DATA / f"{name}.tar.xz") for name in SETS}
REPORTS = {
    name: data
    for name, data in chain.from_iterable(files.items() for files in FILES.values())
    if name.endswith("-memory-usage-report.pb")
}
RING = REPORTS["module_0071.jit_ring.cpu_after_optimizations-memory-usage-report.pb"]


def check_report(data: bytes, text: str) -> ParsedReportProto:
    parsed = parse_memory_report_proto(data)
    report, printed = parsed.report, parse_memory_report(text).report
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert report.spaces == printed.spaces
    assert report.rows == printed.rows
    tables = [table._replace(allocation_id=None) for table in report.tables]
    assert tables == printed.tables
    return parsed


@pytest.mark.parametrize("name", SETS)
def test_a_message_says_what_the_text_says(name: str) -> None:
    files = FILES[name]
    for file, data in files.items():
        if file in REPORTS:
            check_report(data, files[file.removesuffix(".pb") + ".txt"].decode())


@pytest.mark.parametrize("name", REPORTS)
def test_sizes_and_totals_are_those_of_the_assignment(name: str) -> None:
    stem = name.removesuffix("-memory-usage-report.pb")
    files = next(files for files in FILES.values() if name in files)
    assignment = parse_hlo_proto(files[f"{stem}.hlo.pb"]).assignment
    assert assignment is not None
    sizes = {a.allocation_id: a.size_bytes for a in assignment.allocations}
    colors = {a.allocation_id: a.color for a in assignment.allocations}
    report = parse_memory_report_proto(REPORTS[name]).report
    for allocation in report.allocations:
        number = allocation.allocation_id
        assert allocation.size_bytes == sizes[number]
        assert allocation.color == colors[number]
    assert {space.color: space.total_bytes for space in report.spaces} == {
        color: sum(size for number, size in sizes.items() if colors[number] == color)
        for color in set(colors.values())
    }


@pytest.mark.shared
@pytest.mark.parametrize("name", SETS)
def test_every_report_of_the_full_dumps_says_what_its_text_says(name: str) -> None:
    files = members(SHARED / "proto" / f"{name}.tar.xz")
    checked = 0
    for file, data in files.items():
        if file.endswith("-memory-usage-report.pb"):
            check_report(data, files[file.removesuffix(".pb") + ".txt"].decode())
            checked += 1
    assert checked == {"cpu": 11, "tpu": 7}[name[:3]]


def test_a_truncated_report_gives_its_whole_entries() -> None:
    parsed = parse_memory_report_proto(RING[: len(RING) // 2])
    whole = parse_memory_report_proto(RING)
    found = len(parsed.report.allocations)
    assert 0 < found < len(whole.report.allocations)
    assert parsed.report.allocations == whole.report.allocations[:found]
    assert [r.code for r in parsed.rejects] == ["broken_message"]


@given(
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=10),
    st.integers(0, len(RING)),
)
def test_altered_bytes_end_in_records_or_rejects(
    changes: list[tuple[int, int]], size: int
) -> None:
    data = bytearray(RING)
    for place, byte in changes:
        data[place % len(data)] = byte
    for message in (bytes(data), bytes(data[:size])):
        for a in parse_memory_report_proto(message).report.allocations:
            assert 0 <= a.size_bytes <= 10**15
