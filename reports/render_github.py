"""Annotations of a GitHub workflow: the worst ten, on the line that owns most bytes."""

from __future__ import annotations

from hlodb.reports.escape import workflow_message, workflow_property
from hlodb.reports.model import BufferChange, Finding, Gate, Report
from hlodb.reports.sizes import plain_bytes, signed_bytes, signed_percent

MOST = 10
"""GitHub shows ten annotations of a level and step."""


def render(report: Report) -> str:
    """Give one workflow command per line; the first is the headline as a notice."""
    findings = {f.id: f for f in report.findings}
    failed = [g for g in report.gates if g.status == "fail"]
    waived = [g for g in report.gates if g.status == "waived"]
    lines = [_command("notice", "hlodb", report.headline, None)]
    lines += [
        _gate("error", g, findings.get(g.finding_id or "")) for g in failed[:MOST]
    ]
    if len(failed) > MOST:
        rest = f"{len(failed) - MOST} more gates failed: see the report"
        lines.append(_command("error", "hlodb", rest, None))
    lines += [
        _gate("notice", g, findings.get(g.finding_id or "")) for g in waived[:MOST]
    ]
    for row in report.quality:
        if row.is_gating:
            text = f"{row.count} {row.kind} {row.code} in {row.run}: {row.example}"
            lines.append(_command("error", "hlodb: unsound data", text, None))
    return "".join(f"{line}\n" for line in lines)


def gate_sentence(gate: Gate, finding: Finding | None) -> str:
    """Say what a gate found, in a sentence."""
    if gate.program is None:
        return gate.reason
    who = " ".join(x for x in (gate.program, gate.space) if x)
    if finding is not None and finding.delta_bytes is not None:
        moved = signed_bytes(finding.delta_bytes)
        text = f"{who} {moved} ({signed_percent(finding.delta_ratio)})"
    elif gate.unit == "bytes":
        value, limit = plain_bytes(int(gate.value)), plain_bytes(int(gate.limit))
        text = f"{who} is {value}, the limit {limit}"
    else:
        text = f"{who} is {gate.value:g}, the limit {gate.limit:g}"
    return f"{text}: {gate.reason}" if gate.reason else text


def dominating_source(finding: Finding | None) -> BufferChange | None:
    """Give the largest change in the direction of the finding with a source line."""
    if finding is None:
        return None
    sign = 1 if (finding.delta_bytes or 0) >= 0 else -1
    located = [b for b in finding.buffers if b.source_file and b.source_line]
    return next((b for b in located if b.delta_bytes * sign > 0), None)


def _gate(level: str, gate: Gate, finding: Finding | None) -> str:
    title = f"hlodb {gate.gate}" + (" waived" if gate.status == "waived" else "")
    return _command(
        level, title, gate_sentence(gate, finding), dominating_source(finding)
    )


def _command(level: str, title: str, message: str, at: BufferChange | None) -> str:
    properties = {"title": title}
    if at is not None:
        properties |= {"file": at.source_file or "", "line": str(at.source_line)}
    listed = ",".join(f"{k}={workflow_property(v)}" for k, v in properties.items())
    return f"::{level} {listed}::{workflow_message(message)}"
