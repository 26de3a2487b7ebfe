"""Reports of running out of memory, as XLA writes them into logs and error messages.

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

Sizes have two or three digits, powers of 1024 in both spellings. Lines may stand behind
a log's prefix (time and source file, process, rank, level, colours). Ranks may write at
the same time: lines that name theirs (`[rank3]:`, `mpirun --tag-output`, `srun -l`) are
read rank by rank. A report that is cut, or mixed with another, is rejected there.

Other lines say it alone, and each is a report where no longer one follows:

    Out of memory while trying to allocate 6291456 bytes.                     allocation
    Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.02GiB …
    Failed to allocate request for 154.06GiB (165425291480B) on device …
    Can't reduce memory use below 22.27GiB (… bytes) by rematerialization;
      only reduced to … (… bytes), down from … (… bytes) originally    rematerialization
    Ran out of memory on HBM, the total memory required for HLO
      temporaries (20.62G) exceeds available HBM (15.75G).                program_memory
    Ran out of memory in memory space vmem while allocating on stack for %k …
      Scoped allocation with size 19.85M and limit 16.00M exceeded …      program_memory
    XLA::TPU program HBM usage: 19.51G / 30.75G                            program_usage

Where buffers were not assigned yet, a TPU lists the allocations of each space:

    Ran out of memory in memory space hbm. … Memory usage report:
    Memory Space: default (color=0)
      cumulative_size;       size;       offset; used_by_n_values; shapes_list
      128.00GiB(100%);  128.00GiB;            0;                1; f32[65536,524288]

Sources: XLA `buffer_assignment.cc`, `hlo_rematerialization.cc`, `bfc_allocator.cc`,
`stream_executor_memory_allocator.cc`; libtpu's wordings are from public logs of 2020 to
2026.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hlodb.ingest.formats.scan import human_bytes, is_balanced, lines_of
from hlodb.ingest.records import Reject, Tally


@dataclass(frozen=True, slots=True)
class OomBuffer:
    """A buffer of the list; `place` counts from 1 as printed, sizes are rounded."""

    place: int
    size_bytes: int | None = None
    unpadded_bytes: int | None = None
    shape: str | None = None
    is_parameter: bool = False
    label: str | None = None
    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    allocation_type: str | None = None


@dataclass(slots=True)
class OomReport:
    """One report; `sizes` holds bytes by the names of the columns of oom_reports."""

    line: int
    form: str
    space_name: str | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    buffers: list[OomBuffer] = field(default_factory=list)
    rank: int | None = None


class Request(NamedTuple):
    """What could not be allocated, as the line says it."""

    line: int
    size_bytes: int
    is_exact: bool

    def is_same(self, size_bytes: int) -> bool:
        """Return whether it is this size, as far as three digits can say."""
        return abs(self.size_bytes - size_bytes) * 100 <= max(self.size_bytes, 100)


_SECTION = "report of running out of memory"


class OomReading:
    """A log as far as it was read: the reports, and what was said before one begins."""

    def __init__(self, rank: int | None = None) -> None:
        self.rank = rank
        self.reports: list[OomReport] = []
        self.rejects: list[Reject] = Tally()
        self.number = 0
        self.request: Request | None = None
        self.in_buffer = False
        self.is_titled = False
        self.is_mixed = False
        self.listed = 0
        self.listed_space: str | None = None

    def reject(self, code: str, message: str) -> None:
        """Record once of a report that it is not whole."""
        begun = self.reports[-1].line if self.reports else 0
        if not self.rejects or self.rejects[-1].line < begun:
            self.rejects.append(Reject(self.number, 0, _SECTION, code, message, ""))

    def end(self) -> None:
        """Report what was asked for last, and a list that is cut."""
        if self.in_buffer:
            self.reject("cut_report", _CUT)
        self.report_request()

    def ask(self, request: Request) -> None:
        """Keep what was asked for; said again, the exact number counts."""
        pending = self.request
        if pending is not None and pending.is_same(request.size_bytes):
            if request.is_exact and not pending.is_exact:
                self.request = request._replace(line=pending.line)
            return
        self.report_request()
        self.request = request

    def report_request(self) -> None:
        """Report what was asked for, unless the last report says so already."""
        asked, self.request = self.request, None
        if asked is None:
            return
        last = self.reports[-1].sizes.get("requested_bytes") if self.reports else None
        if last is None or not asked.is_same(last):
            sizes = {"requested_bytes": asked.size_bytes}
            self.reports.append(
                OomReport(asked.line, "allocation", None, sizes, rank=self.rank)
            )
            self.in_buffer, self.listed = False, 0

    def report(self, form: str) -> OomReport | None:
        """Return the last report if it is of this form."""
        last = self.reports[-1] if self.reports else None
        return last if last and last.form == form else None

    def begin(self, form: str, space: str | None = None) -> OomReport:
        """Begin a report; what was asked for before belongs to it."""
        if form in _ALONE:
            self.report_request()
        if self.in_buffer:
            self.reject("cut_report", _CUT)
        report = OomReport(self.number, form, space, rank=self.rank)
        if self.request is not None:
            report.sizes["requested_bytes"] = self.request.size_bytes
        self.request = None
        self.reports.append(report)
        self.in_buffer, self.listed, self.is_mixed = False, 0, False
        return report

    def program(self, space: str) -> OomReport:
        """Return the open report about a TPU's space; begin one where there is none."""
        report = self.report("program_memory")
        if report is None or report.space_name != space or report.buffers:
            report = self.begin("program_memory", space)
        return report

    def change_buffer(self, **said: str | int | bool | None) -> bool:
        """Add to the buffer that is open; tell whether one is."""
        if self.in_buffer:
            buffers = self.reports[-1].buffers
            buffers[-1] = replace(buffers[-1], **said)  # type: ignore[arg-type]
        return self.in_buffer


_SIZE = r"([0-9]{1,9}(?:\.[0-9]{1,2})?(?:[KMGTPE](?:iB)?|B))"
_SOURCE = re.compile(r'(op_name|source_file|source_line)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')
_Take = Callable[[OomReading, re.Match[str]], bool]


class OomRule(NamedTuple):
    """A kind of line, and what it does; `take` tells whether it fits where it is."""

    pattern: re.Pattern[str]
    take: _Take


def _take_request(reading: OomReading, match: re.Match[str]) -> bool:
    exact, rounded = match["exact"], match["rounded"]
    size = int(exact) if exact else human_bytes(rounded)
    reading.ask(Request(reading.number, size, bool(exact)))
    return True


def _begin_rematerialization(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.begin("rematerialization")
    names = ("capacity_bytes", "used_bytes", "total_bytes")
    for place, name in enumerate(names):
        rounded, exact = match[2 * place + 1], match[2 * place + 2]
        if exact or rounded:
            report.sizes[name] = int(exact) if exact else human_bytes(rounded)
    return True


def _begin_temporaries(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.begin("program_memory", match[1].lower())
    report.sizes["temp_bytes"] = human_bytes(match[2])
    report.sizes["capacity_bytes"] = human_bytes(match[3])
    return True


def _begin_usage(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.begin("program_usage", match[1].lower())
    report.sizes["used_bytes"] = human_bytes(match[2])
    report.sizes["capacity_bytes"] = human_bytes(match[3])
    return True


def _take_scoped(reading: OomReading, match: re.Match[str]) -> bool:
    """Read what a kernel wanted on its stack, on its own line or behind the space."""
    report = reading.report("program_memory")
    if report is None or report.space_name != match[3] or "used_bytes" in report.sizes:
        report = reading.begin("program_memory", match[3])
    report.sizes["used_bytes"] = human_bytes(match[1])
    report.sizes["capacity_bytes"] = human_bytes(match[2])
    return True


def _begin_assignment(reading: OomReading, match: re.Match[str]) -> bool:
    reading.begin("buffer_assignment")
    return True


def _take_stats_title(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("buffer_assignment")
    # It opens a report of its own, unless the line before has done so.
    if report is None or report.sizes.keys() - {"requested_bytes"}:
        reading.begin("buffer_assignment")
    return True


def _take_stat(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("buffer_assignment")
    if report is not None:
        report.sizes[_STATS[match[1]]] = human_bytes(match[2])
    return report is not None


def _begin_space(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.begin("program_memory", match[1])
    if match[2]:
        report.sizes["used_bytes"] = human_bytes(match[2])
        report.sizes["capacity_bytes"] = human_bytes(match[3])
    rest = match.string[match.end() :]
    if not _WHOLE.match(rest):
        reading.reject("cut_report", _CUT)
    scoped = _SCOPED.search(rest)
    said = rest[: scoped.start() if scoped else None]
    if said.startswith(_STACK):
        size = human_bytes(scoped[1]) if scoped else None
        label = said.removeprefix(_STACK).rstrip(". ")
        report.buffers.append(OomBuffer(1, size, label=label, allocation_type="stack"))
    if scoped:
        _take_scoped(reading, scoped)
    return True


def _take_usage(reading: OomReading, match: re.Match[str]) -> bool:
    reading.program(match[1]).sizes.setdefault("used_bytes", human_bytes(match[2]))
    return True


def _take_requirement(reading: OomReading, match: re.Match[str]) -> bool:
    reading.program(match[1]).sizes["program_bytes"] = human_bytes(match[2])
    return True


def _take_share(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    if report is None:
        return False
    # What the program itself reserves, below its requirement, is another thing.
    is_own = match[1] == "reserved" and "program_bytes" in report.sizes
    if match[2] != "unknown size" and match[1] in _SHARES and not is_own:
        report.sizes.setdefault(_SHARES[match[1]], human_bytes(match[2]))
    if match[3]:
        report.sizes["temp_fragmentation_bytes"] = human_bytes(match[3])
    return True


def _take_output(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    for name, size in (("live_out_bytes", match[1]), ("shared_bytes", match[2])):
        if report and size:
            report.sizes[name] = human_bytes(size)
    return report is not None


def _take_title(reading: OomReading, match: re.Match[str]) -> bool:
    reading.is_titled = True
    return bool(reading.reports)


def _begin_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    if reading.reports:
        size = human_bytes(match[2]) if match[2] else None
        buffers = reading.reports[-1].buffers
        # A second list, of arguments and outputs, counts from 1 again.
        is_again = bool(buffers) and int(match[1]) + reading.listed <= buffers[-1].place
        if reading.in_buffer or (is_again and not reading.is_titled):
            reading.reject("mixed_reports", _MIXED)
            reading.in_buffer, reading.is_mixed = False, True
            buffers.clear()
        if reading.is_mixed:
            return True
        if is_again:
            reading.listed = buffers[-1].place
        reading.is_titled = False
        buffers.append(OomBuffer(int(match[1]) + reading.listed, size))
        reading.in_buffer = True
    return bool(reading.reports)


def _take_listed_space(reading: OomReading, match: re.Match[str]) -> bool:
    """Keep whose allocations follow: those of the space that was too small count."""
    reading.listed_space = "hbm" if match[1] == "default" else match[1]
    return reading.report("program_memory") is not None


def _take_allocation(reading: OomReading, match: re.Match[str]) -> bool:
    report = reading.report("program_memory")
    if report is not None and reading.listed_space == report.space_name:
        size, place = human_bytes(match[2]), len(report.buffers) + 1
        report.buffers.append(OomBuffer(place, size, shape=match[3]))
    return report is not None


def _end_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    was_in, reading.in_buffer = reading.in_buffer, False
    return was_in


def _take_padding(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.in_buffer


def _take_text(name: str) -> _Take:
    return lambda reading, match: reading.change_buffer(**{name: match[1]})


def _take_shape(reading: OomReading, match: re.Match[str]) -> bool:
    # One that is cut would be another shape.
    said = match[1] if is_balanced(match[1]) else None
    return reading.change_buffer(shape=said)


def _take_label(reading: OomReading, match: re.Match[str]) -> bool:
    said = match[1]
    is_argument = _ARGUMENT.match(said) is not None
    if is_argument:
        reading.change_buffer(is_parameter=True)
    earlier = reading.reports[-1].buffers[-1].label if reading.in_buffer else None
    label = said if earlier is None else f"{earlier} ({said})"
    return reading.change_buffer(label=label)


def _take_size(name: str) -> _Take:
    return lambda reading, match: reading.change_buffer(**{name: human_bytes(match[1])})


def _take_parameter(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.change_buffer(shape=match[1], is_parameter=True)


def _take_operator(reading: OomReading, match: re.Match[str]) -> bool:
    said = {name: text or number for name, text, number in _SOURCE.findall(match[1])}
    line = said.get("source_line")
    return reading.change_buffer(
        op_name=said.get("op_name"),
        source_file=said.get("source_file"),
        source_line=int(line) if line else None,
    )


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
    "HLO temp": "temp_bytes",
}
_SHARE = "|".join((*_SHARES, "global", "scoped", "overlays"))
_ALONE = frozenset(("rematerialization", "program_usage"))
_ARGUMENT = re.compile(r"Argument [0-9]{1,9}\b")
_STACK = " while allocating on stack for "
_SCOPED = re.compile(
    rf"Scoped allocation with size {_SIZE} and limit {_SIZE}"
    r" exceeded scoped (\w{1,20}) limit"
)
_CUT = "the report is cut here: what it lists further on is missing"
_MIXED = (
    "lines of several reports are mixed here, so that no buffer is known: log each"
    " rank to a file, or with its number (mpirun --tag-output, srun -l)"
)
_WHOLE = re.compile(rf"(?! Exceeded)(?!\. Used )| Exceeded \w+ capacity by {_SIZE}\.")
_EXACT, _ROUNDED = r"(?P<exact>[0-9]{1,15})", rf"(?P<rounded>{_SIZE[1:-1]})"
_BYTES = r"\(([0-9]{1,15}) bytes\)"

INLINE_RULES = tuple(
    OomRule(re.compile(pattern), take)
    for pattern, take in (
        (
            "[Oo]ut of memory (?:while )?trying to allocate"
            rf" (?:{_EXACT} bytes|{_ROUNDED})",
            _take_request,
        ),
        (rf"[Ff]ailed to allocate request for {_ROUNDED} \({_EXACT}B\)", _take_request),
        (rf"[Ff]ailed to allocate {_ROUNDED} \({_EXACT} bytes\)", _take_request),
        (
            rf"(?P<exact>)[Aa]ttempting to (?:allocate|reserve) {_ROUNDED}\b",
            _take_request,
        ),
        (
            rf"Can't reduce memory use below {_SIZE}(?: {_BYTES})? by rematerialization"
            rf"; only reduced to {_SIZE}(?: {_BYTES})?"
            rf"(?:, down from {_SIZE}(?: {_BYTES})?)?",
            _begin_rematerialization,
        ),
        (
            r"Ran out of memory on (\w{1,20}), the total memory required for HLO"
            rf" temporaries \({_SIZE}\) exceeds available \w{{1,20}} \({_SIZE}\)",
            _begin_temporaries,
        ),
        (
            r"Ran out of memory in memory space (\w{1,20})\b"
            rf"(?:\. Used {_SIZE} of {_SIZE} \w{{1,20}}\.)?",
            _begin_space,
        ),
        (_SCOPED.pattern, _take_scoped),
        (rf"XLA::TPU program (\w{{1,20}}) usage: {_SIZE} / {_SIZE}", _begin_usage),
    )
)
"""Tried in order wherever they begin in a line; the first that is found decides."""

BLOCK_RULES = tuple(
    OomRule(re.compile(pattern), take)
    for pattern, take in (
        (r"BufferAssignment OOM Debugging\.?$", _begin_assignment),
        (r"BufferAssignment stats:$", _take_stats_title),
        (rf"({'|'.join(_STATS)}):\s+{_SIZE}(?: \(.*\))?$", _take_stat),
        (rf"Total (\w+) usage >= {_SIZE}:?$", _take_usage),
        (rf"Program (\w+) requirement {_SIZE}:?$", _take_requirement),
        (
            rf"({_SHARE})\s+({_SIZE[1:-1]}|unknown size)"
            rf"(?: \(.*?(?:fragmentation \({_SIZE}\))?\))?$",
            _take_share,
        ),
        (
            rf"Output size (?:unknown|{_SIZE}(?:; shares {_SIZE} with arguments)?)\.$",
            _take_output,
        ),
        (
            r"(?:Peak buffers|Largest program (?:allocations|arguments and outputs)"
            r" in \w+):$",
            _take_title,
        ),
        (rf"Buffer ([0-9]{{1,6}}):(?:$| {_SIZE})", _begin_buffer),
        (rf"([0-9]{{1,6}})\. Size: {_SIZE}$", _begin_buffer),
        (r"Memory Space: (\w{1,20}) \(color=[0-9]{1,3}\)$", _take_listed_space),
        (
            rf"{_SIZE}\([0-9]{{1,3}}%\);\s+{_SIZE};\s+[0-9]+;\s+[0-9]+; (\S.*)$",
            _take_allocation,
        ),
        (rf"Size: {_SIZE}$", _take_size("size_bytes")),
        (rf"Unpadded size: {_SIZE}$", _take_size("unpadded_bytes")),
        (r"Extra memory due to padding: .*$", _take_padding),
        (r"Operator: (.*)$", _take_operator),
        (r"Entry Parameter Subshape: (.*)$", _take_parameter),
        (r"(?:XLA [Ll]abel|Tag): (.*)$", _take_label),
        (r"(Argument [0-9]{1,9} index \{[0-9,]{0,80}\})$", _take_label),
        (r"Shape: (.*)$", _take_shape),
        (r"Allocation type: (.*)$", _take_text("allocation_type")),
        (r"={20,}$", _end_buffer),
    )
)
"""Tried in order on a line without its prefix; the first that matches decides."""

# A line that an inline rule takes holds one of these.
_INLINE = re.compile(
    r"ut of memory|ailed to allocate|ttempting to |Can't reduce memory"
    r"|Scoped allocation|XLA::TPU program"
)
_MARK = re.compile(
    r"BufferAssignment (?:OOM|stats)|Total \w{1,20} usage >="
    rf"|Program \w{{1,20}} requirement|{_INLINE.pattern}"
)
_LEVEL = "TRACE|DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?Z?"
_PREFIX = re.compile(
    r"(?>(?:<std(?:err|out)>:|\x1b?\[[0-9;]{0,9}m|\([^()\n]{0,80}pid=[0-9]*[^()\n]{0,80}\)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2} [^][\n]{0,200}\]|[EFIW][0-9]{4} [^][\n]{0,200}\]"
    rf"|(?:[0-9]{{4}}-)?[0-9]{{2}}-[0-9]{{2}}[ T]?(?:{_TIME})?|{_TIME}"
    rf"|(?:{_LEVEL})\b:?|\[[^\]\n]{{0,200}}\]:?"
    r"|(?:[Rr]ank|[Ww]orker|[Hh]ost)[ _=-]?[0-9]{1,6}[:|]|[0-9]{1,6}:(?= )|\||\s)*)"
)
_RANK = re.compile(
    r"\[[0-9]{1,6},([0-9]{1,6})\]<std|\[?[Rr]ank[ _=-]?([0-9]{1,6})[]:|]"
    r"|^\s*([0-9]{1,6}):\s"
)
# Ray says once what its workers say alike.
_REPEATED = " [repeated "


@dataclass(frozen=True, slots=True)
class OomLog:
    """The reports of a log, and the numbers of the lines they take, from 1."""

    reports: list[OomReport] = field(default_factory=list)
    lines: frozenset[int] = frozenset()
    rejects: list[Reject] = field(default_factory=list)


_MOST_LINES = 250_000
_MOST_RANKS = 100_000
_MORE = (
    f"a log is read up to {_MOST_LINES:,} lines of such reports, of {_MOST_RANKS:,}"
    " ranks; those from here on are not"
)


def parse_oom_log(text: str) -> OomLog:
    """Read all reports of a log; other lines are left to others. Never fails."""
    readings: dict[int | None, OomReading] = {}
    taken: set[int] = set()
    lines = lines_of(text) if _MARK.search(text) else ()
    rank = None
    for number, line in enumerate(lines, 1):
        # Lines that a message goes on in may have no prefix.
        rank = _rank(line, rank)
        if len(taken) >= _MOST_LINES or len(readings) >= _MOST_RANKS:
            rejects = [Reject(number, 0, _SECTION, "more", _MORE, "")]
            break
        if (reading := readings.get(rank)) is None:
            reading = readings[rank] = OomReading(rank)
        reading.number = number
        if _takes(reading, line):
            taken.add(number)
    else:
        rejects = []
    for reading in readings.values():
        reading.end()
    reports = [report for each in readings.values() for report in each.reports]
    rejects += [reject for each in readings.values() for reject in each.rejects]
    reports.sort(key=lambda report: report.line)
    rejects.sort(key=lambda reject: reject.line)
    return OomLog(reports, frozenset(taken), rejects)


def _rank(line: str, before: int | None) -> int | None:
    """Return the rank that the prefix of a line names, else that of the line before."""
    prefix = _PREFIX.match(line)
    found = _RANK.search(line, 0, prefix.end()) if prefix else None
    return int(next(filter(None, found.groups()))) if found else before


def _takes(reading: OomReading, line: str) -> bool:
    if _INLINE.search(line):
        for rule in INLINE_RULES:
            if match := rule.pattern.search(line):
                return rule.take(reading, match)
    prefix = _PREFIX.match(line)
    said = line[prefix.end() if prefix else 0 :].rstrip()
    if said.endswith("x across cluster]"):
        said = said.rpartition(_REPEATED)[0].rstrip()
    for rule in BLOCK_RULES if said else ():
        if match := rule.pattern.match(said):
            return rule.take(reading, match)
    return False
