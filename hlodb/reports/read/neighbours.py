"""Read every run of the warehouse beside the run before it, all of them at once.

runs → lines of comparable runs → tracks, steps and verdicts of each line → facts

A report reads its candidate's whole past; here each run is compared with one base, the
run that `hlodb report --baseline previous` takes, so that few queries serve all runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from hlodb.reports.config.settings import Settings
from hlodb.reports.read.baseline import FIRST, Baseline, choose_baseline
from hlodb.reports.read.compared_runs import ComparedRuns
from hlodb.reports.read.decisions import Decisions
from hlodb.reports.read.details import Details, DetailsOfPairs, details_of
from hlodb.reports.read.differences import Modules
from hlodb.reports.read.environment import EnvironmentChange, environments_of
from hlodb.reports.read.facts import (
    Module,
    Profiles,
    Run,
    read_modules,
    read_profiles,
    rows,
)
from hlodb.reports.read.history import (
    Followed,
    History,
    Since,
    Track,
    Trend,
    followed_through,
    marks_of,
    trend_of,
)
from hlodb.reports.read.lost_donations import LostDonations, failed_losses
from hlodb.reports.read.pairs import (
    Loaded,
    Pair,
    Verdict,
    read_pairs_of,
    read_verdicts_of,
)
from hlodb.reports.read.programs import program_row, read_programs
from hlodb.reports.read.report_facts import ReportFacts
from hlodb.reports.read.soundness import QualityRow, reject_rows
from hlodb.schema.connection import Connection

_PREVIOUS = "previous"
_MOST_TRENDS = 3
"""How many programs of a run have their history drawn."""


class Neighbour(NamedTuple):
    """A run, the run before it, and what is to be said of their programs.

    `lost` are the donations that fail the gate `donation_loss`.
    """

    run: Run
    base: Run | None
    why: str
    verdicts: list[Verdict]
    lost: LostDonations

    @property
    def moved(self) -> list[Verdict]:
        """The verdicts that become findings."""
        return [
            v
            for v in self.verdicts
            if self.base
            and (
                v.change != "same"
                or ((both := v.pair.both) is not None and (both, v.color) in self.lost)
            )
        ]


@dataclass(frozen=True, slots=True)
class Line:
    """Runs that follow one another, the earliest first.

    Runs of a branch follow those of main, which are `members` of another line. `marks`
    say where memory stepped, see `trend_of`.
    """

    runs: list[Run]
    members: list[Run]
    tracks: list[Track]
    marks: Mapping[tuple[tuple[int, int], int], int]
    modules: Mapping[int, Sequence[Module]]
    profiles: Profiles
    neighbours: list[Neighbour]

    @property
    def series(self) -> str | None:
        """The series of the runs, None of runs without any."""
        return self.members[-1].series

    def trend(self, track: Track, color: int) -> Trend:
        """Return the memory of a program over the runs."""
        return trend_of(track, color, self.profiles, self.marks)

    def colors(self, track: Track) -> list[int]:
        """Return the memory spaces that a program uses."""
        used = (self.profiles.get(s.module.module_id, {}) for s in track.sightings)
        return sorted({color for each in used for color in each})


def find_lines(
    connection: Connection, runs: Sequence[Run], settings: Settings
) -> list[tuple[list[Run], list[Run]]]:
    """Return lines of runs and their members, the line of the latest run first.

    Every run is in the line of those that it follows, and a member of one.
    """
    places = {run.run_id: place for place, run in enumerate(runs)}
    left = dict(places)
    found = []
    while left:
        last = runs[max(left.values())]
        line = _line(connection, runs, last, settings)
        members = [run for run in line if run.run_id in left]
        for run in members:
            del left[run.run_id]
        # What members of another line had before is theirs; one is the first base.
        first = line.index(members[0])
        found.append((line[max(0, first - 1) :], members))
    return found


def _line(
    connection: Connection, runs: Sequence[Run], last: Run, settings: Settings
) -> list[Run]:
    """Return the runs that lead to `last`, however long their history is."""
    line = [last]
    while True:
        earlier = choose_baseline(
            connection, runs, line[0], _PREVIOUS, settings, only_sound=False
        ).line[:-1]
        if not earlier:
            return line
        line = [*earlier, *line]


@contextmanager
def read_line(
    connection: Connection,
    line: list[Run],
    members: list[Run],
    runs: Iterable[Run],
    settings: Settings,
) -> Iterator[tuple[Line, Followed]]:
    """Yield what memory the runs of a line of `find_lines` needed.

    Beside it is what other histories of the same runs need not read again.
    """
    by_id = {run.run_id: run for run in runs}
    modules = read_modules(connection, line, line[-1])
    placed = {module.key: module for found in modules.values() for module in found}
    profiles = read_profiles(connection, placed.values())
    loaded = Loaded(by_id, placed, profiles)
    before = dict(zip(line[1:], line, strict=False))
    pairs = read_pairs_of(
        connection, [(before[run], run) for run in members if run in before], loaded
    )
    if members[0] not in before:
        pairs[members[0].run_id] = [
            Pair(None, module, None, "new")
            for module in modules[members[0].run_id]
            if module.has_assignment
        ]
    asked = [(run_id, pair) for run_id, found in pairs.items() for pair in found]
    owners = {id(pair): run_id for run_id, pair in asked}
    every = read_verdicts_of(
        connection,
        [pair for _, pair in asked],
        profiles,
        line[::-1],
        settings.judging(),
    )
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in every:
        verdicts[owners[id(verdict.pair)]].append(verdict)
    lost = failed_losses(connection, every, settings)
    neighbours = [
        Neighbour(
            run,
            before.get(run),
            _why(run, before),
            found,
            {
                at: lost[at]
                for v in found
                if (both := v.pair.both) is not None and (at := (both, v.color)) in lost
            },
        )
        for run in members
        for found in [verdicts[run.run_id]]
    ]
    with followed_through(
        connection, line, loaded, settings, has_steps=True
    ) as followed:
        marks = marks_of(followed.steps)
        yield (
            Line(line, members, followed.tracks, marks, modules, profiles, neighbours),
            followed,
        )


def _why(run: Run, before: Mapping[Run, Run]) -> str:
    if run in before:
        return "the run before"
    where = f"run of series {run.series}" if run.series else "run of its kind"
    return f"{run.name} is the first {where}"


def read_details_of(
    connection: Connection, neighbours: Iterable[Neighbour], top: int
) -> DetailsOfPairs:
    """Return why memory moved; pairs of equal programs are read once."""
    moved = [v for each in neighbours for v in each.moved]
    first: dict[tuple[object, ...], Modules] = {}
    same: dict[Modules, Modules] = {}
    for verdict in moved:
        if (pair := verdict.pair.both) is not None:
            contents = tuple((m.module_id, m.locations_id) for m in pair)
            same[pair] = first.setdefault(contents, pair)
    wanted = [v for v in moved if (p := v.pair.both) is not None and same[p] == p]
    details = details_of(connection, wanted, [], top)
    of_pair: dict[Modules, dict[int, Details]] = defaultdict(dict)
    for (pair, color), each in details.items():
        of_pair[pair][color] = each
    return {
        (pair, color): each
        for pair, read in same.items()
        for color, each in of_pair.get(read, {}).items()
    }


def read_environments(
    connection: Connection, neighbours: Iterable[Neighbour]
) -> dict[int, list[EnvironmentChange]]:
    """Return by run_id what differs from the run before, of those that follow one."""
    pairs = [(each.base, each.run) for each in neighbours if each.base is not None]
    found = environments_of(connection, pairs) if pairs else []
    return {run.run_id: changes for (_, run), changes in zip(pairs, found, strict=True)}


def facts_of(
    connection: Connection,
    line: Line,
    neighbour: Neighbour,
    details: DetailsOfPairs,
    decisions: Decisions,
    quality: Sequence[QualityRow],
    environment: list[EnvironmentChange],
) -> ReportFacts:
    """Return the facts of a report on a run and the one before it."""
    run, base, why, verdicts, lost = neighbour
    both = [each for each in (base, run) if each is not None]
    track_of = {s.module.key: track for track in line.tracks for s in track.sightings}
    since = {(v.pair.key, v.color): _since(neighbour, v, track_of) for v in verdicts}
    place = line.runs.index(run)
    compared = ComparedRuns(
        run,
        Baseline(
            base,
            "run" if base else FIRST,
            why,
            (),
            line.runs[: place + 1],
            [],
        ),
        {each.run_id: line.modules[each.run_id] for each in both},
        History([], [], since),
        line.profiles,
        list(dict.fromkeys(v.pair for v in verdicts)),
        verdicts,
        {},
    )
    programs = sorted(
        map(program_row, verdicts),
        key=lambda r: (r.program, r.rank or 0, r.color, r.base_bytes or 0),
    )
    return ReportFacts(
        compared=compared,
        moved=neighbour.moved,
        lost_donations=lost,
        steps=[],
        lines=trends_until(line, neighbour),
        details=details,
        decisions=decisions,
        programs=programs if base else read_programs(connection, verdicts, run),
        environment=environment,
        limits={},
        refused=[],
        compiles={},
        replicated=[],
        capacity=[],
        waste=[],
        health=[],
        scaling=[],
        quality=[row for row in quality if row.run in {each.name for each in both}],
        unassigned=[],
    )


def trends_until(line: Line, neighbour: Neighbour) -> dict[tuple[int, int], Trend]:
    """Return the series of what moved furthest, up to the run in question."""
    track_of = {
        s.module.key: track
        for track in line.tracks
        for s in track.sightings
        if s.run == neighbour.run
    }
    held = [v for v in neighbour.moved if v.delta_bytes is not None]
    held.sort(key=lambda v: -abs(v.delta_bytes or 0))
    until = {run.run_id for run in line.runs[: line.runs.index(neighbour.run) + 1]}
    found = {}
    for v in held[:_MOST_TRENDS]:
        track = track_of[v.pair.module.key]
        seen = [s for s in track.sightings if s.run.run_id in until]
        trend = line.trend(Track(track.number, seen), v.color)
        found[track.number, v.color] = trend
    return found


def _since(
    neighbour: Neighbour, v: Verdict, track_of: Mapping[tuple[int, int], Track]
) -> Since:
    """Return that a difference is of this run: nothing is looked up before its base."""
    pair = v.pair
    track = track_of.get(pair.module.key)
    return Since(
        track.number if track else None,
        neighbour.run,
        pair.candidate,
        pair.base_run,
        pair.base,
        None,
        None,
        None,
    )


def read_quality(
    connection: Connection, runs: Sequence[Run], settings: Settings
) -> list[QualityRow]:
    """Return what could not be read of the runs."""
    rejected = rows(connection, "rejects", runs=[run.run_id for run in runs])
    return reject_rows(rejected, settings.max_rejects)
