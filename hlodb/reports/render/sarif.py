"""SARIF 2.1.0: what fails, still stands, improved or vanished, for code scanning.

A result sits on the source line of the buffer that moved most; without one on the file
of the module in the dump. Its partial fingerprint is the finding's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

from hlodb.reports.judge.findings import ALERTING, Finding, is_loss, undecided
from hlodb.reports.judge.names import Names, called, memory, shared_names
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import annotated_line, gate_sentence
from hlodb.text import json_text, signed_bytes, signed_percent, visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5000
"""What code scanning takes of one run; the most relevant are kept."""

RULES = {
    "regression": "A program needs more memory than the base, above both floors.",
    "changed_inputs": "A program has other inputs, and its memory moved.",
    "missing_program": "The candidate lacks a program of the base, or its memory.",
    "budget": "A program needs more memory than its budget allows.",
    "donation_loss": "An output no longer shares the memory of a parameter.",
    "fragmentation": "Too much temporary memory is never live at once.",
    "padding": "Too much of the memory at the peak is padding.",
    "recompiles": "A program is compiled too often.",
    "replicated": "Every device holds more whole parameters than before.",
    "change": "A program's memory changed in a way that no gate judges.",
}
"""Every rule with its sentence: the gates, and `change` for the rest."""

HELP = (
    "`hlodb report` explains every finding; `hlodb triage`, or a waiver in hlodb.toml,"
    " allows one."
)
"""Help that code scanning shows with every result."""

_LEVELS = {"fail": "error", "warn": "warning", "waived": "note", "pass": "note"}


def render(report: Report) -> str:
    """Return one SARIF log with one run."""
    found = _told_apart(_results(report))
    results = sorted(found, key=lambda r: -abs(r["rank"]))[:MOST_RESULTS]
    highest = max((abs(r["rank"]) for r in results), default=0)
    for result in results:
        # SARIF's rank is a priority from 0 to 100.
        result["rank"] = round(100 * abs(result["rank"]) / highest, 2) if highest else 0
    used = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = used.index(result["ruleId"])
    driver = {
        "name": "hlodb",
        "semanticVersion": report.hlodb_version,
        "rules": [_rule(name) for name in used],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"hlodb/{quote(_category(report), safe='')}/"},
        "columnKind": "utf16CodeUnits",
        "properties": {"verdict": report.verdict, "reportId": report.report_id},
        "results": results,
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(log, indent=1) + "\n"


def _told_apart(results: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield results of which none has the fingerprint of another, in their order.

    Of one program several ranks may exceed a budget, or one rank several budgets.
    """
    places: Counter[str] = Counter()
    for result in results:
        fingerprint = result["partialFingerprints"]["hlodbFinding/v1"]
        places[fingerprint] += 1
        if (place := places[fingerprint]) > 1:
            own = {"hlodbFinding/v1": f"{fingerprint}/{place}"}
            result = {**result, "partialFingerprints": own}
        yield result


def _category(report: Report) -> str:
    return report.comparison.series or "runs"


def _rule(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": RULES[name]},
        "fullDescription": {"text": RULES[name]},
        "help": {"text": HELP},
        "defaultConfiguration": {
            "level": "note" if name == "change" else "error",
        },
    }


def _results(report: Report) -> Iterable[dict[str, Any]]:
    findings = {f.id: f for f in report.findings if f.scope == "candidate"}
    paths = {(p.program, p.rank, p.module_number): p.path for p in report.programs}
    shared = shared_names(report)
    for gate in report.gates:
        if gate.status != "pass":
            finding = findings.get(gate.finding_id or "")
            which = gate.program or "", gate.rank, gate.module_number
            path = paths.get(which, report.comparison.candidate.name)
            yield _gate_result(gate, finding, path, shared)
    gated = {g.finding_id for g in report.gates if g.finding_id}
    for finding in findings.values():
        # Nobody has to look at what fell.
        if finding.id not in gated and finding.change not in ("improved", "fixed"):
            yield _change_result(finding, shared)
    for finding in _standing(report):
        yield _standing_result(finding, shared)


def _standing(report: Report) -> Iterator[Finding]:
    """Yield findings that are still open; of a missing program, one memory space."""
    gone = set()
    for finding in undecided(report.findings):
        is_gone = finding.change == "failed"
        if not is_gone or (finding.program, finding.rank) not in gone:
            yield finding
        if is_gone:
            gone.add((finding.program, finding.rank))


def _gate_result(
    gate: Gate, finding: Finding | None, path: str, shared: Names
) -> dict[str, Any]:
    rank = "" if gate.rank is None else f"|{gate.rank}"
    key = f"{gate.gate}|{gate.program}|{gate.color}{rank}"
    anonymous = blake2b(key.encode(), digest_size=6).hexdigest()
    fingerprint = f"{gate.gate}/{finding.id if finding else anonymous}"
    weight = finding.relevance if finding else int(gate.value - gate.limit)
    result = _result(
        gate.gate,
        _LEVELS[gate.status],
        gate_sentence(gate, finding, shared),
        fingerprint,
        finding,
        _location(finding, gate.program, path),
    )
    if gate.status == "waived":
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": gate.reason}
        ]
    return {**result, "rank": weight}


def _change_result(finding: Finding, shared: Names) -> dict[str, Any]:
    words = f"{called(finding, shared)} {memory(finding)} {finding.change}"
    return _finding_result("change", "note", finding, words, "")


def _standing_result(finding: Finding, shared: Names) -> dict[str, Any]:
    """Return the result of the night with the rise, or without the program: without
    it, code scanning takes the alert for fixed."""
    is_gone = finding.change == "failed"
    rule, change = ("missing_program", " missing") if is_gone else ("regression", "")
    if is_loss(finding):
        rule, change = "donation_loss", " donation lost"
    words = f"{called(finding, shared)} {memory(finding)}{change}"
    since = f' since run "{finding.first_run}"'
    return _finding_result(rule, "error", finding, words, since)


def _finding_result(
    rule: str, level: str, finding: Finding, words: str, since: str
) -> dict[str, Any]:
    text = words
    if finding.delta_bytes is not None:
        text += f" {signed_bytes(finding.delta_bytes)}"
        text += f" ({signed_percent(finding.delta_ratio)})"
    text += since
    if finding.cause is not None:
        text += f": {finding.cause.title}"
    fingerprint = f"{rule}/{finding.id}"
    location = _location(finding, finding.program, finding.path)
    result = _result(rule, level, text, fingerprint, finding, location)
    return {**result, "rank": finding.relevance}


def _result(
    rule: str,
    level: str,
    text: str,
    fingerprint: str,
    finding: Finding | None,
    location: dict[str, Any],
) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": visible(text)},
        "locations": [location],
        "partialFingerprints": {"hlodbFinding/v1": fingerprint},
        "baselineState": _baseline_state(finding),
    }


def _baseline_state(finding: Finding | None) -> str:
    if finding is None:
        return "updated"
    if finding.scope == "history":
        return "unchanged"
    if finding.change == "fixed":
        return "absent"
    if finding.change in ALERTING and finding.first_run != finding.candidate_run:
        return "unchanged"
    appeared = (*ALERTING, "new", "failed", "same")
    return "new" if finding.change in appeared else "updated"


def _location(
    finding: Finding | None, program: str | None, path: str
) -> dict[str, Any]:
    """Return the user's line, else the module's file in the dump."""
    uri, line = annotated_line(finding) or (path, 1)
    return {
        "logicalLocations": [{"name": program or "run", "kind": "module"}],
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(uri or path)},
            "region": {"startLine": max(line or 1, 1)},
        },
    }


def _uri(path: str) -> str:
    prefix = "file://" if path.startswith("/") else ""
    return prefix + quote(path)
