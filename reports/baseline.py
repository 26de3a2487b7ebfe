"""Chooses what a candidate is compared with, by a rule that the report prints."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from hlodb.reports.facts import Run
from hlodb.reports.read import find_run
from hlodb.reports.settings import Settings
from hlodb.reports.sizes import counted

RULES = ("auto", "previous", "window")

# A GPU's capability, as file names have it; NVIDIA's letter tells of code, not of GPUs.
_CAPABILITY = re.compile(r"(sm_\d+\.\d+)[a-z]?|(gfx[0-9a-z]+)")


class Baseline(NamedTuple):
    """The chosen run, the rule that chose it, and that rule in words.

    Under the rule `window` every program has bases of its own: its best among the
    `window` runs, in each memory space.
    """

    run: Run | None
    rule: str
    text: str
    window: tuple[Run, ...] = ()


def candidate_run(
    runs: Sequence[Run], name: str | None, series: str | None
) -> Run | None:
    """Give the run in question: the one named, else the latest of the series."""
    if name is not None:
        return find_run(runs, name)
    fitting = [run for run in runs if series is None or run.series == series]
    return fitting[-1] if fitting else None


def earlier_runs(
    runs: Sequence[Run], candidate: Run, main: str | None = None
) -> list[Run]:
    """Give what a candidate can be compared with, oldest first.

    Runs before it on the same platform and device, of the line that it follows if
    `main` names the main branch, and of its series, if it has one that another run
    shares.
    """
    place = [run.run_id for run in runs].index(candidate.run_id)
    same = [
        run
        for run in runs[:place]
        if _agree(run.platform, candidate.platform)
        and may_be_same_device(run.device, candidate.device)
    ]
    same = same if main is None else _followed(same, candidate, main)
    in_series = [run for run in same if run.series == candidate.series]
    return in_series or same


def sound_runs(runs: Sequence[Run], unsound: Set[int]) -> list[Run]:
    """Give the runs that can be relied on; where none can, all of them.

    Then the verdict on what is compared with any of them is unknown.
    """
    return [run for run in runs if run.run_id not in unsound] or list(runs)


def _followed(runs: list[Run], candidate: Run, main: str) -> list[Run]:
    """Give the runs of main, those of unknown branch, and of the candidate's branch.

    What is on another branch is no base of main: it may never be merged. Where nothing
    is of main, it may be called otherwise, and a branch follows whatever there is.
    """
    own = branch(candidate)
    on_main = [run for run in runs if branch(run) in (None, main)]
    if own == main:
        return on_main
    if not on_main:
        return runs
    return [run for run in runs if branch(run) in (None, main, own)]


def choose_baseline(
    runs: Sequence[Run],
    candidate: Run,
    rule: str,
    settings: Settings,
    unsound: Set[int] = frozenset(),
) -> Baseline:
    """Give the base of `candidate`; `rule` is one of RULES, a run's name or run:NAME.

    Runs whose ids are in `unsound` are passed over, unless named.

    `auto`: on another branch than main the fork point (the run of the commit that the
    label fork_point names, else the latest run of main); else the latest run labelled
    accepted=true; else the latest comparable run.
    """
    followed = earlier_runs(runs, candidate, settings.main_branch)
    earlier = sound_runs(followed, unsound)
    if rule not in RULES:
        return Baseline(
            find_run(runs, rule.removeprefix("run:")), "run", "the run named as base"
        )
    comparable = sound_runs(earlier_runs(runs, candidate), unsound)
    if not earlier:
        what = f"run of {settings.main_branch}" if comparable else "run"
        text = f"there is no comparable {what} before the candidate"
        return Baseline(None, rule, text)
    if rule == "window":
        window = tuple(earlier[-settings.window :])
        before = f"the least in {counted(len(window), 'run')} before"
        text = f"per program and memory space, {before}"
        return Baseline(window[-1], rule, text, window)
    if rule == "previous":
        return Baseline(earlier[-1], rule, "the latest comparable run before")
    fork = _fork_point(comparable, candidate)
    return fork or _automatic(earlier, candidate, settings.main_branch)


def _fork_point(earlier: list[Run], candidate: Run) -> Baseline | None:
    """Give the run of the commit that a label names, whatever branch it is on."""
    fork = labels(candidate).get("fork_point") or None
    if fork is not None:
        for run in reversed(earlier):
            if run.commit_sha and run.commit_sha.startswith(str(fork)):
                return Baseline(run, "auto", f"the fork point, commit {fork}")
    return None


def _automatic(earlier: list[Run], candidate: Run, main: str) -> Baseline:
    on_main = [run for run in earlier if branch(run) == main]
    if branch(candidate) not in (None, main) and on_main:
        return Baseline(on_main[-1], "auto", f"the latest run of {main} before")
    for run in reversed(earlier):
        if str(labels(run).get("accepted")).lower() == "true":
            return Baseline(run, "auto", "the last accepted run")
    return Baseline(earlier[-1], "auto", "the latest comparable run before")


def labels(run: Run) -> dict[str, Any]:
    """Give the labels of a run."""
    found = json.loads(run.labels) if run.labels else {}
    return found if isinstance(found, dict) else {}


def may_be_same_device(one: str | None, other: str | None) -> bool:
    """Tell whether nothing says that two runs are of different devices.

    Of a GPU older releases dump the capability alone (sm_9.0, since 2025-05 sm_9.0a):
    it may be any that has a name.
    """
    if _agree(one, other) or one is None or other is None:
        return True
    capabilities = [_CAPABILITY.fullmatch(device) for device in (one, other)]
    known = [match[match.lastindex or 0] for match in capabilities if match]
    return len(known) == 1 or (len(known) == 2 and known[0] == known[1])


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def branch(run: Run) -> str | None:
    """Give the branch of a run, also where only a label says it."""
    return run.branch or labels(run).get("branch")
