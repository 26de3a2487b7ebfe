"""Make findings of verdicts: with a stable id, the cause and commands to go on."""

from __future__ import annotations

import shlex
from dataclasses import replace

from hlodb.printed_commands import positional
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.finding_ids import (
    METRIC,
    Places,
    finding_id,
    places_of,
    with_own_ids,
)
from hlodb.reports.judge.findings import DONATION_LOST, RELEASE_KEY, Finding
from hlodb.reports.judge.former_names import FormerNames, former_names
from hlodb.reports.judge.sentences import cause_line
from hlodb.reports.read.details import NO_DETAILS, Details, moved_modules
from hlodb.reports.read.environment import release_flags
from hlodb.reports.read.facts import Run, reserved
from hlodb.reports.read.history import Since, Step
from hlodb.reports.read.pairs import Pair, Verdict, tags
from hlodb.reports.read.report_facts import ReportFacts

_SOURCES = ("program", "environment")
"""Blames that another release explains: what it was given, and its flags."""


_ALIKE = 0.02
"""Two differences are the same that lie no more than this share of one apart."""


def make_findings(facts: ReportFacts, settings: Settings) -> list[Finding]:
    """Return a finding per verdict, then one per earlier step.

    A step that is the same difference as one of the candidate's is left out.
    """
    compared = facts.compared
    places, since = places_of(compared), compared.history.since
    found = with_own_ids(
        _finding(facts, places, settings, v, since[v.pair.key, v.color])
        for v in facts.moved
    )
    ids = {f.id for f in found}
    for step in facts.steps:
        finding = _finding(facts, places, settings, step.verdict, step.since, step)
        if finding.id not in ids:
            ids.add(finding.id)
            found.append(finding)
    former = former_names(compared)
    return [_owned(finding, former, settings) for finding in found]


def _finding(
    facts: ReportFacts,
    places: Places,
    settings: Settings,
    v: Verdict,
    since: Since,
    step: Step | None = None,
) -> Finding:
    """Return the finding of a verdict; `step` is the earlier step that it is about."""
    pair, module = v.pair, v.pair.module
    is_step = step is not None
    run = step.run if step is not None else facts.compared.candidate
    lost = _lost_donations(facts, v) if step is None else step.lost_bytes or 0
    line = facts.lines.get((since.track, v.color)) if since.track else None
    is_followed = facts.lines and not facts.compared.baseline.is_named
    is_fixed = v.change == "improved" and not is_step and is_followed
    change = "fixed" if is_fixed and since.undone is not None else v.change
    both = moved_modules(v)
    is_released = not is_step and _is_of_other_release(facts, v.pair)
    details = facts.details.get((both, v.color)) if both else None
    if details is not None and is_released:
        details = _by_release(details, release_flags(facts.environment))
    limit = settings.limit_of(
        facts.compared.candidate, v.color, v.space, module.platform
    )
    searched = _searched(facts, since, v, is_step)
    finding = Finding(
        id=_id(v, since, places),
        scope="history" if is_step else "candidate",
        state=_state(change, step),
        change=change,
        rule=v.rule,
        program=module.program,
        base_program=pair.other_name,
        rank=module.rank,
        module_number=module.module_number,
        path=module.path,
        color=v.color,
        space=v.space,
        metric=METRIC,
        base_run=pair.base_run.name if pair.base_run else None,
        candidate_run=run.name,
        first_run=since.first.name,
        since_run=since.first.name if _is_since(facts, since, v) else None,
        base_bytes=v.base_bytes,
        candidate_bytes=v.candidate_bytes,
        delta_bytes=v.delta_bytes,
        delta_ratio=v.delta_ratio,
        delta_live_peak_bytes=v.delta_live_peak_bytes,
        relevance=_relevance(v, settings, limit),
        tags=tags(v),
        differing_keys=list(pair.differing_keys),
        match_method=pair.method,
        match_confidence=pair.confidence,
        owner=None,
        **(details or NO_DETAILS)._asdict(),
        stands=is_step and (since.fate == "stands" or lost > 0),
        left_bytes=_left_bytes(v, since) if is_step else None,
        lost_donation_bytes=lost,
        triage=None,
        history=[f"{p.run} {p.bytes} {p.mark}".rstrip() for p in line.points]
        if line
        else [],
        commands=[
            *_commands(v, run),
            *([] if _is_of_inputs(details) else _search(searched, is_released)),
        ],
    )
    return finding


def _state(change: str, step: Step | None) -> str:
    """Return the state of a finding before anything is decided about it.

    A step that moved nothing else is undone when its donations are back.
    """
    if step is not None and not step.lost_bytes:
        fate = step.since.fate
        if fate == "undone" or (fate is None and step.lost_bytes == 0):
            return "undone"
    return DONATION_LOST if change == "same" else change


def _is_since(facts: ReportFacts, since: Since, v: Verdict) -> bool:
    """Return whether a difference is known to stand since its first run.

    Memory has been on its side of the mean ever since, but may have moved there for
    another reason: that run alone has the same difference, to a fiftieth. Beside a
    base that was named, runs without a series are no nights of it.
    """
    compared = facts.compared
    is_alone = compared.baseline.is_named and compared.candidate.series is None
    if is_alone and since.first.run_id != compared.candidate.run_id:
        return False
    module = since.first_module
    if v.delta_bytes is None or module is None or v.candidate_bytes is None:
        return True
    then = reserved(module, v.color, compared.profiles)
    return abs(then - v.candidate_bytes) <= _ALIKE * abs(v.delta_bytes)


def _left_bytes(v: Verdict, since: Since) -> int | None:
    """Return what is left of a rise that stands; None where a program is missing."""
    if since.fate != "stands" or v.pair.candidate is None or since.last_bytes is None:
        return None
    return since.last_bytes - (v.base_bytes or 0)


def _lost_donations(facts: ReportFacts, v: Verdict) -> int:
    both = v.pair.both
    return facts.lost_donations.get((both, v.color), 0) if both else 0


def _id(v: Verdict, since: Since, places: Places) -> str:
    """Return the id of a finding by the program in the run that had it first.

    Of a missing program, by the program in the last run that has it.
    """
    is_missing = v.pair.candidate is None
    there = since.before_module if is_missing else since.first_module
    module = there or v.pair.module
    return finding_id(module, v.color, since.first.name, places[module.key])


def _owned(finding: Finding, former: FormerNames, settings: Settings) -> Finding:
    at = cause_line(finding)
    path = at[0] if at else None
    names = (finding.program, *former.get(finding.program, ()))
    return replace(finding, owner=settings.owner_of(names, path))


def _relevance(v: Verdict, settings: Settings, limit_bytes: int | None) -> int:
    """Return Δbytes times weight times the share of the device's memory in use."""
    amount = v.delta_bytes
    if amount is None:
        amount = v.candidate_bytes or v.base_bytes or 0
    used = max(v.base_bytes or 0, v.candidate_bytes or 0)
    consumed = used / limit_bytes if limit_bytes else 1.0
    return round(amount * settings.weight_of(v.pair.program) * consumed)


def _commands(v: Verdict, candidate_run: Run) -> list[str]:
    base, candidate = v.pair.base, v.pair.candidate
    if candidate is None:
        return []
    run = shlex.quote(f"run={candidate_run.name}")
    name = shlex.quote(f"program={candidate.program}")
    if not candidate.has_assignment:
        return [f"hlodb query incomplete_modules -p {run} -p {name}"]
    commands = []
    if base is not None and base.has_assignment and v.pair.base_run:
        old = f"{v.pair.base_run.name}:{base.program}"
        new = f"{candidate_run.name}:{candidate.program}"
        commands.append(shlex.join(["hlodb", "diff", *positional(old, new)]))
    # Without live ranges nobody knows what is live at the peak.
    has_peak = v.delta_live_peak_bytes is not None
    query = "peak_contents" if has_peak else "largest_allocations"
    return [*commands, f"hlodb query {query} -p {run} -p {name}"]


def _searched(facts: ReportFacts, since: Since, v: Verdict, is_step: bool) -> Since:
    """Return where to search: of a base that somebody named, all since that base."""
    compared = facts.compared
    if is_step or not compared.baseline.is_named:
        return since
    return since._replace(
        first=compared.candidate,
        first_module=v.pair.candidate,
        before=v.pair.base_run or compared.baseline.run,
        before_module=v.pair.base,
    )


def _is_of_other_release(facts: ReportFacts, pair: Pair) -> bool:
    """Return whether another release of the compiler was given the same program.

    It is the same, too, where one commit was lowered by two releases of the framework.
    """
    base, candidate = pair.base_run, facts.compared.candidate
    both = pair.both
    if base is None or both is None or base != facts.compared.baseline.run:
        return False
    if not release_flags(facts.environment):
        return False
    graphs = [module.source_graph for module in both]
    commits = [base.commit_sha, candidate.commit_sha]
    return any(
        None not in found and found[0] == found[1] for found in (graphs, commits)
    )


def _by_release(details: Details, flags: int) -> Details:
    """Return details without edits, which nobody made; a pass stays the cause."""
    cause = details.cause
    if cause is None or cause.blame not in _SOURCES:
        return details
    title = f"likely another release of XLA: {flags} flags are known to one of them"
    title += " only"
    released = replace(
        cause,
        key=f"{RELEASE_KEY}/{cause.key}",
        title=title,
        blame="environment",
        standing="likely",
        effect=cause.effect or cause.title,
        is_part=False,
    )
    return details._replace(cause=released, claims=[])


def _search(since: Since, is_released: bool) -> list[str]:
    """Return the command that names the commit to dump next, if there may be one.

    No commit made the difference where another release of the compiler was given the
    same: then the command lists what else differs.
    """
    before, first = since.before, since.first
    if before is not None and (is_released or _is_of_release(since)):
        runs = [f"base={before.name}", f"candidate={first.name}"]
        return [
            f"hlodb query environment_diff -p {shlex.join(runs[:1])}"
            f" -p {shlex.join(runs[1:])}"
        ]
    ends = (before.commit_sha if before else None, first.commit_sha)
    if None in ends or ends[0] == ends[1]:
        return []
    # Without the later commit itself: of neighbours it prints none.
    return [shlex.join(["git", "rev-list", "--bisect", f"{ends[1]}^@", f"^{ends[0]}"])]


def _is_of_inputs(details: Details | None) -> bool:
    """Return whether other inputs explain a difference, so that no commit does."""
    claims = details.claims if details is not None else []
    return bool(claims) and all(claim.kind == "inputs" for claim in claims)


def _is_of_release(since: Since) -> bool:
    """Return whether another release of the compiler was given the same program."""
    before, old, new = since.before, since.before_module, since.first_module
    if before is None or old is None or new is None:
        return False
    versions = before.compiler_version, since.first.compiler_version
    is_same = old.source_graph is not None and old.source_graph == new.source_graph
    return is_same and None not in versions and versions[0] != versions[1]
