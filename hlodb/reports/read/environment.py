"""Read other differences between two runs: versions, devices, compiler flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.read.baseline import branch
from hlodb.reports.read.facts import Module, Run
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run that takes part in the comparison."""

    name: str
    series: str | None
    started_at: str | None
    commit_sha: str | None
    branch: str | None
    compiler_version: str | None
    framework_version: str | None
    platform: str | None
    device: str | None
    rank_count: int


@dataclass(frozen=True, slots=True)
class EnvironmentChange:
    """A fact or compiler flag in which candidate and base differ."""

    key: str
    base: str | None
    candidate: str | None
    is_memory_relevant: bool


RELEASE = "flags that only one release knows"
"""The key of the change that shows another release of the compiler."""

_SHOWN = 120
_ELSEWHERE = ("branch", "hlodb_version")
"""Facts that other parts of a report show."""


def run_facts(run: Run, modules: Sequence[Module]) -> RunFacts:
    """Return the facts of a run that a report shows."""
    ranks = {module.rank for module in modules}
    return RunFacts(
        name=run.name,
        series=run.series,
        started_at=run.started_at.isoformat() if run.started_at else None,
        commit_sha=run.commit_sha,
        branch=branch(run),
        compiler_version=run.compiler_version,
        framework_version=run.framework_version,
        platform=run.platform,
        device=run.device,
        rank_count=len(ranks),
    )


def environment_changes(
    connection: Connection, base: Run, candidate: Run
) -> list[EnvironmentChange]:
    """Return what differs between two runs, see `environments_of`."""
    return environments_of(connection, [(base, candidate)])[0]


def environments_of(
    connection: Connection, pairs: Sequence[tuple[Run, Run]]
) -> list[list[EnvironmentChange]]:
    """Return what differs in each (base, candidate), in the order of a report.

    Another release of the compiler comes first, where only flags show it; then flags
    that may move memory.
    """
    releases = _releases(connection, pairs)
    found: list[list[EnvironmentChange]] = [[] for _ in pairs]
    for row in run_query(connection, "environment_changes", _asked(pairs)).dicts():
        if row["key"] not in _ELSEWHERE:
            change = EnvironmentChange(
                row["key"],
                _shown(row["base_value"]),
                _shown(row["candidate_value"]),
                row["is_memory_relevant"],
            )
            found[row["pair"] - 1].append(change)
    for changes in found:
        changes.sort(key=lambda change: (not change.is_memory_relevant, change.key))
    return [
        [*releases.get(pair, []), *changes]
        for pair, changes in zip(pairs, found, strict=True)
    ]


def release_flags(environment: Sequence[EnvironmentChange]) -> int:
    """Return how many flags only one release knows; 0 where it is the same one."""
    found = [each for each in environment if each.key == RELEASE]
    return sum(int(each.base or 0) + int(each.candidate or 0) for each in found)


def _releases(
    connection: Connection, pairs: Sequence[tuple[Run, Run]]
) -> dict[tuple[Run, Run], list[EnvironmentChange]]:
    """Return which runs are of other releases, where no version says so."""
    unsaid = [
        (base, candidate)
        for base, candidate in pairs
        if base.compiler_version is None
        or base.compiler_version != candidate.compiler_version
    ]
    if not unsaid:
        return {}
    return {
        unsaid[row["pair"] - 1]: [
            EnvironmentChange(
                RELEASE, str(row["base_flags"]), str(row["candidate_flags"]), True
            )
        ]
        for row in run_query(connection, "release_changes", _asked(unsaid)).dicts()
    }


def _asked(pairs: Sequence[tuple[Run, Run]]) -> dict[str, Any]:
    return {
        "base_runs": [base.run_id for base, _ in pairs],
        "candidate_runs": [candidate.run_id for _, candidate in pairs],
    }


def _shown(value: str | None) -> str | None:
    if value is None or len(value) <= _SHOWN:
        return value
    return value[: _SHOWN - 1] + "…"
