"""Annotations of a GitHub workflow: the worst ten, on the line that owns most bytes."""

from __future__ import annotations

from hlodb.reports.document.escape import workflow_message, workflow_property
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import Names, shared_names
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import annotated_line, gate_sentence
from hlodb.reports.judge.verdict import is_above_limit

MOST = 10
"""GitHub shows ten annotations of a level and step."""


def render(report: Report) -> str:
    """Return one workflow command per line; the first is the headline."""
    findings = {f.id: f for f in report.findings}
    failed = [g for g in report.gates if g.status == "fail"]
    warned = [g for g in report.gates if g.status == "warn"]
    waived = [g for g in report.gates if g.status == "waived"]
    shared = shared_names(report)

    def gate(level: str, row: Gate) -> str:
        return _gate(level, row, findings.get(row.finding_id or ""), shared)

    level = "warning" if is_above_limit(report) else "notice"
    lines = [_command(level, "hlodb", report.headline, None)]
    lines += [gate("error", g) for g in failed[:MOST]]
    if len(failed) > MOST:
        rest = f"{len(failed) - MOST} more gates failed: see the report"
        lines.append(_command("error", "hlodb", rest, None))
    lines += [gate("warning", g) for g in warned[:MOST]]
    lines += [gate("notice", g) for g in waived[:MOST]]
    for row in report.quality:
        if row.is_gating:
            text = f"{row.count} {row.kind} {row.code} in {row.run}: {row.example}"
            lines.append(_command("error", "hlodb: unsound data", text, None))
    return "".join(f"{line}\n" for line in lines)


def _gate(level: str, gate: Gate, finding: Finding | None, shared: Names) -> str:
    title = f"hlodb {gate.gate}" + (" waived" if gate.status == "waived" else "")
    text = gate_sentence(gate, finding, shared)
    return _command(level, title, text, annotated_line(finding))


def _command(level: str, title: str, message: str, at: tuple[str, int] | None) -> str:
    properties = {"title": title}
    if at is not None:
        file, line = at
        properties |= {"file": file, "line": str(line)}
    listed = ",".join(f"{k}={workflow_property(v)}" for k, v in properties.items())
    return f"::{level} {listed}::{workflow_message(message)}"
