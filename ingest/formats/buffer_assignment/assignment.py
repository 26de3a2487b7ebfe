"""Buffer assignments of every release since 2019, whole or split over three files.

    text → sections (allocations · total · values · schedule · ranges · peaks) → records

One entry reads any file of the family, because each is a run of the same sections:

    -buffer-assignment.txt          all of them until 2026-04, then allocations only
    -buffer-assignment-values.txt   total and values
    -live-range.txt                 schedule, live ranges and peaks

The sections of live ranges are XLA's `hlo_live_range.cc`: schedule, live ranges and its
own list of what is live at the peak.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from operator import eq, le, lt
from typing import NamedTuple

from hlodb.ingest.formats.buffer_assignment.allocations import (
    Allocations,
    read_allocations,
)
from hlodb.ingest.formats.buffer_assignment.placed_values import with_values_apart
from hlodb.ingest.formats.buffer_assignment.values import UsedValues, read_values
from hlodb.ingest.formats.scan import is_balanced
from hlodb.ingest.formats.sections import (
    BYTES,
    INDEX,
    NAME,
    NUMBER,
    Columns,
    Grammar,
    LineRule,
    Section,
    cut,
    numbered,
    packed_columns,
    sift,
    snippet,
    unclaimed_lines,
)
from hlodb.ingest.records import (
    BufferAssignment,
    LiveRange,
    Packed,
    PrintedPeak,
    Reject,
    Tally,
    Texts,
    Unclaimed,
    Value,
    column_of,
    end_to_end,
    texts_end_to_end,
)

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

    names: Sequence[str]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


class Ranges(NamedTuple):
    """Live ranges in print order; (instruction, shape_index) is unique."""

    rows: Sequence[LiveRange]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


class Peaks(NamedTuple):
    """XLA's peak listing; before 2025-04 it prints no index, which is `""` here."""

    rows: Sequence[PrintedPeak]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def read_schedule(section: Section, texts: Texts | None = None) -> Schedule:
    """Read `InstructionSequence:`, lines `    12:fusion.3` that count from 0."""
    (steps, names), rejects, unclaimed = _read_list(
        section, _SCHEDULE, "i.", _counts_up, texts
    )
    if _counts_up([steps, names]):
        return Schedule(names, rejects, unclaimed)
    # Room for steps whose line is missing, but no more than the text has characters:
    # a wild number must not claim memory.
    expected = max(steps) + 1
    placed = [""] * min(expected, len(section.text))
    for step, name in zip(steps, names, strict=True):
        if step < len(placed):
            placed[step] = name
    if not rejects or len(placed) < expected:
        message = f"{expected} steps expected, {len(names)} listed"
        rejects.append(Reject(section.line, 1, section.kind, "incomplete", message, ""))
    return Schedule(placed, rejects, unclaimed)


def read_ranges(section: Section, texts: Texts | None = None) -> Ranges:
    """Read `BufferLiveRange:`, lines `    fusion.5{0}:26-32`, both ends inclusive."""
    found, rejects, unclaimed = _read_list(
        section, _RANGES, "..ii", _are_sound_ranges, texts
    )
    return Ranges(Packed(LiveRange, found), rejects, unclaimed)


def read_peaks(section: Section, texts: Texts | None = None) -> Peaks:
    """Read `Live ranges at N (peak):`, lines `    name{0}: 64 bytes (…)`."""
    found, rejects, unclaimed = _read_list(section, _PEAKS, "..q", _always, texts)
    names, indices, sizes = found
    known = [index or "" for index in indices]
    return Peaks(Packed(PrintedPeak, [names, known, sizes]), rejects, unclaimed)


def pass_tree(section: Section) -> list[Unclaimed]:
    """Pass over the stack trace breakdown; give the lines outside its tree."""
    return sift(section.kind, numbered(section), _TREE).unclaimed


def _read_list(
    section: Section,
    grammar: Grammar,
    codes: str,
    is_sound: Callable[[Columns], bool],
    texts: Texts | None,
) -> tuple[Columns, list[Reject], list[Unclaimed]]:
    """Read a section of one kind of line; sift it where it is not whole and sound."""
    rule = grammar.rules[0].pattern
    texts = Texts() if texts is None else texts
    found, whole = packed_columns(rule, section.text, codes, texts)
    if whole and is_sound(found):
        return found, Tally(), Tally()
    text, rejects, unclaimed = sift(section.kind, numbered(section), grammar)
    return packed_columns(rule, text, codes, texts)[0], rejects, unclaimed


def _counts_up(found: Columns) -> bool:
    return all(map(eq, found[0], count()))


def _are_sound_ranges(found: Columns) -> bool:
    names, indices, starts, ends = found
    width = len(names.by_number)
    pairs = zip(names.numbers, indices.numbers, strict=True)
    keys = sorted([name * width + index for name, index in pairs])
    are_distinct = all(map(lt, keys, islice(keys, 1, None)))
    return are_distinct and all(map(le, starts, ends))


def _always(_: Columns) -> bool:
    return True


_ALWAYS_FOLLOWED = frozenset({"live_range", "schedule", "ranges"})
# How a last line that no line break follows ends if it is whole, by its beginning.
_WHOLE_ENDS = {
    "allocation ": (":",),
    " value: ": ("]", "}", ")"),
    " [": ("]", "}", ")"),
    " from instruction:": ("",),
    "    ": (" bytes", " bytes)"),
    "HloLiveRange not": (")",),
    "  Peak memory": (".",),
}
_HALF_SOURCE = re.compile(r"<(?:[0-9]+(?: [^<>]*)?)?$|(?:[=,] ?|, [a-z_]+)$")


def without_cut_line(text: str, last: int) -> tuple[str, list[Reject]]:
    """Take off a last line that breaks off, and say so; `last` is its number."""
    start = text.rfind("\n") + 1
    line = text[start:]
    if not line or _is_whole(line):
        return text, []
    message = "the text breaks off in this line; everything before it was read"
    return text[:start], [
        Reject(last, len(line) + 1, "end", "truncated", message, snippet(line))
    ]


def _is_whole(line: str) -> bool:
    ends = next((e for b, e in _WHOLE_ENDS.items() if line.startswith(b)), None)
    if ends is None or not line.endswith(ends) or not is_balanced(line):
        return False
    if line.startswith(" from instruction:"):
        return " = " in line and ")" in line and not _HALF_SOURCE.search(line)
    return True


def missing_start(found: list[Section]) -> list[Reject]:
    """Reject a text that has no section of the family."""
    if found[-1].kind != "preamble":
        return []
    message = "expected `BufferAssignment:`, `Used values:` or `HloLiveRange`"
    return [Reject(1, 1, "start", "no_assignment", message, snippet(found[0].text))]


def missing_end(last: Section, is_open: bool, line: int) -> list[Reject]:
    """Reject a text that ends between two lines where more must follow.

    `is_open` tells that the last value has no instruction, or place, though others
    have.
    """
    if last.kind not in _ALWAYS_FOLLOWED and not (last.kind == "values" and is_open):
        return []
    message = "the text ends within this section; everything before was read"
    return [Reject(line, 1, last.kind, "truncated", message, "")]


def missing_steps(header: Section, assignment: BufferAssignment) -> list[Reject]:
    """Reject a sequence that is shorter or longer than its header says."""
    steps, expected = len(assignment.schedule), assignment.schedule_end
    if expected is None or steps == expected:
        return []
    message = f"{expected} steps announced, {steps} listed"
    return [Reject(header.line - 1, 1, header.kind, "incomplete", message, "")]


def repeated(section: Section) -> Reject:
    """Reject a section that another of its kind went before."""
    message = "a second section of this kind; only the first one is read"
    return Reject(section.line - 1, 1, section.kind, "duplicate", message, "")


def disputes(section: Section, disputed: list[Value]) -> Iterator[Reject]:
    """Reject the used values that `disputed` holds: their placement says otherwise."""
    heads = {f"<{value.value_id} " for value in disputed}
    message = "this value has another name, index or colour where it is placed"
    for number, line in numbered(section) if heads else ():
        if line.startswith("<") and line[: line.find(" ") + 1] in heads:
            yield Reject(
                number, 1, section.kind, "contradiction", message, snippet(line)
            )


_HEADERS = re.compile(
    rf"""\n(?=[BHTU]|\ \ [BILPS])(?:
    (?P<allocations>BufferAssignment:)
  | (?P<total>Total\ bytes\ used:\ {BYTES}(?:\ \([^)\n]*\))?)
  | (?P<values>Used\ values:)
  | (?P<live_range>HloLiveRange\ \(max\ {NUMBER}\):)
  | (?P<no_live_range>HloLiveRange\ not\ available[^\n]*)
  | (?P<schedule>\ \ InstructionSequence:)
  | (?P<ranges>\ \ BufferLiveRange:)
  | (?P<peaks>\ \ Live\ ranges\ at\ {NUMBER}\ \(peak\):)
  | (?P<no_peak>\ \ Peak\ memory\ could\ not\ be\ determined[^\n]*)
  | (?P<tree>\ \ Stack\ trace\ breakdown\ for\ peak\ usage:[^\n]*)
    )(?=\n|\Z)""",
    re.VERBOSE,
)
_BARE_ALLOCATION = re.compile(rf"^allocation {NUMBER}: ", re.MULTILINE)
_HEADERS_ONLY = ("preamble", "total", "live_range", "no_live_range", "no_peak")
_MANY = 10_000
"""Values that are held as rows at once."""
_READ_ONCE = ("allocations", "schedule", "ranges", "peaks")
_NOTHING = Section("nothing", 0, "", 1)


class _Parts(NamedTuple):
    allocations: Allocations
    used: UsedValues
    schedule: Schedule
    ranges: Ranges
    peaks: Peaks


@dataclass(frozen=True, slots=True)
class ParsedAssignment:
    """A file of the family: its records, and what of it no record holds."""

    assignment: BufferAssignment
    rejects: list[Reject] = field(default_factory=Tally)
    unclaimed: list[Unclaimed] = field(default_factory=Tally)
    lines_total: int = 0


def parse_assignment(text: str) -> ParsedAssignment:
    """Read any file of the buffer-assignment family, or several of them in one text.

    No text makes it fail. A truncated one gives its rows up to the cut and one reject
    naming the last line. Of a section that comes twice the first is read.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines_total = text.count("\n") + (text[-1:] not in ("", "\n"))
    text, ends = without_cut_line(text, lines_total)
    found, is_open = with_values_apart(_with_bare_allocations(cut(text, _HEADERS)))
    del text
    sections = {section.kind: section for section in reversed(found)}
    parts = _read_parts(found, sections)
    values, disputed = _merge([parts.allocations.values, parts.used.values])
    assignment = _assemble(parts, values, sections)
    ends = ends or missing_start(found)
    ends = ends or missing_end(found[-1], is_open or parts.used.is_open, lines_total)
    rejects = Tally(ends)
    rejects += disputes(sections.get("values", _NOTHING), disputed)
    for part in parts:
        rejects += part.rejects
    if not rejects:
        rejects += missing_steps(sections.get("live_range", _NOTHING), assignment)
    unclaimed: Tally[Unclaimed] = Tally()
    for part in parts:
        unclaimed += part.unclaimed
    unclaimed += pass_tree(sections.get("tree", _NOTHING))
    for section in found:
        if section is not sections[section.kind]:
            rejects.append(repeated(section))
            unclaimed += unclaimed_lines(section)
        elif section.kind in _HEADERS_ONLY:
            unclaimed += unclaimed_lines(section)
    rejects.sort()
    unclaimed.sort()
    return ParsedAssignment(assignment, rejects, unclaimed, lines_total)


def join_assignments(parts: Sequence[BufferAssignment]) -> BufferAssignment:
    """Make the files that one module's assignment is split over equal to a single one.

    Each part holds other sections; of a number that several print the first counts.
    """
    if len(parts) == 1:
        return parts[0]
    values, _ = _merge([part.values for part in parts])
    return BufferAssignment(
        allocations=end_to_end(part.allocations for part in parts),
        placements=end_to_end(part.placements for part in parts),
        values=values,
        positions=end_to_end(part.positions for part in parts),
        uses=end_to_end(part.uses for part in parts),
        sources={name: text for part in parts for name, text in part.sources.items()},
        printed_total_bytes=_first(part.printed_total_bytes for part in parts),
        schedule=texts_end_to_end(part.schedule for part in parts),
        schedule_end=_first(part.schedule_end for part in parts),
        live_ranges=end_to_end(part.live_ranges for part in parts),
        peak_step=_first(part.peak_step for part in parts),
        printed_peaks=end_to_end(part.printed_peaks for part in parts),
    )


def _read_parts(found: list[Section], sections: dict[str, Section]) -> _Parts:
    """Read the first section of each kind; those that are large are dropped then."""

    def first(kind: str) -> Section:
        section = sections.get(kind, _NOTHING)
        if kind in _READ_ONCE and kind in sections:
            sections[kind] = section._replace(text="")
            found[found.index(section)] = sections[kind]
        return section

    texts = Texts()
    parts = _Parts(
        read_allocations(first("allocations"), texts),
        read_values(first("values"), texts),
        read_schedule(first("schedule"), texts),
        read_ranges(first("ranges"), texts),
        read_peaks(first("peaks"), texts),
    )
    texts.by_number.pack()
    return parts


def _assemble(
    parts: _Parts, values: Sequence[Value], sections: Mapping[str, Section]
) -> BufferAssignment:
    def number(kind: str) -> int | None:
        return sections[kind].number if kind in sections else None

    return BufferAssignment(
        allocations=parts.allocations.allocations,
        placements=parts.allocations.placements,
        values=values,
        positions=parts.used.positions,
        uses=parts.used.uses,
        sources=parts.used.sources,
        printed_total_bytes=number("total"),
        schedule=parts.schedule.names,
        schedule_end=number("live_range"),
        live_ranges=parts.ranges.rows,
        peak_step=number("peaks"),
        printed_peaks=parts.peaks.rows,
    )


def _merge(parts: Iterable[Sequence[Value]]) -> tuple[Sequence[Value], list[Value]]:
    """Return one row per value by id, and those that contradict the row kept.

    A value is listed with its shape where it is placed, and without among the used.
    """
    values = end_to_end(parts)
    ids = column_of(values, "value_id")
    if all(map(lt, ids, islice(ids, 1, None))):
        return values, []
    rows = values if len(values) > _MANY else list(values)
    kept: list[int] = []
    disputed: list[Value] = []
    for at in sorted(range(len(values)), key=ids.__getitem__):
        if not kept or ids[kept[-1]] != ids[at]:
            kept.append(at)
            continue
        known, value = rows[kept[-1]], rows[at]
        if known[:-1] != value[:-1]:
            disputed.append(value)
        elif known.shape is None:
            kept[-1] = at
    if isinstance(values, Packed):
        return values.taken(kept), disputed
    return [values[at] for at in kept], disputed


def _with_bare_allocations(found: list[Section]) -> list[Section]:
    """Take lines before the first header for allocations, where they are."""
    first, *rest = found
    if _BARE_ALLOCATION.search(first.text):
        first = first._replace(kind="allocations")
    return [first, *rest]


def _first(numbers: Iterable[int | None]) -> int | None:
    return next((number for number in numbers if number is not None), None)
