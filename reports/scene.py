"""Reads what a report is about: candidate, base, the runs before, pairs of modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from hlodb.errors import NothingToCompare, UsageError
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.nearest import not_held
from hlodb.reports.baseline import (
    Baseline,
    candidate_run,
    choose_baseline,
    earlier_runs,
    may_be_same_device,
    sound_runs,
)
from hlodb.reports.facts import Module, Profiles, Run
from hlodb.reports.match import Match, Similarities, match_modules
from hlodb.reports.missing import kind, missing_pairs
from hlodb.reports.noise import NoiseBands, noise_bands
from hlodb.reports.pairs import Pair, compiled_again, followed_pair
from hlodb.reports.ranks import in_ranks_of
from hlodb.reports.read import read_modules, read_profiles, read_runs
from hlodb.reports.settings import Settings
from hlodb.reports.soundness import unsound_runs
from hlodb.reports.tracks import (
    Sighting,
    Track,
    follow,
    sightings_before,
    similarities_from,
)
from hlodb.reports.window import window_pairs
from hlodb.schema.connection import Connection

HISTORY_RUNS = 90
"""How many runs of a series the history goes back."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to report on; None leaves the choice to the settings and the warehouse.

    `program` limits a diff to one program of the candidate, `base_program` to one of
    the base; where one of them is None, the program is called alike in both.
    """

    candidate: str | None = None
    baseline: str | None = None
    series: str | None = None
    today: date | None = None
    stamp: str | None = None
    kind: str = "report"
    program: str | None = None
    base_program: str | None = None
    fail_on: str = "regression"
    allow_empty: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is read before anything is judged.

    `line` are the runs of the history, the candidate last; those `passed_over` are not
    sound.
    """

    candidate: Run
    baseline: Baseline
    line: list[Run]
    passed_over: list[Run]
    modules: Mapping[int, Sequence[Module]]
    tracks: list[Track]
    profiles: Profiles
    bands: NoiseBands
    pairs: list[Pair]

    @property
    def present(self) -> Sequence[Module]:
        """The modules of the candidate."""
        return self.modules[self.candidate.run_id]

    @property
    def compared(self) -> list[Run]:
        """Base, where there is one, and candidate; a run against itself once."""
        both = dict.fromkeys((self.baseline.run, self.candidate))
        return [run for run in both if run is not None]

    def late_runs(self) -> list[Run]:
        """Give runs of the series that were ingested after one that follows them."""
        late = []
        earliest = self.candidate.ingested_at
        for run in reversed(self.line[:-1]):
            if run.ingested_at and earliest and run.ingested_at > earliest:
                late.append(run)
            elif run.ingested_at is not None:
                earliest = run.ingested_at
        return late[::-1]


def read_scene(connection: Connection, request: Request, settings: Settings) -> Scene:
    """Choose candidate and base, and read the modules of all runs that matter."""
    runs = read_runs(connection)
    series = request.series or settings.series
    candidate = candidate_run(runs, request.candidate, series)
    if candidate is None:
        where = f"series {series!r} has" if series else "the warehouse has"
        raise NothingToCompare(f"{where} no run: ingest a dump, see `hlodb runs`")
    rule = request.baseline or settings.baseline
    unsound: set[int] = set()
    if request.kind == "report":
        unsound = unsound_runs(connection, runs, load_catalogue(), settings)
    baseline = choose_baseline(runs, candidate, rule, settings, unsound)
    earlier = earlier_runs(runs, candidate, settings.main_branch)
    line = [*sound_runs(earlier, unsound)[-HISTORY_RUNS:], candidate]
    passed_over = [run for run in earlier[-HISTORY_RUNS:] if run not in line]
    wanted = line if baseline.run is None else [baseline.run, *line]
    read = read_modules(connection, {run.run_id: run for run in wanted}.values())
    modules = in_ranks_of(read[candidate.run_id], read)
    similarities = similarities_from(connection)
    tracks = follow(line, modules, similarities)
    profiles = read_profiles(connection, (m for ms in modules.values() for m in ms))
    pairs = (
        window_pairs(tracks, candidate, baseline.window, profiles)
        if baseline.window
        else _run_pairs(modules, tracks, candidate, baseline, similarities, request)
    )
    bands = noise_bands(modules, profiles, [run.run_id for run in line])
    return Scene(
        candidate,
        baseline,
        line,
        passed_over,
        modules,
        tracks,
        profiles,
        bands,
        pairs,
    )


def _run_pairs(
    modules: Mapping[int, Sequence[Module]],
    tracks: Sequence[Track],
    candidate: Run,
    baseline: Baseline,
    similarities: Similarities,
    request: Request,
) -> list[Pair]:
    """Pair the modules of base and candidate; what has no base may be older still.

    A program that is compiled more often than before is held against its first
    compilation there; one that is compiled less often is not missing. Without a base
    all stand alone: what they need is told, and held against limits.
    """
    present = modules[candidate.run_id]
    if baseline.run is None:
        return [Pair(None, m, None, None, None) for m in present if m.has_assignment]
    base = modules[baseline.run.run_id]
    _require_program(baseline.run, base, request.base_program)
    _require_program(candidate, present, request.program)
    program = request.program or request.base_program
    base = _named(base, request.base_program or program)
    present = _named(present, program)
    # A diff that names both programs wants them compared, whatever they are called.
    called = [m._replace(program=program or m.program) for m in base]
    true_base = {id(c): m for c, m in zip(called, base, strict=True)}
    matches, left, new = match_modules(called, present, similarities)
    matches = [m._replace(base=true_base[id(m.base)]) for m in matches]
    assigned = [m for m in called if m.has_assignment]
    first = {kind(m): true_base[id(m)] for m in reversed(assigned)}
    # A diff is of the two runs that it names.
    before = {} if request.kind == "diff" else sightings_before(tracks, candidate)
    is_other_device = _is_other_device(baseline.run, candidate, request)
    return [
        *_matched(matches, baseline.run, before, is_other_device),
        *missing_pairs(
            [true_base[id(m)] for m in left],
            [m.candidate for m in matches],
            new,
            baseline.run,
        ),
        *(
            _new_pair(m, first.get(kind(m)), baseline.run, before.get(id(m)))
            for m in new
            if m.has_assignment
        ),
    ]


def _require_program(run: Run, modules: Sequence[Module], program: str | None) -> None:
    held = {m.program for m in modules}
    if program is not None and program not in held:
        raise UsageError(not_held("program", program, held, holder=f"run {run.name}"))


def _is_other_device(base: Run, candidate: Run, request: Request) -> bool:
    """Whoever asks for a diff of two devices wants to see it."""
    is_same = may_be_same_device(base.device, candidate.device)
    return not is_same and request.kind != "diff"


def _matched(
    matches: Sequence[Match],
    base: Run,
    before: Mapping[int, Sighting],
    is_other_device: bool,
) -> Iterator[Pair]:
    """Pair what matched; where the base has lost the assignment, what was before.

    So, too, where the base has other shapes, and what was before has the same.
    """
    for m in matches:
        pair = Pair(*m[:2], base, *m[2:], is_other_device=is_other_device)
        earlier = before.get(id(m.candidate))
        followed = followed_pair(earlier, m.candidate) if earlier else pair
        if earlier is not None and not m.base.has_assignment:
            yield _recovered(earlier, m.candidate)
        elif pair.differing_keys and not (is_other_device or followed.differing_keys):
            yield followed._replace(instead_of=base)
        elif m.base.has_assignment or m.candidate.has_assignment:
            yield pair


def _named(modules: Sequence[Module], program: str | None) -> list[Module]:
    return [m for m in modules if program is None or m.program == program]


def _new_pair(
    module: Module, again: Module | None, base: Run, earlier: Sighting | None
) -> Pair:
    """Pair a module that matched none: compiled `again`, seen `earlier`, or new."""
    if again is not None:
        return compiled_again(again, module, base)
    if earlier is None:
        return Pair(None, module, None, None, None)
    return _recovered(earlier, module)


def _recovered(earlier: Sighting, module: Module) -> Pair:
    return followed_pair(earlier, module)._replace(is_recovered=True)
