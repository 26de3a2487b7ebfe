"""Findings of reports, and decisions about them."""

from __future__ import annotations

from sqlalchemy import TIMESTAMP, Column, Text

from hlodb.schema.tables.columns import bigint, integer, public, text

FINDINGS = public(
    "findings",
    "Differences that reports found, each once. hlodb triage records"
    " decisions about them.",
    Column(
        "finding_id",
        Text,
        primary_key=True,
        comment="Stable id: hash of program, shapes, rank, memory space, metric and"
        " first run.",
    ),
    text("program", "Name of the program, see modules."),
    integer("rank", "Process or host; NULL where unknown."),
    integer("color", "Memory space number."),
    text("space_name", "Name of the memory space."),
    text("metric", "Metric that changed, such as reserved_bytes."),
    text("first_run", "Name of the run in which the difference first appeared."),
    text("base_run", "Name of the run it was compared with when first found."),
    text("change", "worse, improved, mixed, new, failed, not_comparable and others."),
    bigint("base_bytes", "The metric in the base; NULL if it has none (bytes)."),
    bigint(
        "candidate_bytes", "The metric in the candidate; NULL if it has none (bytes)."
    ),
    text("cause_key", "Short name of the cause, to group by."),
    text("cause_title", "The cause in a sentence."),
    text("report_id", "The report that found it first."),
)

FINDING_EVENTS = public(
    "finding_events",
    "What happened to a finding: a report saw it, or hlodb triage decided about it.",
    text("finding_id", "The finding."),
    integer("event_number", "Order of the events of a finding, from 1."),
    text(
        "event",
        "seen, noted (it needs no decision), undone (a later run took it back) or"
        " outgrown (memory grew beyond the decision); accepted, waived, invalid, fixed,"
        " acknowledged, duplicate or reopened.",
    ),
    text("reason", "Reason given with the decision."),
    text("until", "First day on which a waiver no longer holds (ISO 8601)."),
    text("actor", "Author of the decision."),
    Column("happened_at", TIMESTAMP, comment="When it was recorded (UTC)."),
    text("report_id", "The report that saw it; NULL for a decision."),
    text("candidate_run", "Name of the run it was seen in; NULL for a decision."),
    bigint(
        "candidate_bytes",
        "The metric in that run; for a decision, the last value seen: it covers"
        " growth up to that value plus the floors (bytes).",
    ),
)
