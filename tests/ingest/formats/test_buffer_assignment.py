"""Buffer assignments: every spelling since 2019, sound, split, cut and broken."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.buffer_assignment import (
    ParsedAssignment,
    join_assignments,
    parse_assignment,
)
from hlodb.ingest.records import (
    Allocation,
    BufferAssignment,
    LiveRange,
    Placement,
    Position,
    PrintedPeak,
    Reject,
    Unclaimed,
    Use,
    Value,
)
from tests.conftest import SHARED_ARCHIVES
from tests.ingest.formats.assignment_text import (
    STYLES,
    assignments,
    print_allocations,
    print_ranges,
    print_values,
    print_whole,
)

SEEDS = Path(__file__).parents[2] / "data" / "seeds"
FAMILY = ("buffer-assignment.txt", "buffer-assignment-values.txt", "live-range.txt")

SMALL = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:
 value: <0 p @0> (size=64,offset=0): f32[16]{0}
 value: <3 while.1{0} (phi) @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 8, color 1, preallocated-temp:
 value: <2 t{} @1> (size=8,offset=0): (f32[16]{0:S(1)})

Total bytes used: 72 (72B)

Used values:
<0 p @0>
 positions:
  p
  t {0}
 uses:
  t, operand 0
  while.1, operand 0 {0}
 from instruction: %p = f32[16]{0} parameter(0)
<2 t{} @1>
 positions:
  t {}
 uses:
  (none)
 from instruction: %t = (f32[16]{0}) tuple(%p)
<3 while.1{0} (phi) @0>
 positions:
  while.1 {0}
 uses are not initialized yet.
 from instruction: %while.1 = (f32[16]{0}) while(%t), condition=%c, body=%b


HloLiveRange (max 3):
  InstructionSequence:
    0:p
    1:t
    2:while.1
  BufferLiveRange:
    p{}:0-2
    t{}:1-2
    while.1{0}:2-3
  Live ranges at 2 (peak):
    p{}: 64 bytes (cumulative: 64 bytes)
    while.1{0}: 64 bytes (cumulative: 128 bytes)
  Stack trace breakdown for peak usage: 128 bytes
    main (100.0%, total: 1 128 bytes, current: 0 bytes, remaining: 1 128 bytes)
      ├── jit(f)/a, b (50.0%, total: 64 bytes, current: 64 bytes, remaining: 64 bytes)
      └── p (50.0%, total: 64 bytes, current: 64 bytes, remaining: 0 bytes)
"""
SMALL_RECORDS = BufferAssignment(
    allocations=[
        Allocation(
            0, 64, 0, None, 0, "{}", "f32[16]", False, False, False, True, False
        ),
        Allocation(1, 8, 1, None, None, None, None, False, False, False, False, True),
    ],
    placements=[Placement(0, 0, 0, 64), Placement(0, 3, 0, 64), Placement(1, 2, 0, 8)],
    values=[
        Value(0, "p", None, 0, False, "f32[16]{0}"),
        Value(2, "t", "{}", 1, False, "(f32[16]{0:S(1)})"),
        Value(3, "while.1", "{0}", 0, True, "f32[16]{0}"),
    ],
    positions=[
        Position(0, "p", None),
        Position(0, "t", "{0}"),
        Position(2, "t", "{}"),
        Position(3, "while.1", "{0}"),
    ],
    uses=[Use(0, "t", 0, None), Use(0, "while.1", 0, "{0}")],
    sources={
        "p": "%p = f32[16]{0} parameter(0)",
        "t": "%t = (f32[16]{0}) tuple(%p)",
        "while.1": "%while.1 = (f32[16]{0}) while(%t), condition=%c, body=%b",
    },
    printed_total_bytes=72,
    schedule=["p", "t", "while.1"],
    schedule_end=3,
    live_ranges=[
        LiveRange("p", "{}", 0, 2),
        LiveRange("t", "{}", 1, 2),
        LiveRange("while.1", "{0}", 2, 3),
    ],
    peak_step=2,
    printed_peaks=[PrintedPeak("p", "{}", 64), PrintedPeak("while.1", "{0}", 64)],
)


def broken(old: str, new: str) -> ParsedAssignment:
    """The small file with one text in it replaced."""
    assert SMALL.count(old) == 1
    return parse_assignment(SMALL.replace(old, new))


# --- Sound files ---------------------------------------------------------------------


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


def test_a_pointer_and_an_old_peak_listing_are_read() -> None:
    found = parse_assignment((SEEDS / "004_65ac1592097277d9.txt").read_text())
    assert found.assignment.allocations[0] == Allocation(
        0, 32768, 0, None, 1, "{}", "f32[128,64]", False, False, False, False, False
    )
    assert found.assignment.printed_peaks == [
        PrintedPeak("param", "", 512),
        PrintedPeak("param.1", "", 32768),
        PrintedPeak("tuple", "", 8),
        PrintedPeak("input_fusion_reduce", "", 256),
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", {}),
        (", thread-local", {"is_thread_local": True}),
        (", color 5, page 2, preallocated-temp",
         {"color": 5, "page": 2, "is_preallocated_temp": True}),
        (", color 1, thread-local", {"color": 1, "is_thread_local": True}),
        (", output shape is |(f32[2], /*index=5*/s32[])|, maybe-live-out",
         {"shape": "(f32[2], /*index=5*/s32[])", "is_output_tuple": True,
          "is_live_out": True}),
        (", parameter 7, shape |<unknown shape>| at ShapeIndex {1,0}",
         {"parameter_number": 7, "shape": "<unknown shape>",
          "parameter_shape_index": "{1,0}"}),
        (", parameter 1 at ShapeIndex {}, constant",
         {"parameter_number": 1, "parameter_shape_index": "{}", "is_constant": True}),
    ],
)  # fmt: skip
def test_flags_of_an_allocation(flags: str, expected: dict[str, Any]) -> None:
    plain = Allocation(
        3, 16, 0, None, None, None, None, False, False, False, False, False
    )
    parsed = parse_assignment(f"BufferAssignment:\nallocation 3: size 16{flags}:\n")
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.allocations == [plain._replace(**expected)]


def test_names_may_hold_dots_dashes_colons_and_digits_only() -> None:
    text = (
        "BufferAssignment:\nallocation 0: size 4:\n"
        " value: <1 7 @0> (size=4,offset=0): f32[]\n"
        " value: <2 a-b.c:d_1{0} @0> (size=4,offset=0): f32[]\n"
    )
    assert parse_assignment(text).assignment.values == [
        Value(1, "7", None, 0, False, "f32[]"),
        Value(2, "a-b.c:d_1", "{0}", 0, False, "f32[]"),
    ]


def test_a_value_that_reuses_an_allocation_of_another_colour_counts_once() -> None:
    text = (
        "BufferAssignment:\n"
        "allocation 0: size 8, preallocated-temp:\n"
        " value: <1 a @0> (size=8,offset=0): f32[2]{0}\n"
        " reused by buffers of a different color:\n"
        "  value: <2 b @1> (color=1)\n"
        "allocation 1: size 8, color 1, preallocated-temp:\n"
        " value: <2 b @1> (size=8,offset=0): f32[2]{0:S(1)}\n"
    )
    parsed = parse_assignment(text)
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.placements == [
        Placement(0, 1, 0, 8),
        Placement(1, 2, 0, 8),
    ]
    assert parsed.assignment.values == [
        Value(1, "a", None, 0, False, "f32[2]{0}"),
        Value(2, "b", None, 1, False, "f32[2]{0:S(1)}"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "  12 PHI t{0} @1 [16,4]: f32[]",
        "  <12 PHI t{0} @1> [16,4]: f32[]",
    ],
)
def test_values_from_before_2019_09(line: str) -> None:
    parsed = parse_assignment(
        f"BufferAssignment:\nallocation 0: 0x2a, size 20, color 1:\n{line}\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.placements == [Placement(0, 12, 16, 4)]
    assert parsed.assignment.values == [Value(12, "t", "{0}", 1, True, "f32[]")]


def test_buffers_from_before_2019_09() -> None:
    parsed = parse_assignment(
        "BufferAssignment:\nallocation 0: 0x2a, size 20:\n"
        "  p[](#3 @0) [0,4]: f32[]\n  t[](#4 @0) [4,8]: (f32[])\n"
        "  t[1,0](#5) [16,4]: f32[]\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment.values == [
        Value(3, "p", None, 0, False, "f32[]"),
        Value(4, "t", "{}", 0, False, "(f32[])"),
        Value(5, "t", "{1,0}", 0, False, "f32[]"),
    ]
    assert parsed.assignment.placements[2] == Placement(0, 5, 16, 4)


def test_used_values_from_before_2019_09() -> None:
    parsed = parse_assignment(
        "Used values:\n12 PHI t{0} @1, positions:\n  t {0}\n uses:\n  c, operand 1\n"
        "13 c, positions:\n  c\n uses:\n"
    )
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment == BufferAssignment(
        values=[
            Value(12, "t", "{0}", 1, True, None),
            Value(13, "c", None, 0, False, None),
        ],
        positions=[Position(12, "t", "{0}"), Position(13, "c", None)],
        uses=[Use(12, "c", 1, None)],
    )


@pytest.mark.parametrize(
    "text",
    [
        "HloLiveRange not available (finalized or constructed from proto)\n",
        "HloLiveRange (max 0):\n  InstructionSequence:\n  BufferLiveRange:\n"
        "  Peak memory could not be determined due to unbounded dynamic shape.\n",
    ],
)
def test_sentences_instead_of_live_ranges_are_claimed(text: str) -> None:
    parsed = parse_assignment(text)
    assert (parsed.rejects, parsed.unclaimed) == ([], [])


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


@settings(max_examples=40, deadline=None)
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


# --- Cut and broken files ------------------------------------------------------------


def test_a_text_cut_anywhere_gives_its_rows_up_to_the_cut_and_one_reject() -> None:
    for length in range(len(SMALL)):
        parsed = parse_assignment(SMALL[:length])
        assert len(parsed.rejects) <= 1
        assert {r.line for r in parsed.rejects} <= {max(parsed.lines_total, 1)}
        for field in ("allocations", "placements", "positions", "uses", "live_ranges"):
            rows = getattr(parsed.assignment, field)
            assert rows == getattr(SMALL_RECORDS, field)[: len(rows)]


def test_a_line_cut_in_two_is_named() -> None:
    cut = SMALL[: SMALL.index("while.1{0}:2-3") + 9]
    parsed = parse_assignment(cut)
    assert parsed.rejects == [
        Reject(40, 14, "end", "truncated",
               "the text breaks off in this line; everything before it was read",
               "while.1{0"),
    ]  # fmt: skip
    assert parsed.assignment.live_ranges == SMALL_RECORDS.live_ranges[:2]


@pytest.mark.parametrize(
    "after", ["  BufferLiveRange:\n", "    p{}:0-2\n", "    1:t\n"]
)
def test_a_text_cut_between_lines_is_noticed_where_more_must_follow(after: str) -> None:
    parsed = parse_assignment(SMALL[: SMALL.index(after) + len(after)])
    assert [r.code for r in parsed.rejects] == ["truncated"]


def test_a_used_value_without_its_instruction_at_the_end_is_noticed() -> None:
    parsed = parse_assignment(SMALL[: SMALL.index(" from instruction: %while.1")])
    assert [(r.line, r.code) for r in parsed.rejects] == [(28, "truncated")]


def test_a_glued_head_cut_in_two_is_noticed() -> None:
    parsed = parse_assignment(
        "Used values:\n<0 p @0>\n positions:\n  p\n uses:\n"
        " from instruction: %p = f32[] parameter(0)<1 q"
    )
    assert [r.code for r in parsed.rejects] == ["truncated"]
    assert parsed.assignment.positions == [Position(0, "p", None)]


def test_a_whole_last_line_needs_no_line_break() -> None:
    assert parse_assignment(SMALL.rstrip("\n")) == parse_assignment(SMALL)


def test_a_broken_line_is_rejected_and_the_rest_kept() -> None:
    parsed = broken(
        "(size=64,offset=0): f32[16]{0}\n value: <3", "(size=?)\n value: <3"
    )
    assert parsed.rejects == [
        Reject(3, 2, "allocations", "malformed", "expected an allocation or a value or"
               " a reuse", "value: <0 p @0> (size=?)"),
    ]  # fmt: skip
    assert parsed.assignment == replace(
        SMALL_RECORDS,
        placements=SMALL_RECORDS.placements[1:],
        values=[
            SMALL_RECORDS.values[0]._replace(shape=None),
            *SMALL_RECORDS.values[1:],
        ],
    )


def test_values_of_a_broken_allocation_go_to_no_other() -> None:
    parsed = broken("allocation 1: size 8", "allocation 1: size eight")
    assert [(r.line, r.code) for r in parsed.rejects] == [(5, "malformed")]
    assert [line.line for line in parsed.unclaimed] == [6]
    assert parsed.assignment.placements == SMALL_RECORDS.placements[:2]


def test_an_allocation_printed_twice_counts_once() -> None:
    parsed = broken("allocation 1: size 8", "allocation 0: size 8")
    assert [(r.line, r.code) for r in parsed.rejects] == [(5, "duplicate")]
    assert parsed.assignment.allocations == SMALL_RECORDS.allocations[:1]


def test_an_unknown_flag_is_counted_and_the_allocation_kept() -> None:
    parsed = broken("size 8, color 1, pre", "size 8, color 1, pinned |a, b|, pre")
    assert parsed.rejects == []
    assert parsed.unclaimed == [
        Unclaimed(5, "allocation 1: size 8, color 1, pinned |a, b|, preallocated-temp:")
    ]
    assert parsed.assignment == SMALL_RECORDS


def test_a_value_named_otherwise_than_where_it_is_placed_is_rejected() -> None:
    parsed = broken("<2 t{} @1>\n", "<2 u{} @1>\n")
    assert [(r.line, r.code) for r in parsed.rejects] == [(19, "contradiction")]
    assert parsed.assignment.values == SMALL_RECORDS.values


def test_a_second_section_is_rejected_and_counted() -> None:
    parsed = parse_assignment(SMALL + "BufferAssignment:\nallocation 9: size 1:\n")
    assert [(r.line, r.code) for r in parsed.rejects] == [(48, "duplicate")]
    assert parsed.unclaimed == [Unclaimed(49, "allocation 9: size 1:")]
    assert parsed.assignment == SMALL_RECORDS


def test_a_sequence_shorter_than_announced_is_noticed() -> None:
    parsed = broken("HloLiveRange (max 3)", "HloLiveRange (max 4)")
    message = "4 steps announced, 3 listed"
    assert parsed.rejects == [Reject(32, 1, "live_range", "incomplete", message, "")]
    assert parsed.assignment == replace(SMALL_RECORDS, schedule_end=4)


def test_lines_of_another_kind_are_counted() -> None:
    parsed = broken("allocation 1: size", "W0101 log line\nallocation 1: size")
    assert parsed.rejects == []
    assert parsed.unclaimed == [Unclaimed(5, "W0101 log line")]
    assert parsed.assignment == SMALL_RECORDS


def test_numbers_beyond_reason_are_rejected() -> None:
    parsed = broken("size 8,", f"size {'9' * 5000},")
    assert [(r.line, r.code) for r in parsed.rejects] == [(5, "malformed")]


def test_a_text_of_another_kind_is_rejected_once() -> None:
    parsed = parse_assignment((SEEDS / "002_8d2741cff48cd2ab.txt").read_text())
    assert [(r.line, r.code) for r in parsed.rejects] == [(1, "no_assignment")]
    assert parsed.assignment == BufferAssignment()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(STYLES)), assignments())
def test_line_by_line_reads_what_is_read_at_once(
    style_name: str, records: BufferAssignment
) -> None:
    text = print_whole(records, STYLES[style_name])
    # An empty line carries nothing, but makes every other be looked at by itself.
    parsed = parse_assignment(text.replace("\n", "\n\n"))
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.assignment == parse_assignment(text).assignment


LINES = st.sampled_from(SMALL.splitlines()) | st.text(max_size=30)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=30), st.booleans())
def test_lines_in_any_order_end_in_records_and_rejects(
    lines: list[str], ends_in_line_break: bool
) -> None:
    text = "\n".join(lines) + "\n" * ends_in_line_break
    parsed = parse_assignment(text)
    found = parsed.assignment
    owners = {a.allocation_id for a in found.allocations}
    ids = [v.value_id for v in found.values]
    assert {p.allocation_id for p in found.placements} <= owners
    assert ids == sorted(set(ids))
    assert {position.value_id for position in found.positions} <= set(ids)
    assert {use.value_id for use in found.uses} <= set(ids)
    assert len({r[:2] for r in found.live_ranges}) == len(found.live_ranges)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(SMALL)), st.integers(0, 40), st.text(max_size=8))
def test_a_damaged_file_ends_in_records_and_rejects(
    start: int, length: int, text: str
) -> None:
    parse_assignment(SMALL[:start] + text + SMALL[start + length :])


# --- Full-size dumps -----------------------------------------------------------------


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
