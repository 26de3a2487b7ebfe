r"""What `memory_analysis()` says of a program, in the forms that people print it in.

    CompiledMemoryStats(generated_code_size_in_bytes=34816, argument_size_in_bytes=…)
    {'argument_size_in_bytes': 6656, 'temp_size_in_bytes': 0}
    temp_size_in_bytes: 0
    Total memory size: 118.2 GB, Output size: 38.6 GB, Temp size: 79.5 GB, …

Sources: XLA `pjrt/pjrt_executable.h`, MaxText `max_utils.py`, whose GB are GiB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hlodb.ingest.formats.logs.envelope import LogLine
from hlodb.ingest.formats.logs.wordings import SIZE, size_bytes
from hlodb.ingest.formats.memory_reports.memory_analysis import MEMORY_STATS

_MOST_LINES = 40
_NAMES = {theirs: ours for ours, theirs in MEMORY_STATS.items()}
_PAIR = re.compile(
    rf"\b({'|'.join(_NAMES)})\b['\"]?\s*[=:]\s*(?:np\.int64\()?(-?[0-9]{{1,18}})\b"
)
_KNOWN_PARTS = {
    "total": "total_bytes",
    "output": "output_bytes",
    "temp": "temp_bytes",
    "argument": "argument_bytes",
    "host temp": "host_temp_bytes",
    "alias": "alias_bytes",
}
_SENTENCE = re.compile(
    r"Total (?:estimated )?memory size: (?P<first>.{1,400}?host temp size: [0-9.]{1,12}"
    r" ?[KMGT]?i?B)",
    re.IGNORECASE,
)
_PART = re.compile(
    rf"(?:estimated )?(host temp|output|temp|argument|alias) size: ({SIZE})",
    re.IGNORECASE,
)
_SIZE = re.compile(SIZE)


class Stats(NamedTuple):
    """Figures that take `line_count` lines, whose numbers are `numbers`."""

    form: str
    sizes: dict[str, int]
    line_count: int
    numbers: list[int]


def find_stats(lines: Sequence[LogLine], at: int) -> Stats | None:
    """Return the figures that begin in the line at `at`; None where none do."""
    said = lines[at].said
    if "emory size: " in said:
        return _sentence(lines, at)
    if "_in_bytes" not in said and "CompiledMemoryStats" not in said:
        return None
    sizes: dict[str, int] = {}
    count = 0
    for line in lines[at : at + _MOST_LINES]:
        pairs = _PAIR.findall(line.said)
        is_title = count == 0 and "CompiledMemoryStats" in line.said
        names = [_NAMES[name] for name, _ in pairs]
        if not (pairs or is_title) or sizes.keys() & set(names):
            break
        sizes.update((_NAMES[name], int(size)) for name, size in pairs)
        count += 1
        if line.said.endswith(")"):
            break
    if not sizes:
        return None
    numbers = [line.number for line in lines[at : at + count]]
    return Stats("memory_analysis", sizes, count, numbers)


def _sentence(lines: Sequence[LogLine], at: int) -> Stats | None:
    """Read MaxText's sentence: total = output + temp + argument - alias."""
    taken = lines[at : at + 4]
    for count in range(1, len(taken) + 1):
        text = " ".join(line.said for line in taken[:count])
        found = _SENTENCE.search(text)
        if found is None:
            continue
        parts = {
            _KNOWN_PARTS[name.lower()]: size_bytes(size)
            for name, size in _PART.findall(found["first"])
        }
        total = _SIZE.match(found["first"])
        if total is None or len(parts) < 3:
            return None
        return Stats(
            "maxtext",
            {"total_bytes": size_bytes(total[0]), **parts},
            count,
            [line.number for line in taken[:count]],
        )
    return None
