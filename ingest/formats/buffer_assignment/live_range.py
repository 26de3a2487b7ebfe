"""The `HloLiveRange` sections: schedule, live ranges and XLA's own peak listing.

They end a single-file buffer assignment (2021-04 to 2026-04), or stand alone in a
`-live-range.txt`. XLA `hlo_live_range.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from operator import eq, le
from typing import NamedTuple

from hlodb.ingest.formats.sections import (
    BYTES,
    INDEX,
    NAME,
    NUMBER,
    Columns,
    Grammar,
    LineRule,
    Section,
    columns,
    numbered,
    rows,
    sift,
)
from hlodb.ingest.records import LiveRange, PrintedPeak, Reject, Unclaimed

_STEP = re.compile(rf"    ({NUMBER}):(\S+)$\n?", re.MULTILINE)
_RANGE = re.compile(rf"    ({NAME})({INDEX}):({NUMBER})-({NUMBER})$\n?", re.MULTILINE)
_PEAK = re.compile(
    rf"    ({NAME})({INDEX})?: ({BYTES}) bytes(?: \(cumulative: [0-9]+ bytes\))?$\n?",
    re.MULTILINE,
)
_BRANCH = re.compile(r"    ([^\n]+)\n?")


def _runs_forward(match: re.Match[str]) -> bool:
    return int(match[3]) <= int(match[4])


_SCHEDULE = Grammar((LineRule("`    step:instruction`", _STEP, key=1),), (" ",))
_RANGES = Grammar(
    (LineRule("`    name{index}:start-end`", _RANGE, key=2, holds=_runs_forward),),
    (" ",),
)
_PEAKS = Grammar((LineRule("`    name{index}: N bytes`", _PEAK),), (" ",))
_TREE = Grammar((LineRule("a branch of the stack trace tree", _BRANCH),), ("    ",))


class Schedule(NamedTuple):
    """Instruction names by step; a step whose line is missing holds an empty name."""

    names: list[str]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


class Ranges(NamedTuple):
    """Live ranges in print order; (instruction, shape_index) is unique."""

    rows: list[LiveRange]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


class Peaks(NamedTuple):
    """XLA's peak listing; before 2025-04 it prints no index, which is `""` here."""

    rows: list[PrintedPeak]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def read_schedule(section: Section) -> Schedule:
    """Read `InstructionSequence:`, lines `    12:fusion.3` that count from 0."""
    (steps, names), rejects, unclaimed = _read_list(section, _SCHEDULE, _counts_up)
    if _counts_up([steps, names]):
        return Schedule(names, rejects, unclaimed)
    # Room for steps whose line is missing, but no more than the text has characters:
    # a wild number must not claim memory.
    expected = max(map(int, steps)) + 1
    placed = [""] * min(expected, len(section.text))
    for step, name in zip(map(int, steps), names, strict=True):
        if step < len(placed):
            placed[step] = name
    if not rejects or len(placed) < expected:
        message = f"{expected} steps expected, {len(names)} listed"
        rejects.append(Reject(section.line, 1, section.kind, "incomplete", message, ""))
    return Schedule(placed, rejects, unclaimed)


def read_ranges(section: Section) -> Ranges:
    """Read `BufferLiveRange:`, lines `    fusion.5{0}:26-32`, both ends inclusive."""
    found, rejects, unclaimed = _read_list(section, _RANGES, _are_sound_ranges)
    names, indices, starts, ends = found
    ranges = rows(LiveRange, names, indices, map(int, starts), map(int, ends))
    return Ranges(ranges, rejects, unclaimed)


def read_peaks(section: Section) -> Peaks:
    """Read `Live ranges at N (peak):`, lines `    name{0}: 64 bytes (…)`."""
    found, rejects, unclaimed = _read_list(section, _PEAKS, _always)
    names, indices, sizes = found
    known = [index or "" for index in indices]
    peaks = rows(PrintedPeak, names, known, map(int, sizes))
    return Peaks(peaks, rejects, unclaimed)


def pass_tree(section: Section) -> list[Unclaimed]:
    """Pass over the stack trace breakdown; give the lines outside its tree."""
    return sift(section.kind, numbered(section), _TREE).unclaimed


def _read_list(
    section: Section, grammar: Grammar, is_sound: Callable[[Columns], bool]
) -> tuple[Columns, list[Reject], list[Unclaimed]]:
    """Read a section of one kind of line; sift it where it is not whole and sound."""
    rule = grammar.rules[0].pattern
    found, whole = columns(rule, section.text)
    if whole and is_sound(found):
        return found, [], []
    text, rejects, unclaimed = sift(section.kind, numbered(section), grammar)
    return columns(rule, text)[0], rejects, unclaimed


def _counts_up(found: Columns) -> bool:
    return all(map(eq, map(int, found[0]), count()))


def _are_sound_ranges(found: Columns) -> bool:
    names, indices, starts, ends = found
    distinct = len(set(zip(names, indices, strict=True)))
    return distinct == len(names) and all(map(le, map(int, starts), map(int, ends)))


def _always(_: Columns) -> bool:
    return True
