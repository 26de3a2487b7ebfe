"""Choose the base of a candidate, by the query `base_choice`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.facts import Run, find_run
from hlodb.schema.connection import Connection
from hlodb.text import counted

RULES = ("auto", "previous", "window")

NAMED = "run"
"""The rule of a base that somebody named."""

FIRST = "first"
"""The rule of a candidate that nothing precedes, so that it has no base."""

HISTORY_RUNS = 90
"""How many runs of a series the history goes back."""


class Baseline(NamedTuple):
    """The base, the rule that selects it, and that rule in words.

    Under the rule `window` every program has bases of its own: its best among the runs
    of `window`, in each memory space. `line` are the runs of the history, the candidate
    last: those of its series, and the base; those `passed_over` are not sound.
    """

    run: Run | None
    rule: str
    text: str
    window: tuple[Run, ...]
    line: list[Run]
    passed_over: list[Run]

    @property
    def is_named(self) -> bool:
        """Whether somebody named the base."""
        return self.rule == NAMED

    @property
    def compared(self) -> list[Run]:
        """The runs of the history in which a difference can begin."""
        if not self.is_named:
            return self.line
        # Of a base that is no run of the history, none lies in between.
        after = self.line.index(self.run) + 1 if self.run in self.line else -1
        return self.line[after:]


def candidate_run(
    runs: Sequence[Run], name: str | None, series: str | None
) -> Run | None:
    """Return the run in question: the one named, else the latest of the series."""
    if name is not None:
        return find_run(runs, name)
    fitting = [run for run in runs if series is None or run.series == series]
    return fitting[-1] if fitting else None


def choose_baseline(
    connection: Connection,
    runs: Sequence[Run],
    candidate: Run,
    rule: str,
    settings: Settings,
    *,
    only_sound: bool = True,
) -> Baseline:
    """Return the base of `candidate`; `rule` is one of RULES, a run's name or run:NAME.

    Runs that are not sound are passed over, unless named, or not `only_sound`.
    """
    named = None if rule in RULES else find_run(runs, rule.removeprefix("run:"))
    asked: dict[str, Any] = {
        "candidate": candidate.name,
        "rule": "auto" if named else rule,
        "main_branch": settings.main_branch,
        "window_runs": settings.window,
        "max_rejects": settings.max_rejects if only_sound else None,
        "consistency": settings.consistency and only_sound,
    }
    found = run_query(connection, "base_choice", asked).dicts()
    by_id = {run.run_id: run for run in runs}
    in_order = sorted(found, key=lambda row: row["place"])
    base = next((row for row in found if row["is_base"]), None)
    base_id = named.run_id if named else base and base["run_id"]
    # The first run of a series is compared with one of another, whose history is not
    # its own.
    followed = [
        run
        for r in in_order
        if r["is_followed"] and (run := by_id[r["run_id"]])
        if run.series == candidate.series or run.run_id == base_id or r["is_in_window"]
    ]
    history = followed[:HISTORY_RUNS]
    over = [r for r in in_order if r["is_followed"] or r["is_passed_over"]]
    passed = [r for r in over[:HISTORY_RUNS] if r["is_passed_over"]]
    line = [*history[::-1], candidate]
    passed_over = [by_id[r["run_id"]] for r in passed[::-1]]
    if named:
        text = "the run named as base"
        return Baseline(named, NAMED, text, (), line, passed_over)
    if base is None and not any(_precedes(run, candidate, runs) for run in runs):
        series = candidate.series
        where = f'run of series "{series}"' if series else "run in the warehouse"
        text = f'"{candidate.name}" is the first {where}'
        return Baseline(None, FIRST, text, (), line, passed_over)
    if base is None:
        earlier = runs.index(candidate)
        text = _why_none(candidate, earlier, settings.main_branch if found else None)
        return Baseline(None, rule, text, (), line, passed_over)
    window = [by_id[r["run_id"]] for r in in_order if r["is_in_window"]][::-1]
    text = _in_words(base["reason"], rule, candidate, settings, len(window))
    run = by_id[base["run_id"]]
    return Baseline(run, rule, text, tuple(window), line, passed_over)


def _why_none(candidate: Run, earlier: int, main_branch: str | None) -> str:
    """Return why none of so many earlier runs is a base."""
    if main_branch is not None:
        return f"there is no comparable run of {main_branch} before the candidate"
    device = candidate.device or candidate.platform or "the same device"
    if earlier == 1:
        return f"the earlier run is not of this device ({device})"
    return f"none of the {earlier:,} earlier runs is of this device ({device})"


def _precedes(run: Run, candidate: Run, runs: Sequence[Run]) -> bool:
    is_earlier = runs.index(run) < runs.index(candidate)
    return is_earlier and candidate.series in (None, run.series)


def _in_words(
    reason: str, rule: str, candidate: Run, settings: Settings, runs: int
) -> str:
    if rule == "previous":
        return "the latest comparable run before"
    words = {
        "fork_point": f"the fork point, commit {labels(candidate).get('fork_point')}",
        "main_branch": f"the latest run of {settings.main_branch} before",
        "accepted": "the latest run labelled accepted=true",
        "latest": "the latest comparable run before",
        "window": "per program and memory space, the least in"
        f" {counted(runs, 'run')} before",
    }
    return words[reason]


def labels(run: Run) -> dict[str, Any]:
    """Return the labels of a run."""
    found = json.loads(run.labels) if run.labels else {}
    return found if isinstance(found, dict) else {}


def branch(run: Run) -> str | None:
    """Return the branch of a run: its own, or that of its label `branch`."""
    return run.branch or labels(run).get("branch")
