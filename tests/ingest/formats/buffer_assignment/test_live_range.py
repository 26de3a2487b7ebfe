"""Live range sections: lists that are whole, and lists with a line lost or broken."""

from __future__ import annotations

import pytest

from hlodb.ingest.formats.buffer_assignment.assignment import (
    Peaks,
    Ranges,
    Schedule,
    pass_tree,
    read_peaks,
    read_ranges,
    read_schedule,
)
from hlodb.ingest.formats.sections import Section
from hlodb.ingest.records import LiveRange, PrintedPeak, Reject, Unclaimed


def section(*lines: str) -> Section:
    """Lines of a section whose first one is line 7 of its file."""
    return Section("part", 0, "".join(f"{line}\n" for line in lines), 7)


def test_a_schedule_is_its_instructions_by_step() -> None:
    found = read_schedule(section("    0:p.1", "    1:a:b", "    2:12"))
    assert found == Schedule(["p.1", "a:b", "12"], [], [])


def test_a_broken_step_leaves_its_place_empty() -> None:
    found = read_schedule(section("    0:p", "    one:a", "log", "    2:b", "    2:c"))
    assert found == Schedule(
        ["p", "", "b"],
        [
            Reject(8, 5, "part", "malformed",
                   "expected `    step:instruction`", "one:a"),
            Reject(11, 5, "part", "duplicate",
                   "listed before; the first one is kept", "2:c"),
        ],
        [Unclaimed(9, "log")],
    )  # fmt: skip


def test_steps_that_were_left_out_are_noticed() -> None:
    found = read_schedule(section("    0:p", "    4:q"))
    message = "5 steps expected, 2 listed"
    assert found == Schedule(
        ["p", "", "", "", "q"], [Reject(7, 1, "part", "incomplete", message, "")], []
    )


def test_a_wild_step_claims_no_memory() -> None:
    found = read_schedule(section("    0:p", "    999999999:q"))
    assert len(found.names) < 100
    assert [reject.code for reject in found.rejects] == ["incomplete"]


def test_ranges_are_read_with_both_ends() -> None:
    found = read_ranges(section("    a.1{}:0-12", "    a:b{1,0}:3-3"))
    assert found == Ranges(
        [LiveRange("a.1", "{}", 0, 12), LiveRange("a:b", "{1,0}", 3, 3)], [], []
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("    a{}:5", "malformed"),
        ("    a{}:5-4", "contradiction"),
        ("    a:5-6", "malformed"),
        ("    p{}:1-2", "duplicate"),
        ("    a{}:1-9999999999", "malformed"),
    ],
)
def test_a_broken_range_is_rejected(line: str, code: str) -> None:
    found = read_ranges(section("    p{}:0-1", line, "    q{}:1-2"))
    assert found.rows == [LiveRange("p", "{}", 0, 1), LiveRange("q", "{}", 1, 2)]
    assert [(r.line, r.column, r.code) for r in found.rejects] == [(8, 5, code)]


def test_peaks_of_every_release() -> None:
    found = read_peaks(
        section(
            "    copy-start: 24 bytes",
            "    copy-start{0}: 8 bytes",
            "    a:b{}: 4 bytes (cumulative: 36 bytes)",
        )
    )
    assert found == Peaks(
        [
            PrintedPeak("copy-start", "", 24),
            PrintedPeak("copy-start", "{0}", 8),
            PrintedPeak("a:b", "{}", 4),
        ],
        [],
        [],
    )


def test_the_stack_trace_tree_is_passed_over() -> None:
    tree = section(
        "    main (100.0%, total: 1 048 bytes, current: 0 bytes, remaining: 0 bytes)",
        "      │   └── f(a, b) (0.0%, total: 4 bytes, current: 4 bytes, remaining: 0)",
        "done",
    )
    assert pass_tree(tree) == [Unclaimed(9, "done")]
