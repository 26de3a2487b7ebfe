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
a log's prefix (time and source file, process, colours). XLA `buffer_assignment.cc`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hlodb.ingest.formats.oom_lines import OOM_RULES
from hlodb.ingest.formats.oom_report import OomReading, OomReport

_MARK = re.compile(
    r"BufferAssignment (?:OOM|stats)|Ran out of memory in|Total \w+ usage >="
    r"|Program \w+ requirement"
)
_PREFIX = re.compile(
    r"(?:\x1b?\[[0-9;]{0,9}m|\([^()\n]{0,80}pid=[0-9]+[^()\n]{0,80}\)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2} [^\]\n]{0,200}\]|[EFIW][0-9]{4} [^\]\n]{0,200}\]|\s)*"
)


@dataclass(frozen=True, slots=True)
class OomLog:
    """The reports of a log, and the numbers of the lines they take, from 1."""

    reports: list[OomReport] = field(default_factory=list)
    lines: frozenset[int] = frozenset()


def parse_oom_log(text: str) -> OomLog:
    """Read all reports of a log; other lines are left to others. Never fails."""
    reading = OomReading()
    taken = set()
    lines = text.split("\n") if _MARK.search(text) else []
    for number, line in enumerate(lines, 1):
        prefix = _PREFIX.match(line)
        said = line[prefix.end() if prefix else 0 :].rstrip()
        reading.number = number
        if said and _takes(reading, said):
            taken.add(number)
    return OomLog(reading.reports, frozenset(taken))


def _takes(reading: OomReading, line: str) -> bool:
    for rule in OOM_RULES:
        if match := rule.pattern.match(line):
            return rule.take(reading, match)
    return False
