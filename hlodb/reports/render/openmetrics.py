"""OpenMetrics text: gauges of every program, for scraping from a file.

Nothing but gauges is used, so that Prometheus's older text format, which the text-file
collector of the node exporter reads, takes it as well.
https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from hlodb.reports.judge.report import Report
from hlodb.reports.read.programs import ProgramRow
from hlodb.reports.render.benchmark import measured
from hlodb.text import visible

_GAUGES = {
    "hlodb_reserved_bytes": ("candidate_bytes", "Allocated in one memory space."),
    "hlodb_live_peak_bytes": ("candidate_live_peak_bytes", "Most in use at once."),
    "hlodb_fragmentation_bytes": (
        "fragmentation_bytes",
        "Temporary memory that is never in use at once.",
    ),
    "hlodb_delta_bytes": ("delta_bytes", "Reserved bytes above those of the base."),
}
"""Gauges per program: column of its row, and help."""

Labels = Mapping[str, str]


def render(report: Report) -> str:
    """Return gauges of every program of the candidate, of the gates and the verdict."""
    series = {"series": report.comparison.series or ""}
    lines: list[str] = []
    for name, (column, text) in _GAUGES.items():
        found = [
            (series | _who(row), getattr(row, column)) for _, row in measured(report)
        ]
        lines += _gauge(name, text, found, "bytes")
    states = Counter(gate.status for gate in report.gates)
    gates = [
        (series | {"status": s}, states[s]) for s in ("fail", "warn", "waived", "pass")
    ]
    lines += _gauge("hlodb_gates", "Rows of the gate table.", gates)
    verdict = [(series | {"verdict": report.verdict}, 1)]
    lines += _gauge("hlodb_verdict", "The verdict of the report.", verdict)
    return "\n".join([*lines, "# EOF"]) + "\n"


def _who(row: ProgramRow) -> dict[str, str]:
    rank = "" if row.rank is None else str(row.rank)
    return {"program": row.program, "space": row.space, "rank": rank}


def _gauge(
    name: str, text: str, found: Iterable[tuple[Labels, int | None]], unit: str = ""
) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {text}"
    for labels, value in found:
        if value is not None:
            pairs = ",".join(f'{k}="{_quoted(v)}"' for k, v in labels.items())
            yield f"{name}{{{pairs}}} {value}"


def _quoted(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
