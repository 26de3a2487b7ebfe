"""JUnit XML: a suite per run, a case per program, memory space and gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from hlodb.printed_commands import with_db
from hlodb.reports.judge.findings import Finding
from hlodb.reports.judge.names import Names, numbered, place, shared_names
from hlodb.reports.judge.report import Gate, Report
from hlodb.reports.judge.sentences import gate_sentence
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import signed_bytes, visible


def render(report: Report) -> str:
    """Return the suite; a waived gate is skipped, unsound data is an error.

    Every program is a case of the gate `regression`, also where it passes; what cannot
    be compared, or has nothing to be compared with, is skipped. Properties of cases are
    what pytest writes too; the rest holds to Jenkins' junit-10.xsd.
    """
    suite = ET.Element("testsuite", {"name": visible(report.comparison.candidate.name)})
    findings = {f.id: f for f in report.findings}
    suite.append(_properties(_suite_facts(report)))
    shared = shared_names(report)
    for gate in report.gates:
        if gate.program is not None or gate.gate != "regression":
            finding = findings.get(gate.finding_id or "")
            suite.append(_case(gate, finding, shared, report.db))
    failed = {
        place(findings[g.finding_id])
        for g in report.gates
        if g.gate == "regression" and g.finding_id in findings
    }
    for row in report.programs:
        if report.kind == "report" and place(row) not in failed:
            suite.append(_passed(row, shared))
    for case in _unsound(report):
        suite.append(case)
    _tell_apart(suite)
    _count(suite)
    root = ET.Element("testsuites", {"name": "hlodb"})
    root.append(suite)
    ET.indent(root, " ")
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite_facts(report: Report) -> dict[str, str]:
    base = report.comparison.base
    return {
        "verdict": report.verdict,
        "headline": report.headline,
        "report_id": report.report_id,
        "base": base.name if base else "",
        "baseline_rule": report.comparison.rule_text,
    }


def _properties(facts: dict[str, str]) -> ET.Element:
    properties = ET.Element("properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": visible(value)})
    return properties


def _name(row: Finding | ProgramRow | Gate, shared: Names) -> str:
    rank = f"rank {row.rank}" if row.rank is not None else None
    return visible(" ".join(filter(None, (numbered(row, shared), row.space, rank))))


def _case(
    gate: Gate, finding: Finding | None, shared: Names, db: str | None
) -> ET.Element:
    name = _name(finding if finding is not None else gate, shared)
    names = {"classname": f"hlodb.{gate.gate}", "name": name}
    case = ET.Element("testcase", names)
    facts = {"limit": str(gate.limit), "value": str(gate.value), "unit": gate.unit}
    if gate.owner:
        facts["owner"] = gate.owner
    if finding is not None:
        facts["finding"] = finding.id
    case.append(_properties(facts))
    message = visible(gate_sentence(gate, finding, shared))
    if gate.status == "fail":
        failure = ET.SubElement(
            case, "failure", {"message": message, "type": gate.gate}
        )
        failure.text = _card(finding, db)
    elif gate.status == "warn":
        ET.SubElement(case, "skipped", {"message": f"warning: {message}"})
    elif gate.status == "waived":
        until = f" (until {gate.until})" if gate.until else ""
        ET.SubElement(case, "skipped", {"message": f"waived: {message}{until}"})
    return case


def _card(finding: Finding | None, db: str | None) -> str:
    if finding is None:
        return ""
    lines = [f"finding {finding.id}"]
    lines += [f"{signed_bytes(p.delta_bytes)} {p.part} {p.kind}" for p in finding.parts]
    lines += [with_db(command, db) for command in finding.commands]
    return visible("; ".join(lines))


def _passed(row: ProgramRow, shared: Names) -> ET.Element:
    name = _name(row, shared)
    case = ET.Element("testcase", {"classname": "hlodb.regression", "name": name})
    facts = {"change": row.change}
    if row.candidate_bytes is not None:
        facts["value"] = str(row.candidate_bytes)
    case.append(_properties(facts))
    if (reason := _uncompared(row)) is not None:
        ET.SubElement(case, "skipped", {"message": reason})
    return case


def _uncompared(row: ProgramRow) -> str | None:
    """Return why a program is not compared; None where it is."""
    if row.change == "changed":
        return "inputs changed"
    if row.change == "not_comparable":
        return "not comparable"
    if row.candidate_bytes is None:
        return "missing, or without its buffer assignment"
    return "nothing to compare with" if row.base_bytes is None else None


def _unsound(report: Report) -> Iterable[ET.Element]:
    for row in report.quality:
        if row.is_gating:
            name = visible(f"{row.run} {row.code}")
            case = ET.Element("testcase", {"classname": "hlodb.quality", "name": name})
            message = visible(f"{row.count} {row.kind}: {row.example}")
            ET.SubElement(case, "error", {"message": message, "type": row.kind})
            yield case


def _tell_apart(suite: ET.Element) -> None:
    """Return cases with numbered names where several share one: readers keep the first.

    Several ranks of one program may have a budget, or one rank several budgets.
    """
    places: Counter[tuple[str, str]] = Counter()
    for case in suite.iter("testcase"):
        key = case.get("classname", ""), case.get("name", "")
        places[key] += 1
        if (place := places[key]) > 1:
            case.set("name", f"{key[1]} ({place})")


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
