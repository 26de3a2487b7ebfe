"""Read the runs of a comparison: candidate, base, the runs before, their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from hlodb.errors import NothingToCompare, UsageError
from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.baseline import Baseline, candidate_run, choose_baseline
from hlodb.reports.read.facts import (
    Module,
    Profiles,
    Run,
    find_run,
    read_modules,
    read_profiles,
    read_runs,
)
from hlodb.reports.read.history import Followed, History, read_history
from hlodb.reports.read.pairs import (
    Loaded,
    Pair,
    Verdict,
    read_verdicts,
    read_verdicts_of,
)
from hlodb.schema.connection import Connection
from hlodb.text import not_held

SECTIONS = frozenset({"waste", "series", "pictures"})
"""What takes long to read, and only some forms show."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to report on; None leaves the choice to the settings and the warehouse.

    Of SECTIONS only those `shown` are read: `series` are the histories of roles and
    the laws of sizes.

    `program` limits a diff to one program of the candidate, `base_program` to one of
    the base; where one of them is None, the program is called alike in both.
    `db` is the warehouse, where printed commands have to name it.
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
    shown: frozenset[str] = SECTIONS
    db: str | None = None


def parse_side(text: str, runs: Iterable[Run]) -> tuple[str, str | None]:
    """Return run and program of RUN or RUN:PROGRAM; names of runs may have colons."""
    names = {run.name for run in runs}
    if text in names:
        return text, None
    run, colon, program = text.rpartition(":")
    if colon and run in names:
        if not program:
            raise UsageError(f"{text!r} names no program after the colon")
        return run, program
    find_run(runs, run or text)
    raise UsageError(f"there is no run {text!r}")


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The runs of a comparison, their modules, pairs and verdicts.

    `noise` is by how much duplicate compiles of a program differ at most, by its name.
    """

    candidate: Run
    baseline: Baseline
    modules: Mapping[int, Sequence[Module]]
    history: History
    profiles: Profiles
    pairs: list[Pair]
    verdicts: list[Verdict]
    noise: Mapping[str, int]

    @property
    def line(self) -> list[Run]:
        """The runs of the history, the candidate last."""
        return self.baseline.line

    @property
    def present(self) -> Sequence[Module]:
        """The modules of the candidate."""
        return self.modules[self.candidate.run_id]

    @property
    def both(self) -> list[Run]:
        """Base, where there is one, and candidate; a run against itself once."""
        runs = dict.fromkeys((self.baseline.run, self.candidate))
        return [run for run in runs if run is not None]

    def late_runs(self, by: timedelta = timedelta(0)) -> list[Run]:
        """Return runs of the series ingested so long after one that follows them."""
        late = []
        earliest = self.candidate.ingested_at
        for run in reversed(self.line[:-1]):
            if run.ingested_at is None or earliest is None:
                earliest = earliest or run.ingested_at
            elif run.ingested_at > earliest and run.ingested_at - earliest >= by:
                late.append(run)
            else:
                earliest = min(earliest, run.ingested_at)
        return late[::-1]


def read_compared_runs(
    connection: Connection,
    request: Request,
    settings: Settings,
    known: Followed | None = None,
) -> ComparedRuns:
    """Read candidate and base, the modules of all runs that matter, and verdicts.

    `known` is as for `read_history`.
    """
    runs = read_runs(connection)
    series = request.series or settings.series
    candidate = candidate_run(runs, request.candidate, series)
    if candidate is None:
        where = f"series {series!r} has" if series else "the warehouse has"
        raise NothingToCompare(f"{where} no run: ingest a dump, see `hlodb runs`")
    rule = request.baseline or settings.baseline
    baseline = choose_baseline(
        connection, runs, candidate, rule, settings, only_sound=request.kind == "report"
    )
    line = baseline.line
    wanted = [run for run in (baseline.run, *line) if run is not None]
    modules = read_modules(connection, dict.fromkeys(wanted), candidate)
    placed = {(m.run_id, m.place): m for found in modules.values() for m in found}
    profiles = read_profiles(connection, placed.values())
    loaded = Loaded({run.run_id: run for run in runs}, placed, profiles)
    pairs, verdicts = _verdicts(
        connection, baseline, candidate, loaded, request, settings
    )
    history = read_history(
        connection,
        line,
        pairs,
        loaded,
        settings,
        has_steps=request.kind == "report",
        first_runs=baseline.compared,
        known=known,
    )
    return ComparedRuns(
        candidate,
        baseline,
        modules,
        history,
        profiles,
        pairs,
        verdicts,
        _noise(connection, wanted),
    )


def _verdicts(
    connection: Connection,
    baseline: Baseline,
    candidate: Run,
    loaded: Loaded,
    request: Request,
    settings: Settings,
) -> tuple[list[Pair], list[Verdict]]:
    """Return pairs and verdicts; without a base all programs stand alone.

    What they need is reported then, and compared with limits.
    """
    modules, profiles = loaded.modules, loaded.profiles
    judging = settings.judging()
    if request.kind == "diff":
        # A diff shows what differs, wherever it is.
        judging["managed_ratio"] = 0.0
    earlier = baseline.line[-2::-1]
    present = [m for m in modules.values() if m.run_id == candidate.run_id]
    if baseline.run is None:
        alone = [Pair(None, m, None, "new") for m in present if m.has_assignment]
        return alone, read_verdicts_of(connection, alone, profiles, earlier, judging)
    base = [m for m in modules.values() if m.run_id == baseline.run.run_id]
    _require_program(baseline.run, base, request.base_program)
    _require_program(candidate, present, request.program)
    program = request.program or request.base_program
    parameters: dict[str, Any] = {
        "program": program,
        "base_program": request.base_program or program,
        **judging,
        # A diff is of the two runs that it names.
        "follow": request.kind != "diff",
        # No run stands in for a base that was named.
        "earlier_ids": [] if baseline.is_named else [r.run_id for r in earlier],
    }
    if baseline.window:
        parameters["window_ids"] = [run.run_id for run in baseline.window[::-1]]
    given = {key: value for key, value in parameters.items() if value is not None}
    return read_verdicts(connection, baseline.run, candidate, given, loaded)


def _require_program(run: Run, modules: Sequence[Module], program: str | None) -> None:
    held = {m.program for m in modules}
    if program is not None and program not in held:
        raise UsageError(not_held("program", program, held, holder=f"run {run.name}"))


def _noise(connection: Connection, runs: Sequence[Run]) -> dict[str, int]:
    asked = {"run_ids": sorted({run.run_id for run in runs})}
    widest: dict[str, int] = {}
    for row in run_query(connection, "noise_bands", asked).dicts():
        program, width = row["program"], row["width_bytes"]
        widest[program] = max(width, widest.get(program, 0))
    return widest
