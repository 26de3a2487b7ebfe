"""Buffer assignments that are cut, damaged or of another kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.buffer_assignment.assignment import (
    ParsedAssignment,
    parse_assignment,
)
from hlodb.ingest.records import BufferAssignment, Position, Reject, Unclaimed
from tests.conftest import DATA
from tests.ingest.formats.buffer_assignment.assignment_text import (
    STYLES,
    assignments,
    print_whole,
)
from tests.ingest.formats.buffer_assignment.small_assignment import SMALL, SMALL_RECORDS

SEEDS = DATA / "seeds"


def broken(old: str, new: str) -> ParsedAssignment:
    """Return the small file with one text in it replaced."""
    assert SMALL.count(old) == 1
    return parse_assignment(SMALL.replace(old, new))


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


@settings(max_examples=40)
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


@settings(max_examples=150)
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


@settings(max_examples=100)
@given(st.integers(0, len(SMALL)), st.integers(0, 40), st.text(max_size=8))
def test_a_damaged_file_ends_in_records_and_rejects(
    start: int, length: int, text: str
) -> None:
    parse_assignment(SMALL[:start] + text + SMALL[start + length :])


def test_a_line_that_repeats_an_allocation_is_passed_once() -> None:
    """It took a quarter of an hour: each repetition looked for the line's end."""
    line = "allocation 1: size 4096" + ", allocation 0: size 1, 6" * 100_000
    found = parse_assignment(f"BufferAssignment:\n{line}\n")
    assert not found.assignment.allocations
    assert {reject.line for reject in found.rejects} == {2}
