r"""Reports of running out of memory, as XLA and its runtimes write them into logs.

    lines → envelopes off, rank by rank → messages and lists → reports, in order

A *message* is a sentence of `wordings.py`; it may run over lines. Behind some stand
*lists*, line by line:

On CPU and GPU:                               On TPU:
    BufferAssignment OOM Debugging.               Ran out of memory in memory space hbm.
    BufferAssignment stats:                       Program hbm requirement 41.22G:
           parameter allocation:    6.00MiB           reserved           4.0K
               total allocation:   12.00MiB           HLO temp         41.19G (…)
    Peak buffers:                                   Largest program allocations in hbm:
        Buffer 1:                                   1. Size: 32.00G
            Size: 6.00MiB                              Shape: s32[8388608,8,4]{2,1,0}
            XLA Label: concatenate                     Unpadded size: 1.00G
            Shape: f32[4096,128,3]                     Allocation type: HLO temp
            ==========================                 ==========================

Where buffers were not assigned yet, a TPU lists the allocations of each space; an
allocator lists its statistics and chunks:

    Memory Space: default (color=0)               Stats:
      cumulative_size;  size; …; shapes_list      Limit:            12.00GiB
      128.00GiB(100%);  128.00GiB; …; f32[…]      InUse:             9.00GiB
                                                  InUse at 7f00 of size 4096 next 1

Ranks may write at the same time: lines that name theirs (`[rank3]:`, `mpirun
--tag-output`, `srun -l`) are read rank by rank. A report that is cut, or mixed with
another, is rejected there. One that a rank repeats in the same words is counted. A line
that tells of a shortage of memory in other words is a report of the form `unknown`,
which quotes it.

Sources: XLA `buffer_assignment.cc`, `tsl/framework/bfc_allocator.cc`; libtpu's lists
are from public logs of 2019 to 2026.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hlodb.ingest.formats.logs.envelope import LogLine, without_envelope
from hlodb.ingest.formats.logs.memory_stats import Stats, find_stats
from hlodb.ingest.formats.logs.messages import Found, found_in, text_of
from hlodb.ingest.formats.logs.oom_report import (
    MemoryStats,
    OomBuffer,
    OomChunk,
    OomReport,
)
from hlodb.ingest.formats.logs.wordings import (
    FIRST_MARKS,
    KNOWN_ADVICE,
    MARKS,
    SIZE,
    SUSPECT,
    line_number,
    size_bytes,
)
from hlodb.ingest.formats.scan import is_balanced, lines_of
from hlodb.ingest.records import Reject, Tally

_SECTION = "report of running out of memory"
_MOST_LINES = 250_000
_MOST_RANKS = 100_000
_MORE = (
    f"a log is read up to {_MOST_LINES:,} lines around such reports, of"
    f" {_MOST_RANKS:,} ranks; those from here on are not"
)

_NEAR = 200
"""A message of the same request may stand so many other lines further on."""

_ADJOINING = 12
"""A list that says nothing else belongs to a message so many other lines before it."""

_CLOSE = 3
"""The rest of a message may stand so many other lines further on."""

_BACKED_OFF = (0.88, 0.92)
"""An allocator that cannot extend its pool asks again for this share of a request."""

_EXCESS = {"used_bytes", "capacity_bytes", "excess_bytes"}
"""Sizes that a message says in two sentences."""

_REQUESTS = ("allocation", "allocation_warning")
"""Forms of a message about one request."""

_BEFORE, _AFTER = 40, 120
"""Lines around a mark that are read."""

_MOST_UNKNOWN = 100
"""So many different lines that are not understood are quoted of a log."""

_MOST_CHARACTERS = 1_000
"""Of a message so much is quoted."""

_SMALL = 1 << 18
"""Characters of a text of which all lines are read that may tell of a shortage."""

_AROUND = 100
"""Characters around a piece of a word that are looked at."""

_MOST_CHUNKS = 10_000
"""So many kinds of chunks are kept of an allocator."""


class _Suspect(NamedTuple):
    """A line that may tell of a shortage; `at` is its place among its rank's lines."""

    at: int
    number: int
    text: str


@dataclass(slots=True)
class _State:
    """The state of an allocator whose request is not named yet, and its lines."""

    report: OomReport
    numbers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class OomReading:
    """The lines of one rank as far as they were read, and their reports."""

    rank: int | None = None
    reports: list[OomReport] = field(default_factory=list)
    stats: list[MemoryStats] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=Tally)
    taken: set[int] = field(default_factory=set)
    suspects: list[_Suspect] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    number: int = 0
    gap: int = 0
    in_buffer: bool = False
    is_titled: bool = False
    is_mixed: bool = False
    in_histogram: bool = False
    is_unnumbered: bool = False
    listed: int = 0
    listed_space: str | None = None
    open_field: str = ""
    before_field: OomBuffer | None = None
    state: _State | None = None
    in_state: bool = False
    asked: int | None = None
    headless: OomReport | None = None

    def reject(self, code: str, message: str) -> None:
        """Record once of a report that it is not whole."""
        begun = self.reports[-1].line if self.reports else 0
        if not self.rejects or self.rejects[-1].line < begun:
            self.rejects.append(Reject(self.number, 0, _SECTION, code, message, ""))

    def end(self) -> None:
        """Report a list that is cut."""
        if self.in_buffer and not self._is_whole():
            self.reject("cut_report", _CUT)
        self.in_buffer = False

    def check_headless(self) -> None:
        """Reject a report whose beginning is cut off; drop a list of other things."""
        report = self.headless
        if report is None:
            return
        if any(each.shape and each.allocation_type for each in report.buffers):
            reject = Reject(report.line, 0, _SECTION, "cut_report", _BEHEADED, "")
            self.rejects.append(reject)
        else:
            self.reports.remove(report)

    def _is_whole(self) -> bool:
        """Return whether the open buffer has its last field, though not its end."""
        buffers = self.reports[-1].buffers if self.reports else []
        return bool(buffers) and buffers[-1].allocation_type is not None

    def report(self, *forms: str) -> OomReport | None:
        """Return the last report if it is of one of these forms."""
        last = self.reports[-1] if self.reports else None
        return last if last and last.form in forms else None

    def begin(self, form: str, space: str | None = None) -> OomReport:
        """Begin a report."""
        self.end()
        report = OomReport(self.number, form, space, rank=self.rank)
        self.reports.append(report)
        self.listed, self.is_mixed, self.is_titled = 0, False, False
        self.is_unnumbered = False
        self.listed_space, self.in_histogram, self.open_field = None, False, ""
        return report

    def take_found(self, found: Found) -> None:
        """Add what a message says, to a report that says the same, or to a new one."""
        report = self._same(found)
        is_backed_off = report is not None and self._is_backed_off(found)
        self.asked = found.sizes.get("requested_bytes")
        if is_backed_off:
            return
        if report is None:
            report = self.begin(found.form, found.space_name)
            report.sizes.update(found.sizes)
            if found.form in _REQUESTS:
                self._take_state(report)
        else:
            asked = report.sizes.get("requested_bytes")
            known = {**found.sizes, **report.sizes}
            if asked is not None and found.is_exact:
                known["requested_bytes"] = found.sizes.get("requested_bytes", asked)
            report.sizes.update(known)
            report.space_name = report.space_name or found.space_name
            if report.form == "allocation_warning":
                report.form = found.form
        for name, said in found.texts.items():
            report.texts.setdefault(name, said)
        report.buffers += [
            replace(buffer, place=len(report.buffers) + place)
            for place, buffer in enumerate(found.buffers, 1)
        ]
        if found.is_cut:
            self.reject("cut_report", _CUT)

    def _same(self, found: Found) -> OomReport | None:
        """Return the last report if the message says the same request again."""
        last = self.reports[-1] if self.reports else None
        if last is None or self.gap > _NEAR:
            return None
        if found.form == last.form == "program_memory":
            return last if self._goes_on(last, found) else None
        if found.form not in _REQUESTS or last.form not in (
            *_REQUESTS,
            "buffer_assignment",
        ):
            return None
        names = {last.texts.get("program_name"), found.texts.get("program_name")}
        if len(names - {None}) > 1:
            return None
        asked, again = (each.sizes.get("requested_bytes") for each in (last, found))
        if asked is None and again is None:
            is_same = last.texts.get("operation") == found.texts.get("operation")
            return last if is_same and self.gap <= _ADJOINING else None
        operation = found.texts.get("operation")
        is_new = operation is not None and last.texts.get("operation") != operation
        if asked is not None and again is None:
            # A library says that it failed after what the allocator said.
            return last if is_new and "operation" not in last.texts else None
        if asked is None or again is None:
            return None
        if is_new and last.form == "allocation" and last.chunks:
            return None
        # Three digits are printed of one, all of the other.
        is_same = abs(asked - again) * 100 <= max(asked, 100)
        return last if is_same or self._is_backed_off(found) else None

    def _is_backed_off(self, found: Found) -> bool:
        """Return whether a request is the last one again, with less."""
        again = found.sizes.get("requested_bytes")
        if not self.asked or again is None or self.gap > _ADJOINING:
            return False
        return _BACKED_OFF[0] <= again / self.asked <= _BACKED_OFF[1]

    def _take_state(self, report: OomReport) -> None:
        """Add the state of the allocator that stands just before a request."""
        state, self.state = self.state, None
        if state is not None and self.number - state.numbers[-1] <= _ADJOINING:
            report.sizes.update(state.report.sizes | report.sizes)
            report.texts.update(state.report.texts | report.texts)
            report.chunks.update(state.report.chunks)
            self.taken.update(state.numbers)

    def _goes_on(self, last: OomReport, found: Found) -> bool:
        """Return whether a message says the rest of what the last report says."""
        is_of_it = found.space_name == last.space_name
        is_bare = not (last.buffers or found.buffers)
        sizes = {*last.sizes, *found.sizes}
        is_more = len(sizes) == len(last.sizes) + len(found.sizes)
        return (
            self.gap <= _CLOSE and is_of_it and is_bare and is_more and sizes <= _EXCESS
        )

    def program(self, space: str) -> OomReport:
        """Return the open report about a TPU's space; begin one where there is none."""
        space = space.lower()
        report = self.report("program_memory")
        asked = self.report("allocation")
        if asked is not None and self.gap <= _ADJOINING and not asked.buffers:
            asked.form, asked.space_name = "program_memory", space
            return asked
        if report is None or report.space_name != space or report.buffers:
            report = self.begin("program_memory", space)
        return report

    def change_buffer(self, **said: str | int | bool | None) -> bool:
        """Add to the buffer that is open; tell whether one is."""
        if self.in_buffer:
            buffers = self.reports[-1].buffers
            buffers[-1] = replace(buffers[-1], **said)  # type: ignore[arg-type]
        return self.in_buffer


_Take = Callable[[OomReading, re.Match[str]], bool]


class _BlockRule(NamedTuple):
    """A kind of line, and what it does; `take` tells whether it fits where it is."""

    pattern: re.Pattern[str]
    take: _Take


# --- Lists of XLA ------------------------------------------------------------------


def _begin_assignment(reading: OomReading, match: re.Match[str]) -> bool:
    """Begin a report of an assignment; a request just before it belongs to it."""
    asked = reading.report("allocation")
    number = reading.number
    if asked is not None and reading.gap <= _ADJOINING:
        asked.form, asked.line = "buffer_assignment", number
    else:
        reading.begin("buffer_assignment")
    return True


def _take_stats_title(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("buffer_assignment")
    # It opens a report of its own, unless the line before has done so.
    if report is None or report.sizes.keys() & set(_STATS.values()):
        return _begin_assignment(reading, match)
    return True


def _take_stat(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("buffer_assignment")
    if report is not None:
        report.sizes[_STATS[match[1]]] = size_bytes(match[2])
    return report is not None


def _take_usage(reading: OomReading, match: re.Match[str]) -> bool:
    reading.program(match[1]).sizes.setdefault("used_bytes", size_bytes(match[2]))
    return True


def _take_requirement(reading: OomReading, match: re.Match[str]) -> bool:
    reading.program(match[1]).sizes["program_bytes"] = size_bytes(match[2])
    return True


def _take_share(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    if report is None:
        return False
    # What the program itself reserves, below its requirement, is another thing.
    is_own = match[1] == "reserved" and "program_bytes" in report.sizes
    if match[2] != "unknown size" and match[1] in _SHARES and not is_own:
        report.sizes.setdefault(_SHARES[match[1]], size_bytes(match[2]))
    if match[3]:
        report.sizes["temp_fragmentation_bytes"] = size_bytes(match[3])
    return True


def _take_output(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    for name, size in (("live_out_bytes", match[1]), ("shared_bytes", match[2])):
        if report and size:
            report.sizes[name] = size_bytes(size)
    return report is not None


def _take_title(reading: OomReading, match: re.Match[str]) -> bool:
    """Begin a list, and a report where the lines above it were not copied."""
    if not reading.reports or reading.gap > _NEAR:
        if match[1]:
            reading.begin("program_memory", match[1].lower())
        else:
            reading.begin("buffer_assignment")
    reading.is_titled = True
    return True


def _begin_numbered(reading: OomReading, match: re.Match[str]) -> bool:
    """Begin a buffer of a TPU's list, and a report where its beginning is cut off."""
    if not reading.reports:
        reading.headless = reading.begin("program_memory")
        reading.is_titled = True
    begun = _begin_buffer(reading, match)
    report = reading.reports[-1]
    places = [0, *(buffer.place for buffer in report.buffers[-2:])]
    is_apart = report is reading.headless and len(report.buffers) == 1
    if reading.in_buffer and not is_apart and places[-1] > places[-2] + 1:
        reading.reject("cut_report", _GAP)
    return begun


def _begin_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    if not reading.reports:
        return False
    size = size_bytes(match[2]) if match[2] else None
    buffers = reading.reports[-1].buffers
    # A second list, of arguments and outputs, counts from 1 again.
    is_again = bool(buffers) and int(match[1]) + reading.listed <= buffers[-1].place
    is_open = reading.in_buffer and not reading._is_whole()
    if is_open or (is_again and not reading.is_titled):
        return _mix(reading)
    if reading.is_mixed:
        return True
    if is_again:
        reading.listed = buffers[-1].place
    reading.is_titled = False
    buffers.append(OomBuffer(int(match[1]) + reading.listed, size))
    reading.in_buffer = True
    return True


def _mix(reading: OomReading) -> bool:
    """Reject the buffers of a report with which another is mixed."""
    reading.reject("mixed_reports", _MIXED)
    reading.in_buffer, reading.is_mixed = False, True
    reading.reports[-1].buffers.clear()
    return True


def _take_size(reading: OomReading, match: re.Match[str]) -> bool:
    """Read a buffer's size, which begins a buffer where its number was not copied."""
    size = size_bytes(match[1])
    buffers = reading.reports[-1].buffers if reading.reports else []
    if reading.in_buffer and buffers[-1].size_bytes is None:
        return reading.change_buffer(size_bytes=size)
    if reading.is_mixed:
        return True
    is_first = not buffers and reading.is_titled
    if not is_first and not (buffers and reading.is_unnumbered and reading.gap <= 2):
        return False
    # A buffer of which nothing but its size is said is another report's.
    if reading.in_buffer and buffers[-1] == OomBuffer(
        buffers[-1].place, buffers[-1].size_bytes
    ):
        return _mix(reading)
    reading.is_titled, reading.is_unnumbered = False, True
    buffers.append(OomBuffer(len(buffers) + 1, size))
    reading.in_buffer = True
    return True


def _begin_without_size(reading: OomReading) -> None:
    """Begin a buffer of which a list names no size, with its label."""
    buffers = reading.reports[-1].buffers if reading.reports else []
    is_first = not buffers and reading.is_titled and not reading.is_mixed
    is_next = reading.is_unnumbered and reading.gap <= 2 and reading._is_whole()
    if is_first or is_next:
        reading.is_titled, reading.is_unnumbered = False, True
        buffers.append(OomBuffer(len(buffers) + 1))
        reading.in_buffer = True


def _take_unpadded(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.change_buffer(unpadded_bytes=size_bytes(match[1]))


def _take_listed_space(reading: OomReading, match: re.Match[str]) -> bool:
    """Keep whose allocations follow: those of the space that was too small count."""
    reading.listed_space = "hbm" if match[1] == "default" else match[1]
    return reading.report("program_memory") is not None


def _take_allocation(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    if report is not None and reading.listed_space == report.space_name:
        size, place = size_bytes(match[2]), len(report.buffers) + 1
        report.buffers.append(OomBuffer(place, size, shape=match[3]))
    return report is not None


def _end_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    was_in, reading.in_buffer = reading.in_buffer, False
    return was_in


def _take_padding(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.in_buffer


def _take_type(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.change_buffer(allocation_type=match[1])


def _take_shape(reading: OomReading, match: re.Match[str]) -> bool:
    # One that is cut would be another shape.
    said = match[1] if is_balanced(match[1]) else None
    return reading.change_buffer(shape=said)


def _take_label(reading: OomReading, match: re.Match[str]) -> bool:
    said = match[1]
    _begin_without_size(reading)
    if _ARGUMENT.match(said) is not None:
        reading.change_buffer(is_parameter=True)
    earlier = reading.reports[-1].buffers[-1].label if reading.in_buffer else None
    label = said if earlier is None else f"{earlier} ({said})"
    return reading.change_buffer(label=label)


def _take_parameter(reading: OomReading, match: re.Match[str]) -> bool:
    said = match[1] if is_balanced(match[1]) else None
    return reading.change_buffer(shape=said, is_parameter=True)


def _take_operator(reading: OomReading, match: re.Match[str]) -> bool:
    said = {name: text or number for name, text, number in _SOURCE.findall(match[1])}
    return reading.change_buffer(
        op_name=_unquoted(said.get("op_name")),
        source_file=said.get("source_file"),
        source_line=line_number(said.get("source_line")),
    )


def _unquoted(text: str | None) -> str | None:
    """Return text without the backslashes that XLA writes before quotes."""
    return text if text is None else _QUOTED.sub(r"\1", text)


# --- The state of an allocator -------------------------------------------------------


def _with_state(reading: OomReading) -> OomReport:
    """Return the report that an allocator's lines belong to, or may belong to."""
    report = reading.report(*_REQUESTS, "buffer_assignment", "program_memory")
    if report is not None and reading.gap <= _ADJOINING:
        return report
    state, number = reading.state, reading.number
    if state is None or number - state.numbers[-1] > _ADJOINING:
        state = reading.state = _State(OomReport(number, "unknown"), [number])
    state.numbers.append(number)
    reading.in_state = True
    return state.report


def _take_state(reading: OomReading, match: re.Match[str]) -> bool:
    report, column = _with_state(reading), _ALLOCATOR_STATS[match[1]]
    size = size_bytes(match[3] or match[2])
    # Allocators print 0 for what they do not know.
    if size and not report.sizes.get(column):
        report.sizes[column] = size
    return True


def _take_count(reading: OomReading, match: re.Match[str]) -> bool:
    _with_state(reading)
    return True


def _take_device_memory(reading: OomReading, match: re.Match[str]) -> bool:
    report = _with_state(reading)
    report.sizes["device_free_bytes"] = int(match[1])
    report.sizes["device_bytes"] = int(match[2])
    return True


def _take_pool(reading: OomReading, match: re.Match[str]) -> bool:
    report = _with_state(reading)
    report.sizes["pool_bytes"] = size_bytes(match[1])
    report.sizes.setdefault("limit_bytes", size_bytes(match[2]))
    return True


def _take_chunk(reading: OomReading, match: re.Match[str]) -> bool:
    report = _with_state(reading)
    note = match[3] or ""
    program, place = _EXECUTABLE.search(note), _BUFFER_NOTE.search(note)
    index = place["index"] if place else None
    chunk = OomChunk(
        int(match[2]),
        match[1] == "Free",
        program[1] if program else None,
        place["kind"] if place else None,
        int(index) if index else None,
    )
    _count(reading, report, chunk, 1)
    if chunk.is_free:
        most = report.sizes.get("largest_free_bytes", 0)
        report.sizes["largest_free_bytes"] = max(most, chunk.size_bytes)
    return True


def _count(reading: OomReading, report: OomReport, chunk: OomChunk, n: int) -> None:
    if chunk in report.chunks or len(report.chunks) < _MOST_CHUNKS:
        report.chunks[chunk] = report.chunks.get(chunk, 0) + n
    else:
        reading.reject("too_many", f"more than {_MOST_CHUNKS:,} kinds of chunks")


def _begin_histogram(reading: OomReading, match: re.Match[str]) -> bool:
    _with_state(reading)
    reading.in_histogram = True
    return True


def _take_bar(reading: OomReading, match: re.Match[str]) -> bool:
    if reading.in_histogram:
        chunk = OomChunk(int(match[1]))
        _count(reading, _with_state(reading), chunk, int(match[2]))
    return reading.in_histogram


def _take_allocator(reading: OomReading, match: re.Match[str]) -> bool:
    _with_state(reading).texts.setdefault("allocator_name", match[1])
    return True


_STATS = {
    "parameter allocation": "parameter_bytes",
    "constant allocation": "constant_bytes",
    "maybe_live_out allocation": "live_out_bytes",
    "preallocated temp allocation": "temp_bytes",
    "preallocated temp fragmentation": "temp_fragmentation_bytes",
    "total allocation": "total_bytes",
    "total fragmentation": "total_fragmentation_bytes",
}
_SHARES = {
    "reserved": "reserved_bytes",
    "program": "program_bytes",
    "arguments": "parameter_bytes",
    "output": "live_out_bytes",
    "HLO temp": "temp_bytes",
}
_ALLOCATOR_STATS = {
    "Limit": "limit_bytes",
    "InUse": "in_use_bytes",
    "MaxInUse": "peak_in_use_bytes",
    "LargestFreeBlock": "largest_free_bytes",
    "Reserved": "reserved_bytes",
    "HBM capacity": "limit_bytes",
    "Top-of-Memory reserved": "reserved_bytes",
    "Currently allocated": "in_use_bytes",
    "Max free chunk": "largest_free_bytes",
}
_SHARE = "|".join((*_SHARES, "global", "scoped", "overlays"))
_ARGUMENT = re.compile(r"Argument [0-9]{1,9}\b")
_QUOTED = re.compile(r"\\(['\"\\])")
_SOURCE = re.compile(r'(op_name|source_file|source_line)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')
_EXECUTABLE = re.compile(r"\bexecutable=([^,{}>\s]{1,300})")
_BUFFER_NOTE = re.compile(
    r"\bkind=(?P<kind>\w{1,40})(?:, ?allocation_index=(?P<index>[0-9]{1,9}))?"
)
_CUT = "the report is cut here: what it lists further on is missing"
_GAP = "numbers of the list are missing before this one"
_BEHEADED = (
    "the report begins before this line: its sizes, and what it lists before, are"
    " missing"
)
_MIXED = (
    "lines of several reports are mixed here, so that no buffer is known: log each"
    " rank to a file, or with its number (mpirun --tag-output, srun -l)"
)
_S = f"({SIZE})"

BLOCK_RULES = tuple(
    _BlockRule(re.compile(pattern), take)
    for pattern, take in (
        (r"BufferAssignment OOM Debugging\.?$", _begin_assignment),
        (r"BufferAssignment stats:$", _take_stats_title),
        (rf"({'|'.join(_STATS)}):\s*{_S}(?: \(.*\))?$", _take_stat),
        (rf"Total (\w{{1,20}}) usage >= {_S}:?$", _take_usage),
        (rf"Program (\w{{1,20}}) requirement {_S}:?$", _take_requirement),
        (
            rf"({_SHARE})(?:\([\w/]{{1,60}}\))?\s+({SIZE}|unknown size)"
            rf"(?: \(.*?(?:fragmentation \({_S}\))?\))?(?: \[[^]]{{0,80}}\])?$",
            _take_share,
        ),
        (
            rf"Output size (?:unknown|{_S}(?:; shares {_S} with arguments)?)\.?$",
            _take_output,
        ),
        (
            r"(?:Peak buffers|Largest program (?:allocations|arguments and outputs)"
            r" in (\w{1,20})):?$",
            _take_title,
        ),
        (rf"Buffer ([0-9]{{1,6}}):(?:$| {_S})", _begin_buffer),
        (rf"([0-9]{{1,6}})[.)] Size: {_S}$", _begin_numbered),
        (r"Memory Space: (\w{1,20}) \(color=[0-9]{1,3}\)$", _take_listed_space),
        (
            rf"{_S}\([0-9]{{1,3}}%\);\s+{_S};\s+[0-9]+;\s+[0-9]+; (\S.*)$",
            _take_allocation,
        ),
        (rf"Size: {_S}$", _take_size),
        (rf"Unpadded size: {_S}$", _take_unpadded),
        (r"Extra memory due to padding: .*$", _take_padding),
        (r"Operator: (.*)$", _take_operator),
        (r"Entry Parameter Subshape: (.*)$", _take_parameter),
        (r"(?:XLA [Ll]abel|Tag): (.*)$", _take_label),
        (r"(Argument [0-9]{1,9} index \{[0-9,]{0,80}\})$", _take_label),
        (r"Shape: (.*)$", _take_shape),
        (r"Allocation type: (.*)$", _take_type),
        (r"={10,}$", _end_buffer),
        (
            rf"(?:Stats: *)?({'|'.join(_ALLOCATOR_STATS)}):?\s+"
            rf"({SIZE}|[0-9]{{1,18}})(?: \((?:\s*([0-9,]{{1,25}}) bytes|.*)\))?:?$",
            _take_state,
        ),
        (
            r"(?:Num\w{0,20}|MaxAllocSize|\w{0,20}Reserved|Pool\w{0,20}"
            r"|Available after request|Program requirement|[Hh]eap allocat\w{1,40}"
            r"(?: \([\w ]{1,40}\))?):?\s+-?[0-9].*$|Stats:$|Heap allocator status:$"
            r"|-{10,}$|\[?OOM Summary: .{0,200}Allocator stats:$",
            _take_count,
        ),
        (
            r"(?:Reported by CUDA: )?Free memory/Total memory: ([0-9]{1,18})/"
            r"([0-9]{1,18})$",
            _take_device_memory,
        ),
        (
            rf"Total size in pool: {_S},? memory_limit_: {_S} .*$",
            _take_pool,
        ),
        (
            r"total_region_allocated_bytes_: ([0-9]{1,18}),? memory_limit_:"
            r" ([0-9]{1,18}) .*$",
            _take_pool,
        ),
        (
            r"(InUse|Free|Chunk) +at (?:0x)?[0-9a-fA-F]{1,16} of size ([0-9]{1,18})"
            r"(?: (.*))?$",
            _take_chunk,
        ),
        (r"BFCAllocator dump for ([\w.\-]{1,80})$", _take_allocator),
        (
            r"Bin \([0-9]{1,18}\):.*$|[0-9]{1,9} Chunks of size .*$|Sum Total of .*$"
            r"|Summary of in-use Chunks.*$|Next region of size .*$|[*_x]{60,}$"
            r"|Current allocation summary follows\.?$|Bin for .*$",
            _take_count,
        ),
        (r"Histogram of current allocation: .*$", _begin_histogram),
        (r"([0-9]{1,18}), ([0-9]{1,9});?$", _take_bar),
    )
)
"""Tried in order on a line without its envelope; the first that matches decides."""

_MARK = re.compile("|".join(map(re.escape, MARKS)))
_CONTINUED = re.compile(
    r"(?:Operator|Entry Parameter Subshape|XLA [Ll]abel|Shape|Tag):"
)
_FIELD = re.compile(
    r"(?:[0-9]{1,6}[.)] )?(?:Size|Unpadded size|Extra memory due to padding|Operator"
    r"|Entry Parameter Subshape|XLA [Ll]abel|Tag|Shape|Allocation type): |={10,}$"
)
_ATTRIBUTE = re.compile(r"(?:op_name|op_type|source_file|source_line|source_end_line)=")
# Lists whose line breaks were lost on their way.
_FLAT = re.compile(
    r"Total \w{1,20} usage >= |Program \w{1,20} requirement |Allocation type: "
    r"|Unpadded size: |XLA [Ll]abel: |Peak buffers:|[a-z] allocation: "
    r"|LargestFreeBlock:"
)
_TITLE_AND_MORE = re.compile(
    rf"(?:Total \w{{1,20}} usage >=|Program \w{{1,20}} requirement) {SIZE}: +\w"
)
_FLAT_BREAK = re.compile(
    r"(?<!\s)\s++(?=Total \w{1,20} usage >= |Program \w{1,20} requirement "
    r"|Largest program |Output size |[0-9]{1,6}\. Size: |(?<![0-9]\. )Size: [0-9]"
    r"|Operator: op_|Shape: "
    r"|Unpadded size: |Extra memory due|XLA [Ll]abel: |Allocation type: |={10,}"
    r"|Peak buffers:|Buffer [0-9]{1,6}:|BufferAssignment (?:OOM|stats)"
    rf"|(?:{_SHARE})\s+(?:{SIZE}|unknown size)(?:\s|$)|(?:{'|'.join(_STATS)}):"
    r"|(?:Limit|InUse|MaxInUse|NumAllocs|MaxAllocSize|Reserved|PeakReserved"
    r"|LargestFreeBlock):)"
)
_LONG = 80
_ENDING = re.compile(r"[A-Z_]{0,40}OF_MEMORY\b|(?:out )?of memory\b|memory\b")


# --- Reading -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OomLog:
    """The reports of a log, and the numbers of the lines they take, from 1."""

    reports: list[OomReport] = field(default_factory=list)
    lines: frozenset[int] = frozenset()
    rejects: list[Reject] = field(default_factory=list)
    stats: list[MemoryStats] = field(default_factory=list)


def parse_oom_log(text: str) -> OomLog:
    """Read all reports of a log; other lines are left to others. Never fails."""
    watched = _watched(text)
    if not watched:
        return OomLog()
    streams: dict[int | None, list[tuple[LogLine, int]]] = {}
    rank, before, skipped = None, -1, 0
    rejects: list[Reject] = Tally()
    for count, (number, raw) in enumerate(_lines_in(text, watched), 1):
        skipped += number - before - 1
        before = number
        if count > _MOST_LINES or len(streams) >= _MOST_RANKS:
            rejects.append(Reject(number + 1, 0, _SECTION, "more", _MORE, ""))
            break
        for line in without_envelope(number + 1, raw):
            # Lines that a message goes on in may have no prefix.
            rank = rank if line.rank is None else line.rank
            stream = streams.setdefault(rank, [])
            stream += ((piece, skipped) for piece in _unflattened(line))
    readings = [_read(rank, stream) for rank, stream in streams.items()]
    reports = [report for each in readings for report in _once(each.reports)]
    for each in readings:
        rejects += each.rejects
    stats = [found for each in readings for found in each.stats]
    reports += _unknown(readings, rejects)
    reports.sort(key=lambda report: report.line)
    rejects.sort(key=lambda reject: reject.line)
    stats.sort(key=lambda found: found.line)
    taken = frozenset(number for each in readings for number in each.taken)
    return OomLog(reports, taken, rejects, stats)


def _once(reports: Sequence[OomReport]) -> Iterator[OomReport]:
    """Yield the reports of a rank; the first of equal ones counts the others."""
    first: dict[str, OomReport] = {}
    for report in reports:
        known = first.setdefault(repr(replace(report, line=0)), report)
        if known is report:
            yield report
        else:
            known.sizes["repeat_count"] = known.sizes.get("repeat_count", 0) + 1


def _watched(text: str) -> list[range]:
    """Return the numbers of lines, from 0, around those that hold a mark."""
    watched: list[range] = []
    line = at = following = 0
    for end in sorted(set(_ends_of_marked_lines(text))):
        line += text.count("\n", at, end)
        at = end
        first, stop = max(following, line - _BEFORE), line + _AFTER + 1
        if watched and watched[-1].stop == first:
            watched[-1] = range(watched[-1].start, stop)
        else:
            watched.append(range(first, stop))
        following = stop
    return watched


def _lines_in(text: str, watched: Sequence[range]) -> Iterator[tuple[int, str]]:
    """Yield the watched lines with their numbers."""
    places = iter(watched)
    place = next(places)
    for number, line in enumerate(lines_of(text)):
        if number >= place.stop:
            following = next(places, None)
            if following is None:
                return
            place = following
        if number >= place.start:
            yield number, line


def _ends_of_marked_lines(text: str) -> Iterator[int]:
    """Yield the ends of lines that may tell of it; in a small text all are read."""
    is_small = len(text) <= _SMALL
    for mark in FIRST_MARKS:
        at = text.find(mark)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            # A wrapped line goes on in the next one.
            if is_small or _MARK.search(text, max(at - _AROUND, 0), end + _AROUND):
                yield end
            at = text.find(mark, end)


def _unflattened(line: LogLine) -> Iterator[LogLine]:
    """Yield a line, or the lines of a list that was copied into one."""
    said = line.said
    is_flat = len(_FLAT.findall(said)) > 1 or _TITLE_AND_MORE.search(said) is not None
    if len(said) < _LONG or not is_flat:
        yield line
        return
    for piece in _FLAT_BREAK.split(said):
        yield line._replace(said=piece.strip(), raw="")


def _read(rank: int | None, stream: Sequence[tuple[LogLine, int]]) -> OomReading:
    """Read the lines of one rank."""
    reading = OomReading(rank)
    lines = [line for line, _ in stream]
    at = skipped = 0
    while at < len(lines):
        line, missing = lines[at], stream[at][1]
        reading.number = line.number
        reading.gap += missing - skipped
        skipped = missing
        found = found_in(lines, at, reading.taken)
        if found is not None:
            reading.take_found(found)
            _claim(reading, found.numbers, at)
            at = _after(lines, at, found)
            continue
        stats = find_stats(lines, at)
        if stats is not None:
            _take_stats(reading, stats)
            at += stats.line_count
            continue
        if line.said:
            _read_line(reading, lines, at)
        at += 1
    reading.end()
    reading.check_headless()
    return reading


def _after(lines: list[LogLine], at: int, found: Found) -> int:
    """Return where to go on behind a message; its last line may go on itself."""
    last = at + found.line_count - 1
    rest = found.rest.lstrip(" .;,)]'\"")
    if rest:
        lines[last] = lines[last]._replace(said=rest, raw="")
        return last
    return last + 1


def _claim(reading: OomReading, numbers: Sequence[int], at: int) -> None:
    reading.taken.update(numbers)
    reading.claims.append(at)
    reading.gap = 0


def _take_stats(reading: OomReading, stats: Stats) -> None:
    number = stats.numbers[0]
    reading.stats.append(MemoryStats(number, stats.form, stats.sizes, reading.rank))
    reading.taken.update(stats.numbers)


def _read_line(reading: OomReading, lines: Sequence[LogLine], at: int) -> None:
    """Read a line of a list; keep one that tells of a shortage in other words."""
    line = lines[at]
    reading.in_state = False
    if _takes(reading, line.said) and not reading.in_state:
        _claim(reading, [line.number], at)
        return
    if reading.in_state:
        reading.gap += 1
        return
    if line.number in reading.taken:
        return
    reading.gap += 1
    is_new = SUSPECT.search(line.said) is not None
    if is_new and reading.gap == 1 and not line.is_headed and _ENDING.match(line.said):
        # The message of the line before goes on in words that add nothing.
        return
    if is_new and not KNOWN_ADVICE.search(line.said):
        reading.suspects.append(_Suspect(at, line.number, text_of(lines, at)))


def _takes(reading: OomReading, said: str) -> bool:
    if reading.open_field and reading.in_buffer and _goes_on(reading, said):
        joined = f"{reading.open_field} {said}"
        if reading.before_field is not None:
            reading.reports[-1].buffers[-1] = reading.before_field
        return _take_block(reading, joined)
    return _take_block(reading, said)


def _goes_on(reading: OomReading, said: str) -> bool:
    """Return whether a line ends the field of the line before it."""
    before = reading.open_field
    # A label may be cut short, with open brackets.
    if _FIELD.match(said) is not None:
        return False
    is_open = not is_balanced(before) or before.count('"') % 2 == 1
    is_open = is_open or before.endswith((",", "=", "("))
    return is_open or _ATTRIBUTE.match(said) is not None


def _take_block(reading: OomReading, said: str) -> bool:
    is_field = _CONTINUED.match(said) is not None
    if is_field and reading.in_buffer:
        reading.before_field = reading.reports[-1].buffers[-1]
    for rule in BLOCK_RULES:
        if match := rule.pattern.match(said):
            is_taken = rule.take(reading, match)
            reading.open_field = said if is_field and is_taken else ""
            return is_taken
    reading.open_field = ""
    return False


def _unknown(
    readings: Sequence[OomReading], rejects: list[Reject]
) -> Iterator[OomReport]:
    """Yield a report for each line that no wording takes, once for those alike."""
    seen: Counter[str] = Counter()
    first: dict[str, OomReport] = {}
    for reading in readings:
        for suspect in reading.suspects:
            if suspect.number in reading.taken or _is_heading(suspect, reading):
                continue
            key = re.sub(r"[0-9]+", "0", suspect.text)
            seen[key] += 1
            if key in first:
                first[key].sizes["repeat_count"] = seen[key] - 1
            elif len(first) < _MOST_UNKNOWN:
                text = suspect.text[:_MOST_CHARACTERS]
                report = OomReport(suspect.number, "unknown", rank=reading.rank)
                report.texts["message"] = text
                first[key] = report
    left = seen.total() - sum(seen[key] for key in first)
    if left:
        message = (
            f"{left} more lines tell of a shortage of memory in words that are not"
            f" understood; {_MOST_UNKNOWN} different ones are quoted"
        )
        rejects.append(Reject(0, 0, "log", "not_understood", message, ""))
    yield from first.values()


def _is_heading(suspect: _Suspect, reading: OomReading) -> bool:
    """Return whether a message that is understood follows at once."""
    return any(0 < claim - suspect.at <= 3 for claim in reading.claims)
