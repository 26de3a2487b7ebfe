"""Read all facts of a report or diff, before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlodb.queries.catalogue import load_catalogue
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.capacity import (
    Capacity,
    Limits,
    read_capacity,
    read_limits,
    refused_programs,
)
from hlodb.reports.read.compared_runs import (
    ComparedRuns,
    Request,
    read_compared_runs,
)
from hlodb.reports.read.compilations import (
    Health,
    compile_counts,
    read_health,
    replicated_bytes,
)
from hlodb.reports.read.decisions import Decisions, read_decisions
from hlodb.reports.read.details import DetailsOfPairs, details_of
from hlodb.reports.read.environment import EnvironmentChange, environment_changes
from hlodb.reports.read.facts import Module
from hlodb.reports.read.history import Lines, Step, trends
from hlodb.reports.read.lost_donations import (
    LostDonations,
    hidden_losses,
    lost_donations,
    steps_with_losses,
)
from hlodb.reports.read.pairs import Verdict
from hlodb.reports.read.programs import ProgramRow, read_programs
from hlodb.reports.read.scaling import ScalingLaw, scaling_laws
from hlodb.reports.read.soundness import QualityRow, quality
from hlodb.reports.read.unassigned import captured, partial
from hlodb.reports.read.waste import Waste, read_waste
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """All that a report is judged and made from; a diff has no history and no gates.

    `moved` are the verdicts that become findings, `steps` the earlier steps of the
    series. `lost_donations` are bytes by pair and memory space. `refused` programs do
    not fit, says the compiler; `compiles` are by program. `replicated` has a program's
    name, then what base and candidate replicate (bytes).
    """

    compared: ComparedRuns
    moved: list[Verdict]
    lost_donations: LostDonations
    steps: list[Step]
    lines: Lines
    details: DetailsOfPairs
    decisions: Decisions
    programs: list[ProgramRow]
    environment: list[EnvironmentChange]
    limits: Limits
    refused: list[str]
    compiles: Mapping[str, int]
    replicated: Sequence[tuple[str, int, int]]
    capacity: list[Capacity]
    waste: list[Waste]
    health: list[Health]
    scaling: list[ScalingLaw]
    quality: list[QualityRow]
    unassigned: list[str]


def read_report_facts(
    connection: Connection,
    request: Request,
    settings: Settings,
    known: DetailsOfPairs | None = None,
    compared: ComparedRuns | None = None,
) -> ReportFacts:
    """Return the facts of the runs that a request names, see `read_compared_runs`.

    Where details are `known`, only facts of gates and of the headline are read.
    `compared` are the runs where they have been read.
    """
    compared = compared or read_compared_runs(connection, request, settings)
    base, candidate = compared.baseline.run, compared.candidate
    is_report = request.kind == "report"
    catalogue = load_catalogue()
    moved = [v for v in compared.verdicts if base is not None and v.change != "same"]
    lost: LostDonations = {}
    if is_report and settings.donation_loss:
        lost = lost_donations(connection, compared.verdicts)
        moved += hidden_losses(compared.verdicts, lost, settings)
    steps, lines = _history(compared, settings) if is_report else ([], {})
    is_whole = known is None
    if is_whole and is_report and settings.donation_loss and base in compared.line:
        steps = steps_with_losses(
            connection,
            compared.history.tracks,
            steps,
            compared.line[: compared.line.index(base) + 1],
            candidate,
            compared.profiles,
            settings,
        )
    programs = read_programs(connection, compared.verdicts, candidate)
    limits = read_limits(connection, candidate, settings)
    present = [m for m in compared.present if request.program in (None, m.program)]
    is_counted = is_report and settings.recompiles is not None
    return ReportFacts(
        compared=compared,
        moved=moved,
        lost_donations=lost,
        steps=steps,
        lines=lines,
        details=details_of(
            connection, moved, steps if is_whole else [], settings.top, known
        ),
        decisions=read_decisions(connection),
        programs=programs,
        environment=environment_changes(connection, base, candidate) if base else [],
        limits=limits,
        refused=refused_programs(connection, candidate) if is_report else [],
        compiles=compile_counts(connection, candidate) if is_counted else {},
        replicated=_replicated(connection, compared, settings) if is_report else [],
        capacity=read_capacity(
            connection, present, compared.profiles, candidate, settings
        ),
        waste=[
            each
            for each in read_waste(
                connection,
                programs,
                candidate,
                catalogue,
                settings.top,
                settings.floor_bytes,
            )
            if request.program in (None, each.program)
        ]
        if "waste" in request.shown
        else [],
        health=read_health(connection, base, candidate, compared.noise, settings.top)
        if is_whole
        else [],
        scaling=scaling_laws(
            connection, compared.modules, compared.line, limits, settings.top
        )
        if "series" in request.shown
        else [],
        quality=quality(connection, compared.both, catalogue, settings),
        unassigned=[*captured(connection, compared), *partial(connection, compared)]
        if is_whole
        else [],
    )


def _history(compared: ComparedRuns, settings: Settings) -> tuple[list[Step], Lines]:
    """Return steps and absences of the series, and every program's line through it.

    Whoever names a base asks for that alone, and for no steps of other runs.
    """
    found, line, base = compared.history, compared.line, compared.baseline.run
    steps = [s for s in found.steps if s.verdict.change != "failed"]
    lines = trends(found.tracks, compared.profiles, steps, compared.candidate)
    if compared.baseline.is_named:
        return [], lines
    if settings.missing_program and base in line:
        # Neither base nor candidate has it, so their comparison does not show it.
        until = line[: line.index(base) + 1]
        failed = [s for s in found.steps if s.verdict.change == "failed"]
        steps += [s for s in failed if s.run in until]
    return steps, lines


def _replicated(
    connection: Connection, compared: ComparedRuns, settings: Settings
) -> list[tuple[str, int, int]]:
    """Return the replicated bytes of base and candidate of programs, if a gate asks.

    Programs of one name have a row each, and so have ranks, unless these are equal.
    """
    if settings.replicated_bytes is None:
        return []
    pairs = compared.pairs
    modules = [m for p in pairs for m in (p.base, p.candidate) if m is not None]
    sizes = replicated_bytes(connection, modules, settings.replicated_bytes)

    def size(module: Module | None) -> int:
        return sizes.get(module.earliest_id, 0) if module is not None else 0

    return sorted({(p.program, size(p.base), size(p.candidate)) for p in pairs})
