"""Write the notes of a report: noise, late and unsound runs, unused budgets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase

from hlodb.reports.config.settings import Settings, covers
from hlodb.reports.judge.former_names import former_names
from hlodb.reports.judge.names import memory
from hlodb.reports.read.compared_runs import ComparedRuns
from hlodb.reports.read.facts import Run
from hlodb.reports.read.pairs import held_against
from hlodb.reports.read.programs import ProgramRow
from hlodb.text import few

_LATE = timedelta(hours=1)
"""Less is usual where many machines write at once, and no report came between."""


def notes(
    compared: ComparedRuns, settings: Settings, programs: Sequence[ProgramRow]
) -> list[str]:
    """Return notes about noise, unsound and late runs, and budgets."""
    found = []
    has_base = compared.baseline.run is not None
    if has_base and compared.pairs and not any(compared.noise.values()):
        found.append(
            "No compile noise observed: no run compiled a program twice and got"
            " different memory."
        )
    if compared.baseline.passed_over:
        names = _names(compared.baseline.passed_over)
        found.append(
            f"Unsound runs, left out of base and history: {names}."
            " `hlodb query self_consistency` and `rejects_summary` show the faults."
        )
    found += _same_times(compared)
    found += _substitutes(compared)
    if late := compared.late_runs(_LATE):
        names = _names(late)
        found.append(
            f"Ingested an hour or more after later runs of the series: {names}."
            " Comparisons with their neighbours were renewed."
        )
    found += _unused_budgets(compared, settings, programs)
    renamed = {(p.base_program, p.program) for p in programs if p.base_program}
    for old, new in sorted(renamed, key=repr):
        found.append(f"{new} is compared with {old} of the base: a renamed program.")
    found += _earlier_names(compared, renamed)
    return found


BUDGET = "The budget of"
"""How a note about an unused budget begins."""


def _unused_budgets(
    compared: ComparedRuns, settings: Settings, programs: Sequence[ProgramRow]
) -> Iterator[str]:
    """Yield which budgets hold for nothing of the candidate."""
    former = former_names(compared)
    rows = [p for p in programs if p.candidate_bytes is not None]
    for budget in settings.budgets:
        fitting = [
            (p, name)
            for p in rows
            for name in (p.program, *former.get(p.program, ()))
            if fnmatchcase(name, budget.program)
        ]
        if not fitting:
            yield f"{BUDGET} {budget.program} matches no program of this run."
        elif not any(covers(budget, n, p.color, p.space) for p, n in fitting):
            where = budget.space or f"memory space {budget.color}"
            used = ", ".join(sorted({memory(p) for p, _ in fitting}))
            yield (
                f"{BUDGET} {budget.program} for {where} matches no memory space"
                f" of this run, which uses {used}."
            )


def _names(runs: Sequence[Run]) -> str:
    return few([f'"{run.name}"' for run in runs], 3)


def _earlier_names(
    compared: ComparedRuns, said: Collection[tuple[str | None, str]]
) -> Iterator[str]:
    """Yield which programs were called otherwise earlier in the history."""
    now: dict[tuple[str, str, str], None] = {}
    for track in compared.history.tracks:
        last = track.last.program
        names = {s.module.program: s.run.name for s in track.sightings}
        for name, until in names.items():
            if name != last and (name, last) not in said:
                now[last, name, until] = None
    for last, name, until in sorted(now):
        yield f'{last} was called {name} until run "{until}": a renamed program.'


def _same_times(compared: ComparedRuns) -> list[str]:
    """Return the order of two runs whose dumps are of one time."""
    base, candidate = compared.baseline.run, compared.candidate
    is_named = compared.baseline.rule == "run"
    if base is None or is_named or base.started_at != candidate.started_at:
        return []
    time = f" ({base.started_at})" if base.started_at else ""
    return [
        f'Runs "{base.name}" and "{candidate.name}" have the same start time{time}:'
        " they are ordered by name."
    ]


def _substitutes(compared: ComparedRuns) -> list[str]:
    """Name programs compared with an earlier run: the base has other shapes."""
    programs: dict[str, set[str]] = {}
    for pair in compared.pairs:
        if pair.base_run is not None and pair.instead_of is not None:
            text = held_against(pair.base_run, pair.instead_of)
            programs.setdefault(text, set()).add(pair.program)
    return [f"{few(sorted(names), 3)}: {text}." for text, names in programs.items()]
