"""Compare the candidate with every gate; each is evaluated and has a row.

A gate that nothing fails still gives one row that says so. Rows are pass, fail,
warn or waived; a waiver of the settings covers a row until its day, a decision of
`hlodb triage` covers a finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from hlodb.errors import UsageError
from hlodb.reports.config.settings import Budget, Settings, covers
from hlodb.reports.judge.findings import (
    ALERTING,
    Finding,
    cause_in_short,
    edited_bytes,
    is_loss,
)
from hlodb.reports.judge.former_names import FormerNames
from hlodb.reports.judge.names import place
from hlodb.reports.judge.report import Gate
from hlodb.reports.judge.sentences import absence, changes_of_inputs
from hlodb.reports.judge.waivers import waived
from hlodb.reports.read.capacity import Limit
from hlodb.reports.read.facts import Run
from hlodb.reports.read.programs import ProgramRow


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What gates look at: `compiles` are by program, `platforms` by place of a row.

    `limits` are by platform and memory space; the compiler refused the programs in
    `refused`.
    `replicated` has a program's name, then what base and candidate replicate (bytes).
    Budgets of `former` names hold for renamed programs.
    """

    findings: Sequence[Finding]
    programs: Sequence[ProgramRow]
    platforms: Mapping[tuple[object, ...], str | None]
    candidate: Run
    limits: Mapping[tuple[str | None, int, str], Limit]
    refused: Sequence[str]
    compiles: Mapping[str, int]
    replicated: Sequence[tuple[str, int, int]]
    today: date | None
    former: FormerNames


ABSOLUTE = ("budget", "fragmentation", "padding", "recompiles", "replicated")
"""The gates that need no base."""


def gate_rows(facts: GateFacts, settings: Settings) -> list[Gate]:
    """Return every row of the gate table, in the order of the gates."""
    rows: list[Gate] = []
    if settings.regression:
        rows += _or_passed("regression", _regressions(facts, settings))
    if settings.changed_inputs != "ignore":
        rows += _or_passed("changed_inputs", _changed(facts, settings))
    if settings.missing_program:
        rows += _or_passed("missing_program", _missing(facts, settings))
    rows += _budgets(facts, settings)
    if settings.donation_loss:
        rows += _or_passed("donation_loss", _donations(facts, settings))
    if (limit := settings.fragmentation_ratio) is not None:
        found = _shares("fragmentation", "fragmentation_bytes", limit, facts)
        rows += _or_passed("fragmentation", found)
    if (limit := settings.padding_ratio) is not None:
        rows += _or_passed("padding", _shares("padding", "padding_bytes", limit, facts))
    if settings.recompiles is not None:
        rows += _or_passed("recompiles", _recompiles(facts, settings.recompiles))
    if settings.replicated_bytes is not None:
        rows += _or_passed("replicated", _replicated(facts, settings.replicated_bytes))
    return waived(rows, facts.findings, settings, facts.today)


def standing_rows(facts: GateFacts, settings: Settings) -> list[Gate]:
    """Return a row for every earlier rise, absence or loss that still stands, which
    fails no gate again: for the waivers that cover it."""
    rows = []
    for f in facts.findings:
        if f.stands and f.lost_donation_bytes:
            rows.append(_donation(f, settings))
        if f.stands and not is_loss(f):
            is_gone = f.change == "failed"
            rows.append(_absent(f) if is_gone else _regression(f, settings))
    return waived(rows, facts.findings, settings, facts.today)


def _row(gate: str, unit: str, limit: float, value: float, **more: object) -> Gate:
    fields = {
        "program": None,
        "rank": None,
        "module_number": None,
        "color": None,
        "space": None,
        "finding_id": None,
        "owner": None,
        "reason": "",
        "until": None,
        **more,
    }
    return Gate(
        gate=gate,
        unit=unit,
        limit=limit,
        value=value,
        margin=limit - value,
        status="fail" if value > limit else "pass",
        **fields,  # type: ignore[arg-type]
    )


def _or_passed(gate: str, rows: Iterable[Gate]) -> list[Gate]:
    return list(rows) or [_row(gate, "count", 0, 0, reason="nothing fails it")]


def _regressions(facts: GateFacts, settings: Settings) -> Iterable[Gate]:
    for f in facts.findings:
        if f.scope != "candidate":
            continue
        if f.change in ALERTING or _is_grown_by_edits(f, settings):
            yield _regression(f, settings)


def _is_grown_by_edits(f: Finding, settings: Settings) -> bool:
    """Return whether a program with other inputs grew by edits, above both floors."""
    base, value = f.base_bytes or 0, f.candidate_bytes or 0
    edited = edited_bytes(f)
    return value > base and edited > 0 and settings.counts(value - edited, value)


def _regression(f: Finding, settings: Settings) -> Gate:
    base, value = f.base_bytes or 0, f.candidate_bytes or 0
    # With other inputs, the base is what the program would need without the edits.
    base = value - edited_bytes(f) if f.change == "changed" else base
    # A mixed finding may hold fewer bytes reserved and more of them live.
    limit = base + settings.floor_of(base)
    row = _about(f, "regression", "bytes", limit, value)
    return replace(row, status="fail", reason=cause_in_short(f))


def _changed(facts: GateFacts, settings: Settings) -> Iterable[Gate]:
    """Yield a row for every program with other inputs whose memory moved.

    Unless edits grew it, which is the gate `regression`'s.
    """
    for f in facts.findings:
        base, value = f.base_bytes or 0, f.candidate_bytes or 0
        is_changed = f.scope == "candidate" and f.change == "changed"
        if is_changed and settings.regression and _is_grown_by_edits(f, settings):
            continue
        if is_changed and settings.counts(base, value):
            row = _about(f, "changed_inputs", "bytes", base, value)
            reason = changes_of_inputs(f)
            yield replace(row, status=settings.changed_inputs, reason=reason)


def _about(f: Finding, gate: str, unit: str, limit: float, value: float) -> Gate:
    return _row(gate, unit, limit, value, **_whose(f), finding_id=f.id, owner=f.owner)


def _whose(row: Finding | ProgramRow) -> dict[str, object]:
    """Return the fields that say which module and memory space a gate is about."""
    return {
        "program": row.program,
        "rank": row.rank,
        "module_number": row.module_number,
        "color": row.color,
        "space": row.space,
    }


def _missing(facts: GateFacts, settings: Settings) -> Iterable[Gate]:
    """Yield a row for every missing program that needed at least the floor's bytes."""
    gone: dict[tuple[str, int | None], list[Finding]] = defaultdict(list)
    for f in facts.findings:
        if f.scope == "candidate" and f.change == "failed":
            gone[f.program, f.rank].append(f)
    for found in gone.values():
        sizes = [f.base_bytes for f in found]
        if None in sizes or sum(s or 0 for s in sizes) >= settings.floor_bytes:
            yield _absent(found[0])
    for program in facts.refused:
        reason = "the compiler refused the program: it does not fit"
        yield _row("missing_program", "count", 0, 1, program=program, reason=reason)


def _absent(f: Finding) -> Gate:
    row = _about(f, "missing_program", "count", 0, 1)
    return replace(row, reason=absence(f))


def _budgets(facts: GateFacts, settings: Settings) -> Iterable[Gate]:
    """Return a row per program and memory space: of several budgets the lowest."""
    lowest: dict[tuple[object, ...], Gate] = {}
    for budget in settings.budgets:
        for p in facts.programs:
            names = (p.program, *facts.former.get(p.program, ()))
            name = next((n for n in names if covers(budget, n, p.color, p.space)), None)
            if p.candidate_bytes is None or name is None:
                continue
            reason = f"budget of {name}, its former name"
            limit = _limit(budget, p, facts)
            known = lowest.get(place(p))
            if limit is not None and (known is None or limit < known.limit):
                lowest[place(p)] = _row(
                    "budget",
                    "bytes",
                    limit,
                    p.candidate_bytes,
                    **_whose(p),
                    owner=budget.owner or settings.owner_of(names),
                    reason=reason if name != p.program else "",
                )
    return lowest.values()


def _limit(budget: Budget, p: ProgramRow, facts: GateFacts) -> int | None:
    """Return the bytes of a budget; None where it is a share of what `p` never is in.

    Programs for the host of a device use none of the device's memory.
    """
    if budget.bytes is not None:
        return budget.bytes
    run, platform = facts.candidate, facts.platforms.get(place(p))
    memory = facts.limits.get((platform, p.color, p.space), Limit()).bytes
    if memory is None:
        is_beside = platform == "cpu" and run.platform not in ("cpu", None)
        if is_beside and budget.space is None:
            return None
        device = run.device or "device"
        raise UsageError(
            f"the budget of {budget.program!r} is a share of the device, and no"
            f" [[device]] says how much {p.space!r} a {device} has"
        )
    return int(memory * (budget.ratio or 0))


def _donations(facts: GateFacts, settings: Settings) -> Iterable[Gate]:
    for f in facts.findings:
        is_judged = f.scope == "candidate" and f.change != "not_comparable"
        if is_judged and f.lost_donation_bytes > settings.floor_bytes:
            yield _donation(f, settings)


def _donation(f: Finding, settings: Settings) -> Gate:
    limit, lost = settings.floor_bytes, f.lost_donation_bytes
    row = _about(f, "donation_loss", "bytes", limit, lost)
    return replace(row, reason="outputs no longer take over the memory of arguments")


_SHARES = {
    "fragmentation": "the share of its memory that is never live at once",
    "padding": "the share of its memory that is room beyond its data",
}


def _shares(gate: str, column: str, limit: float, facts: GateFacts) -> Iterable[Gate]:
    for p in facts.programs:
        part: int | None = getattr(p, column)
        total = p.candidate_bytes
        if part and total and part / total > limit:
            yield _row(
                gate,
                "ratio",
                limit,
                round(part / total, 6),
                **_whose(p),
                reason=_SHARES[gate],
            )


def _recompiles(facts: GateFacts, limit: int) -> Iterable[Gate]:
    for program, count in sorted(facts.compiles.items()):
        if count > limit:
            reason = "how often it was compiled"
            yield _row(
                "recompiles", "count", limit, count, program=program, reason=reason
            )


def _replicated(facts: GateFacts, limit: int) -> Iterable[Gate]:
    for program, base, candidate in facts.replicated:
        if candidate > max(base, limit):
            yield _row(
                "replicated",
                "bytes",
                max(base, limit),
                candidate,
                program=program,
                reason="parameters of at least the limit that every device holds whole",
            )
