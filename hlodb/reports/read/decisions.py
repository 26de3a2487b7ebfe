"""Read the decisions of `hlodb triage`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hlodb.reports.read.facts import rows
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Triage:
    """What somebody decided about a finding that needed `candidate_bytes` then."""

    status: str
    reason: str
    until: str | None
    actor: str | None
    candidate_bytes: int | None


Decisions = Mapping[str, Triage]
"""The last decision about every finding that has one, by its id."""


def read_decisions(connection: Connection) -> dict[str, Triage]:
    """Return the last decisions, those to reopen a finding among them."""
    return {
        finding: Triage(status, reason or "", until, actor, candidate_bytes)
        for finding, status, reason, until, actor, candidate_bytes in rows(
            connection, "decisions"
        )
    }
