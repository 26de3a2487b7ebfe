"""The compact form of explanations and reports: one short JSON object.

It is for readers with little room, such as assistants. Every size is in bytes, every
table names its columns with their units once, and what does not fit is left out by
whole rows and named in `left_out`. Names are those of the dump: data, never text of
hlodb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.query import Column
from hlodb.queries.render.compact import compact
from hlodb.queries.result import Result
from hlodb.reports.document.advice import advice_on
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.report import Report
from hlodb.reports.read.capacity import NOT_INCLUDED
from hlodb.reports.read.failures import joined, listed_buffers
from hlodb.reports.read.overview import (
    Overview,
    compilation_of,
    compilations,
    described_spaces,
    memory_spaces,
    rows_of,
)
from hlodb.text import json_text

MOST_CHARACTERS = 3_900
"""Length of the JSON text of one explanation or report."""

LONGEST_TEXT = 160
"""Characters of one name or sentence; longer ones are cut."""

Row = Mapping[str, Any]
Fields = dict[str, Any]


class Room(NamedTuple):
    """How much of a document is shown: sections, rows of their tables, all programs."""

    sections: int
    rows: int
    programs: int


_ROOMS = (
    *(Room(3, 5, 12), Room(2, 5, 12), Room(2, 4, 10), Room(1, 5, 10), Room(1, 4, 8)),
    *(Room(1, 3, 6), Room(1, 2, 4), Room(1, 1, 2), Room(0, 1, 1)),
)
"""Rooms to try, the largest first."""

_PROGRAMS = (
    *("program", "space_name", "reserved_bytes", "live_peak_bytes", "usable_bytes"),
    *("headroom_bytes", "status"),
)
_ROLES = ("role", "owned_bytes", "peak_ratio")
_LINES = ("source_file", "source_line", "function_name", "kind", "owned_bytes")
_BUFFERS = (
    *("instruction", "shape_index", "shape", "owned_bytes", "source_file"),
    *("source_line", "attribution"),
)
_REMEDIES = (
    *("rule_id", "subject", "source_file", "source_line", "saved_reserved_bytes"),
    *("saved_bytes", "advice"),
)
_FAILURES = (
    *("program", "space_name", "needed_bytes", "capacity_bytes", "over_bytes"),
    *("cause", "path", "line"),
)
_EXTRA = {
    "out_of_memory": ("oom_summary", _FAILURES),
    "out_of_memory_buffers": (
        "oom_buffers_explained",
        ("instruction", "label", "shape", "size_bytes", "source_file", "source_line"),
    ),
    "partly_known": (
        "partial_memory",
        ("program", "space_name", "reserved_bytes", "least_bytes", "missing"),
    ),
}
"""Tables that few runs have: the query of each, and its columns."""

_SPACE = (
    *("program", "space_name", "reserved_bytes", "live_peak_bytes", "peak_step"),
    *("peak_instruction", "fragmentation_bytes", "caveat"),
)


def render(report: Report) -> str:
    """Return a report within MOST_CHARACTERS."""
    return json_text(compared(report)) + "\n"


def explained(
    overview: Overview, unsound: Sequence[str] = (), most: int = MOST_CHARACTERS
) -> Fields:
    """Return an explanation of a run within `most` characters.

    `unsound` says what is wrong with the data of the run: its status is then unknown.
    """
    why = [
        *(
            f"{row['example']}: {row['message'] or row['code']}"
            for row in overview.answers["rejects_summary"]
        ),
        *unsound,
    ]
    return fitting(lambda room: _explained(overview, why, room), most)


def compared(report: Report, most: int = MOST_CHARACTERS) -> Fields:
    """Return a report or a diff within `most` characters."""
    return fitting(lambda room: _compared(report, room), most)


def fitting(make: Callable[[Room], Fields], most: int) -> Fields:
    """Return what `make` gives in the largest room in which it is short enough."""
    found: Fields = {}
    for room in _ROOMS:
        found = make(room)
        if len(json_text(found)) <= most:
            break
    return found


def short(value: Any, most: int = LONGEST_TEXT) -> Any:
    """Return a value with its texts cut and its ratios rounded to four places."""
    match value:
        case str() if len(value) > most:
            return f"{value[: most - 1]}…"
        case float():
            return round(value, 4)
        case list() | tuple():
            return [short(part, most) for part in value]
        case dict():
            return {key: short(part, most) for key, part in value.items()}
    return value


def table(rows: Sequence[Row], columns: Sequence[Column], limit: int) -> Fields:
    """Return the first rows in the compact form, with the number of all."""
    names = [column.name for column in columns]
    values = [tuple(short(row.get(name)) for name in names) for row in rows[:limit]]
    return compact(Result(tuple(columns), values, total_rows=len(rows)))


def _columns(names: Iterable[str], *queries: str) -> list[Column]:
    """Return columns as the first of some queries that has them declares them."""
    known: dict[str, Column] = {}
    for query in queries:
        for column in load_catalogue()[query].columns:
            known.setdefault(column.name, column)
    return [known[name] for name in names]


def _explained(overview: Overview, why: Sequence[str], room: Room) -> Fields:
    spaces = memory_spaces(overview)
    described = list(described_spaces(overview, room.sections).values())
    found: Fields = {
        "run": short(overview.run.name),
        "status": "unknown" if why or not overview.is_understood else "sound",
        "why": short(list(why[: room.rows])),
        "device": short(overview.run.device or overview.run.platform),
        "program_count": len(compilations(spaces)),
        "programs": table(
            spaces, _columns(_PROGRAMS, "headroom", "peak_by_space"), room.programs
        ),
        "largest": [_space(overview, space, room) for space in described],
        "not_included": NOT_INCLUDED,
    }
    for name, (query, columns) in _EXTRA.items():
        if rows := _once(overview, query):
            found[name] = table(rows, _columns(columns, query), room.rows)
    found["left_out"] = [
        *_left_out(found["programs"], "memory spaces of programs"),
        *(text for name in _EXTRA for text in _left_out(found.get(name), name)),
        *_more("memory spaces to describe", len(spaces) - len(described)),
        *_more("reasons why the data is not sound", len(why) - room.rows),
    ]
    return found


def _once(overview: Overview, query: str) -> Sequence[Row]:
    """Return the rows of a query, those about one failure once."""
    rows = overview.answers.get(query, ())
    reports = overview.answers["oom_summary"]
    if query == "oom_summary":
        return [failure.row for failure in joined(rows)]
    if query == "oom_buffers_explained":
        found = map(partial(listed_buffers, overview), joined(reports))
        return [buffer for buffers in found for buffer in buffers]
    return rows


def _space(overview: Overview, space: Row, room: Room) -> Fields:
    """Return what fills one memory space of a program at its peak."""
    advice = advice_on(space, rows_of(overview, "remedies", space)).shown
    names = compilations(memory_spaces(overview))
    found = {name: short(space.get(name)) for name in _SPACE if name in space}
    return {
        **found,
        "compilation": short(names[compilation_of(space)]),
        "roles": _top(overview, "peak_by_role", _ROLES, space, room),
        "lines": _top(overview, "peak_by_source_line", _LINES, space, room),
        "buffers": _top(overview, "peak_contents", _BUFFERS, space, room),
        "remedies": table(advice, _columns(_REMEDIES, "remedies"), room.rows),
    }


def _top(
    overview: Overview, query: str, names: Sequence[str], space: Row, room: Room
) -> Fields:
    return table(rows_of(overview, query, space), _columns(names, query), room.rows)


def _compared(report: Report, room: Room) -> Fields:
    comparison = report.comparison
    findings = report.findings[: max(room.sections, 1)]
    gating = [row for row in report.quality if row.is_gating]
    failed = [gate for gate in report.gates if gate.status == "fail"]
    found: Fields = {
        "base": None if comparison.base is None else short(comparison.base.name),
        "candidate": short(comparison.candidate.name),
        "verdict": _verdict(report),
        "status": "unknown" if gating else "sound",
        "why": [short(f"{r.run}: {r.code}, {r.example}") for r in gating[: room.rows]],
        "counts": report.counts,
        "gates_failed": [
            short([gate.gate, gate.program, gate.value, gate.limit])
            for gate in failed[: room.rows]
        ],
        "findings": [_finding(finding, room) for finding in findings],
        "programs": _programs(report, room),
        "notes": short(report.notes[: room.rows]),
    }
    found["left_out"] = [
        *_more("findings", len(report.findings) - len(findings)),
        *_more("notes", len(report.notes) - room.rows),
        *_more("failed gates", len(failed) - room.rows),
        *_more("reasons why the data is not sound", len(gating) - room.rows),
        *_left_out(found["programs"], "memory spaces of programs"),
    ]
    return found


def _verdict(report: Report) -> str:
    """Return the verdict; a diff has no gates that could be passed."""
    is_open = report.kind == "diff" and report.verdict in ("pass", "warn")
    return "not judged" if is_open else report.verdict


def _finding(finding: Finding, room: Room) -> Fields:
    """Return what moved in one memory space of a program, and why."""
    cause = finding.cause
    parts = [(p.part, p.kind, p.delta_bytes) for p in finding.parts]
    buffers = [
        (
            buffer.candidate_instruction or buffer.base_instruction,
            buffer.candidate_shape or buffer.base_shape,
            buffer.part,
            buffer.delta_bytes,
            buffer.source_file,
            buffer.source_line,
            buffer.attribution,
        )
        for buffer in finding.buffers
    ]
    more = finding.other_buffer_count
    return {
        "program": short(finding.program),
        "space_name": short(finding.space),
        "change": finding.change,
        "state": finding.state,
        "base_bytes": finding.base_bytes,
        "candidate_bytes": finding.candidate_bytes,
        "delta_bytes": finding.delta_bytes,
        "delta_live_peak_bytes": finding.delta_live_peak_bytes,
        "cause": cause and short(cause.title, 2 * LONGEST_TEXT),
        "blame": cause and cause.blame,
        "standing": cause and cause.standing,
        "parts": _rows(_PARTS, parts, len(parts), room),
        "buffers": _rows(_CHANGED, buffers, len(buffers) + more, room),
    }


_PARTS = {"part": "name", "kind": "name", "delta_bytes": "bytes"}
_CHANGED = {
    "instruction": "name",
    "shape": "text",
    "part": "name",
    "delta_bytes": "bytes",
    "source_file": "name",
    "source_line": "id",
    "attribution": "name",
}
_MOVED = {
    "program": "name",
    "space_name": "name",
    "change": "name",
    "base_bytes": "bytes",
    "candidate_bytes": "bytes",
    "delta_bytes": "bytes",
}
"""Columns of the tables about differences, with their units."""


def _programs(report: Report, room: Room) -> Fields:
    rows = [
        (
            row.program,
            row.space,
            row.change,
            row.base_bytes,
            row.candidate_bytes,
            row.delta_bytes,
        )
        for row in sorted(report.programs, key=lambda row: -abs(row.delta_bytes or 0))
    ]
    return _rows(_MOVED, rows, len(rows), room._replace(rows=room.programs))


def _rows(
    columns: Mapping[str, str], rows: Sequence[Sequence[Any]], total: int, room: Room
) -> Fields:
    shown = [short(list(row)) for row in rows[: room.rows]]
    return {"columns": dict(columns), "total_rows": total, "rows": shown}


def _left_out(shown: Fields | None, what: str) -> list[str]:
    return _more(what, shown["total_rows"] - len(shown["rows"])) if shown else []


def _more(what: str, count: int) -> list[str]:
    return [f"{count:,} more {what}"] if count > 0 else []
