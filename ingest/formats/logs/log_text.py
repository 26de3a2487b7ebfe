"""A log → the modules and reports of running out of memory that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from io import StringIO
from typing import Any, NamedTuple

from hlodb.ingest.formats.hlo_text.blocks import BlockCache
from hlodb.ingest.formats.hlo_text.module import ParsedHlo, parse_hlo
from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import MemoryStats, OomReport
from hlodb.ingest.formats.logs.stdout_frames import split_frames
from hlodb.ingest.formats.scan import lines_of, printable
from hlodb.ingest.records import MOST, Evidence, Reject, Tally

# A computation begins with an instruction, or a comment. `trace_options {` and other
# text protos, which logs print too, do not.
_OTHER_BLOCK = re.compile(
    r"^[ \t]*+[A-Za-z_][\w.\-]*+ \{[ \t]*+(?=\r?$)"
    r"(?!\s*+(?:ROOT\s|%?[\w.\-]++\s*+=|//|/\*))",
    re.MULTILINE,
)

# XLA's messages print an instruction with what it calls, which has no name then:
# `%fusion.1 = … calls=`, `(p: f32[8]) -> f32[8] {`, instructions, `}, metadata={…}`.
_IN_BRACKETS = re.compile(r"^[ \t]*\([^\n]*", re.MULTILINE)


class ParsedLog(NamedTuple):
    """What stands in a log beside its frames; `is_empty` where there is nothing."""

    hlo: ParsedHlo
    evidence: list[Evidence]
    rejects: list[Reject]
    is_empty: bool


def parse_log(path: str, text: str, cache: BlockCache[Any]) -> ParsedLog:
    """Read a log; the files that it frames are files of their own, see units."""
    framed = split_frames(text)
    oom = parse_oom_log(framed.rest)
    rest = _without(_without_called(framed.rest), oom.lines)
    rest = _OTHER_BLOCK.sub("", rest)
    hlo = parse_hlo(rest, cache)
    evidence = [
        row
        for ordinal, report in enumerate(oom.reports)
        for row in _oom_rows(path, ordinal, report)
    ]
    evidence += [_stats_row(path, *numbered) for numbered in enumerate(oom.stats)]
    rejects = Tally(hlo.rejects)
    rejects += oom.rejects
    rejects += [fault for row in evidence for fault in _drop_impossible(row)]
    found = hlo.modules or hlo.rejects or evidence or framed.frames
    return ParsedLog(hlo, evidence, rejects, not found)


def _without_called(text: str) -> str:
    """Return the text with empty lines in place of computations without a name."""
    kept, place = [], 0
    for line in _IN_BRACKETS.finditer(text):
        if line.start() < place or not _is_head(line[0]):
            continue
        end = text.find("\n}", line.end()) + 1
        if not end:
            break
        kept += [text[place : line.start()], "\n" * text.count("\n", line.start(), end)]
        place = end
    return "".join([*kept, text[place:]])


def _is_head(line: str) -> bool:
    return ") -> " in line and line.rstrip().endswith("{")


def _drop_impossible(evidence: Evidence) -> Iterator[Reject]:
    """Make numbers that the warehouse could not hold unknown, and reject them."""
    row = evidence.row
    for name, value in row.items():
        if isinstance(value, int) and abs(value) > MOST:
            row[name] = None
            message = f"{name}: {value:,} is more than 64 bits hold"
            line = row.get("line") or 0
            yield Reject(line, 1, "log", "impossible_number", message, "")


def _without(text: str, numbers: frozenset[int]) -> str:
    """Return a text with some of its lines emptied."""
    if not numbers:
        return text
    whole = StringIO()
    for number, line in enumerate(lines_of(text), 1):
        whole.write("\n" if number > 1 else "")
        whole.write("" if number in numbers else line)
    return whole.getvalue()


def _oom_rows(path: str, ordinal: int, report: OomReport) -> list[Evidence]:
    key = {"path": path, "ordinal": ordinal}
    texts = {name: printable(text) for name, text in report.texts.items()}
    number = texts.pop("parameter_number", None)
    said = {
        "line": report.line,
        "rank": report.rank,
        "form": report.form,
        "space_name": report.space_name,
        "parameter_number": int(number) if number else None,
        **texts,
        **report.sizes,
    }
    buffers = [
        Evidence("oom_buffers", key | asdict(buffer)) for buffer in report.buffers
    ]
    chunks = [
        Evidence(
            "oom_chunks",
            key | {"place": place, **asdict(chunk), "chunk_count": count},
        )
        for place, (chunk, count) in enumerate(report.chunks.items(), 1)
    ]
    return [Evidence("oom_reports", key | said), *buffers, *chunks]


def _stats_row(path: str, ordinal: int, stats: MemoryStats) -> Evidence:
    key = {"path": path, "ordinal": ordinal, "line": stats.line, "rank": stats.rank}
    return Evidence("log_memory_stats", key | {"form": stats.form} | stats.sizes)
