"""Buffer assignments that are sound: small, printed by ourselves, and real ones."""

from __future__ import annotations

import tarfile
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.buffer_assignment.assignment import (
    ParsedAssignment,
    join_assignments,
    parse_assignment,
)
from hlodb.ingest.records import BufferAssignment
from tests.conftest import DATA, SHARED_ARCHIVES
from tests.ingest.formats.buffer_assignment.assignment_text import (
    STYLES,
    assignments,
    print_allocations,
    print_ranges,
    print_values,
    print_whole,
)
from tests.ingest.formats.buffer_assignment.small_assignment import SMALL, SMALL_RECORDS

SEEDS = DATA / "seeds"
FAMILY = ("buffer-assignment.txt", "buffer-assignment-values.txt", "live-range.txt")


def test_every_section_of_a_file_becomes_records() -> None:
    assert parse_assignment(SMALL) == ParsedAssignment(SMALL_RECORDS, [], [], 47)


@pytest.mark.parametrize(
    ("seed", "total", "allocations", "values", "ranges"),
    [
        ("000_04aa0d3336074bf8", 30920, 14, 32, 26),
        ("001_491faa5ce21a17c6", 593928, 5, 6, 6),
        ("003_a3085531593bac68", 299944008, 13, 21, 18),
        ("004_65ac1592097277d9", 33556, 7, 7, 4),
    ],
)
def test_seed_sizes_add_up_to_the_printed_total(
    seed: str, total: int, allocations: int, values: int, ranges: int
) -> None:
    parsed = parse_assignment((SEEDS / f"{seed}.txt").read_text())
    found = parsed.assignment
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert sum(a.size_bytes for a in found.allocations) == total
    assert found.printed_total_bytes == total
    assert len(found.allocations) == allocations
    assert len(found.values) == len(found.placements) == values
    assert len(found.live_ranges) == ranges
    assert found.schedule_end == len(found.schedule)


def test_allocations_are_read_without_their_heading() -> None:
    bare = SMALL.removeprefix("BufferAssignment:\n")
    assert parse_assignment(bare) == ParsedAssignment(SMALL_RECORDS, [], [], 46)


def test_windows_line_ends_change_nothing() -> None:
    assert parse_assignment(SMALL.replace("\n", "\r\n")) == parse_assignment(SMALL)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_files_in_any_order_equal_one(order: tuple[int, ...]) -> None:
    values = SMALL.index("\nTotal")
    ranges = SMALL.index("HloLive")
    texts = [SMALL[:values], SMALL[values:ranges], SMALL[ranges:]]
    parts = [parse_assignment(texts[i]).assignment for i in order]
    assert join_assignments(parts) == SMALL_RECORDS


@pytest.mark.slow
@settings(max_examples=40)
@given(st.sampled_from(sorted(STYLES)), assignments())
def test_what_is_printed_is_read(style_name: str, records: BufferAssignment) -> None:
    style = STYLES[style_name]
    whole = parse_assignment(print_whole(records, style))
    assert (whole.rejects, whole.unclaimed) == ([], [])
    if not style.has_cumulative:
        assert whole.assignment == records
    printers = (print_ranges, print_values, print_allocations)
    parts = [parse_assignment(print(records, style)).assignment for print in printers]
    assert join_assignments(parts) == whole.assignment == records


@pytest.mark.shared
@pytest.mark.parametrize("archive", SHARED_ARCHIVES, ids=lambda p: p.name)
def test_every_line_of_every_real_dump_is_claimed(archive: Path) -> None:
    modules: dict[str, list[BufferAssignment]] = {}
    with tarfile.open(archive) as members:
        for member in members:
            if not member.name.endswith(FAMILY):
                continue
            file = members.extractfile(member)
            assert file is not None
            parsed = parse_assignment(file.read().decode())
            assert (parsed.rejects, parsed.unclaimed) == ([], []), member.name
            name = member.name.rpartition("optimizations-")[0]
            modules.setdefault(name, []).append(parsed.assignment)
    assert modules
    for name, parts in modules.items():
        whole = join_assignments(parts)
        total = sum(a.size_bytes for a in whole.allocations)
        assert total == whole.printed_total_bytes, name
        assert len(whole.schedule) == whole.schedule_end, name
        assert {p.value_id for p in whole.placements} <= {
            v.value_id for v in whole.values
        }
