"""The needs of every program: `customSmallerIsBetter` of github-action-benchmark."""

from __future__ import annotations

from collections.abc import Iterable

from hlodb.reports.judge.report import Report
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import json_text

_MEASURES = {
    "reserved": "candidate_bytes",
    "live peak": "candidate_live_peak_bytes",
}
"""Measures by their column; one that is not known is left out."""


def render(report: Report) -> str:
    """Return an entry per program, memory space and measure; smaller is better."""
    entries = []
    for name, row in measured(report):
        noise = {"range": f"± {row.noise_band_bytes}"} if row.noise_band_bytes else {}
        entries += [
            {"name": f"{name} {m}", "unit": "bytes", "value": size, **noise}
            for m, size in sizes(row)
        ]
    return json_text(entries, indent=1) + "\n"


def measured(report: Report) -> Iterable[tuple[str, ProgramRow]]:
    """Return the candidate's bytes by name; of several compilations the largest."""
    largest: dict[str, ProgramRow] = {}
    for row in report.programs:
        name = f"{row.program} {row.space}"
        name += f" rank {row.rank}" if row.rank is not None else ""
        if row.candidate_bytes is not None:
            known = largest.setdefault(name, row)
            if row.candidate_bytes > (known.candidate_bytes or 0):
                largest[name] = row
    return largest.items()


def sizes(row: ProgramRow) -> Iterable[tuple[str, int]]:
    """Yield the known sizes of a program, by measure."""
    for measure, column in _MEASURES.items():
        if (size := getattr(row, column)) is not None:
            yield measure, size
