"""The lines of reports of running out of memory, and what each adds to its report."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from hlodb.ingest.formats.oom_report import OomBuffer, OomReading
from hlodb.ingest.formats.scan import human_bytes

_SIZE = r"([0-9]{1,9}(?:\.[0-9]{1,2})?(?:[KMGTPE](?:iB)?|B))"
_SOURCE = re.compile(r'(op_name|source_file|source_line)=(?:"((?:[^"\\]|\\.)*)"|(\d+))')
_Take = Callable[[OomReading, re.Match[str]], bool]


class OomRule(NamedTuple):
    """A kind of line, and what it does; `take` tells whether it fits where it is."""

    pattern: re.Pattern[str]
    take: _Take


def _take_request(reading: OomReading, match: re.Match[str]) -> bool:
    reading.requested = int(match[1]) if match[1] else human_bytes(match[2])
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
    return bool(reading.reports)


def _begin_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    if reading.reports:
        size = human_bytes(match[2]) if match[2] else None
        reading.reports[-1].buffers.append(OomBuffer(int(match[1]), size))
        reading.in_buffer = True
    return bool(reading.reports)


def _end_buffer(reading: OomReading, match: re.Match[str]) -> bool:
    was_in, reading.in_buffer = reading.in_buffer, False
    return was_in


def _take_padding(reading: OomReading, match: re.Match[str]) -> bool:
    return reading.in_buffer


def _take_text(name: str) -> _Take:
    return lambda reading, match: reading.change_buffer(**{name: match[1]})


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
OOM_RULES = tuple(
    OomRule(re.compile(pattern), take)
    for pattern, take in (
        (
            r".*?[Oo]ut of memory while trying to allocate"
            rf" (?:([0-9]{{1,15}}) bytes|{_SIZE})",
            _take_request,
        ),
        (r"BufferAssignment OOM Debugging\.?$", _begin_assignment),
        (r"BufferAssignment stats:$", _take_stats_title),
        (rf"({'|'.join(_STATS)}):\s+{_SIZE}(?: \(.*\))?$", _take_stat),
        (
            r".*?Ran out of memory in memory space (\w+)\."
            rf"(?: Used {_SIZE} of {_SIZE} \w+\.)?",
            _begin_space,
        ),
        (rf"Total (\w+) usage >= {_SIZE}:$", _take_usage),
        (rf"Program (\w+) requirement {_SIZE}:$", _take_requirement),
        (
            rf"({_SHARE})\s+({_SIZE[1:-1]}|unknown size)"
            rf"(?: \(.*?(?:fragmentation \({_SIZE}\))?\))?$",
            _take_share,
        ),
        (
            rf"Output size (?:unknown|{_SIZE}(?:; shares {_SIZE} with arguments)?)\.$",
            _take_output,
        ),
        (r"(?:Peak buffers|Largest program allocations in \w+):$", _take_title),
        (rf"Buffer ([0-9]{{1,6}}):(?:$| {_SIZE})", _begin_buffer),
        (rf"([0-9]{{1,6}})\. Size: {_SIZE}$", _begin_buffer),
        (rf"Size: {_SIZE}$", _take_size("size_bytes")),
        (rf"Unpadded size: {_SIZE}$", _take_size("unpadded_bytes")),
        (r"Extra memory due to padding: .*$", _take_padding),
        (r"Operator: (.*)$", _take_operator),
        (r"Entry Parameter Subshape: (.*)$", _take_parameter),
        (r"XLA [Ll]abel: (.*)$", _take_text("label")),
        (r"Shape: (.*)$", _take_text("shape")),
        (r"Allocation type: (.*)$", _take_text("allocation_type")),
        (r"={20,}$", _end_buffer),
    )
)
"""Tried in order on a line without its prefix; the first that matches decides."""
