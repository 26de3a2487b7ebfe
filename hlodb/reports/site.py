"""Make a static site of a warehouse: what is new is read, drawn and written.

runs → lines → pages that are missing or old → their details → documents → pages

What decides about a page is cheap to read, and a digest of it is kept beside the page.
Only for pages whose digest differs the rest is read, in one go for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.reports.build import build_report, report_on
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Section
from hlodb.reports.document.explanation import outline
from hlodb.reports.document.site import (
    MOST_RUNS,
    ListedProgram,
    ListedRun,
    Row,
    all_findings,
    history_section,
    index_title,
    is_open,
    line_sections,
    moved_first,
    open_findings,
    run_sections,
)
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_trend import draw_trend
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.read.beside import Beside, beside
from hlodb.reports.read.compared_runs import (
    ComparedRuns,
    Request,
    read_compared_runs,
)
from hlodb.reports.read.decisions import Decisions, read_decisions
from hlodb.reports.read.details import DetailsOfPairs
from hlodb.reports.read.drawn.overview_drawings import Drawings, read_drawings_of
from hlodb.reports.read.facts import Answered, Run, read_runs
from hlodb.reports.read.history import Track, Trend
from hlodb.reports.read.neighbours import (
    Line,
    facts_of,
    find_lines,
    read_details_of,
    read_environments,
    read_line,
    read_quality,
    trends_until,
)
from hlodb.reports.read.overview import Overview, asked_of, read_overview
from hlodb.reports.render.html import Link
from hlodb.reports.render.overviews import Shown
from hlodb.reports.render.site import plain_page, program_page, run_page
from hlodb.reports.site_folder import (
    PROGRAMS,
    RUNS,
    Made,
    SiteFolder,
    file_name,
    key_of,
    open_site,
)
from hlodb.reports.triage import listing
from hlodb.schema.connection import Connection
from hlodb.text import space_words

INDEX, FINDINGS = "index.html", "findings.html"

_SHOWN = Shown(programs=3, top=10)
_DRAWN = 4
_DRAWN_STILL = 2
"""How many histories the first page draws of a line; fewer where nothing moved."""


class SiteSummary(NamedTuple):
    """What was made: numbers of runs, programs and pages."""

    runs: int
    programs: int
    pages: int
    written: int
    deleted: int


@dataclass(frozen=True, slots=True)
class _Program:
    """A program of a line: its tracks, and the latest run that holds it."""

    name: str
    page: str
    run: Run
    tracks: list[Track]
    trends: list[Trend]


@dataclass(frozen=True, slots=True)
class _Lined:
    """A line with the names of its pages, and its latest run as a report compares it.

    A single run is compared with nothing, unless it is the latest of all.
    """

    line: Line
    title: str
    programs: dict[str, _Program]
    compared: Future[ComparedRuns | None]


class _Explained(NamedTuple):
    """A program, and what its page shows of the run that holds it."""

    lined: _Lined
    program: _Program
    overview: Overview
    drawings: Drawings


class _Known(NamedTuple):
    """What all pages are made from, and cheap to read."""

    runs: list[Run]
    lines: list[_Lined]
    pages: Mapping[int, str]
    decisions: Decisions
    findings: list[Row]
    settings: Settings


def make_site(
    connection: Connection, folder: Path, settings: Settings, title: str
) -> SiteSummary:
    """Bring the site in `folder` up to date with the warehouse.

    Raises UsageError where the warehouse holds no run, or the folder other files.
    """
    with beside(connection, threads=2) as start:
        return _make_site(connection, start, open_site(folder), settings, title)


def _make_site(
    connection: Connection,
    start: Beside,
    site: SiteFolder,
    settings: Settings,
    title: str,
) -> SiteSummary:
    known = _read_known(connection, start, settings)
    old_runs = dict(_old_runs(site, known))
    old_programs = dict(_old_programs(site, known))
    pages = [
        INDEX,
        FINDINGS,
        *known.pages.values(),
        *(p.page for lined in known.lines for p in lined.programs.values()),
    ]
    site.begin(pages)
    explained = [
        start(partial(_read_programs, run=run, held=held, settings=settings))
        for run, held in _held_by(known, old_programs).items()
    ]
    details = _write_runs(connection, site, known, old_runs)
    reports = [
        start(partial(_judged, lined=lined, known=known, details=details))
        for lined in known.lines
    ]
    for read in explained:
        _write_programs(site, known, old_programs, read.result())
    judged = [report.result() for report in reports]
    _write_findings(site, known)
    _write_index(site, known, judged, title)
    site.finish(pages, {"runs": [run.name for run in known.runs]})
    programs = sum(len(lined.programs) for lined in known.lines)
    return SiteSummary(
        len(known.runs), programs, len(pages), site.written, site.deleted
    )


def _read_known(connection: Connection, start: Beside, settings: Settings) -> _Known:
    runs = read_runs(connection)
    if not runs:
        raise UsageError("the warehouse holds no run: `hlodb ingest PATH` first")
    lines: list[Future[Line]] = []
    compared = []
    for line, members in find_lines(connection, runs, settings):
        lines.append(Future())
        compared.append(
            start(
                partial(
                    _read_line,
                    line=line,
                    members=members,
                    runs=runs,
                    settings=settings,
                    found=lines[-1],
                )
            )
        )
    read = [line.result() for line in lines]
    titles = _titles(read)
    return _Known(
        runs,
        [
            _Lined(line, title, _programs(line, title), latest)
            for line, title, latest in zip(read, titles, compared, strict=True)
        ],
        {run.run_id: f"{RUNS}/{file_name(run.name)}" for run in runs},
        read_decisions(connection),
        list(listing(connection).dicts()),
        settings,
    )


def _read_line(
    connection: Connection,
    line: list[Run],
    members: list[Run],
    runs: Sequence[Run],
    settings: Settings,
    found: Future[Line],
) -> ComparedRuns | None:
    """Set what is `found` of a line, then return what a report on it compares."""
    try:
        with read_line(connection, line, members, runs, settings) as (read, followed):
            found.set_result(read)
            if len(members) < 2 and members[-1] != runs[-1]:
                return None
            request = _request(members[-1])
            return read_compared_runs(connection, request, settings, followed)
    except BaseException as error:
        if not found.done():
            found.set_exception(error)
        raise


def _request(latest: Run) -> Request:
    """Return what is reported on the latest run of a line."""
    return Request(candidate=latest.name, shown=frozenset())


def _titles(lines: Sequence[Line]) -> list[str]:
    """Return a title for each line that no other has."""
    found: list[str] = []
    for line in lines:
        last = line.members[-1]
        series = f"Series {line.series}" if line.series else "Runs without a series"
        more = [series]
        for fact in (last.device or last.platform, last.branch, last.name):
            if len([o for o in lines if o.series == line.series]) > 1 and fact:
                more.append(fact)
        title = next(
            (
                candidate
                for size in range(1, len(more) + 1)
                if (candidate := ", ".join(more[:size])) not in found
            ),
            f"{series}, {last.name}",
        )
        found.append(title)
    return found


def _programs(line: Line, title: str) -> dict[str, _Program]:
    """Return the programs of a line by name, with memory in any of its members."""
    members = {run.run_id for run in line.members}
    of_name: dict[str, list[Track]] = defaultdict(list)
    for track in line.tracks:
        if track.sightings[-1].run.run_id in members and line.colors(track):
            of_name[track.last.program].append(track)
    places = {run.run_id: place for place, run in enumerate(line.runs)}
    found = {}
    for name, tracks in of_name.items():
        runs = [track.sightings[-1].run for track in tracks]
        trends = [
            line.trend(track, color) for track in tracks for color in line.colors(track)
        ]
        found[name] = _Program(
            name,
            f"{PROGRAMS}/{file_name(name, title)}",
            max(runs, key=lambda run: places[run.run_id]),
            tracks,
            trends,
        )
    return found


# --- Runs --------------------------------------------------------------------------


def _old_runs(site: SiteFolder, known: _Known) -> Iterator[tuple[int, str]]:
    """Yield the runs whose pages are to be written, with the keys of these."""
    recorded: dict[str, list[Row]] = defaultdict(list)
    for row in known.findings:
        recorded[row["first_run"]].append(row)
    for lined in known.lines:
        for neighbour in lined.line.neighbours:
            run = neighbour.run
            key = key_of(
                known.settings,
                neighbour[:3],
                [_facts_of(v) for v in neighbour.verdicts],
                sorted(neighbour.lost.values()),
                list(trends_until(lined.line, neighbour).values()),
                recorded[run.name],
                _around(known, lined, run),
                [program.page for program in lined.programs.values()],
            )
            if not site.has(known.pages[run.run_id], key):
                yield run.run_id, key


def _facts_of(verdict: Any) -> tuple[object, ...]:
    modules = [
        m and (m.module_id, m.locations_id, m.rank, m.path) for m in verdict.pair[:2]
    ]
    base = verdict.pair.base_run and verdict.pair.base_run.name
    return (verdict.pair.program, base, modules, *verdict[1:3], *verdict[5:])


def _around(known: _Known, lined: _Lined, run: Run) -> list[Link]:
    """Return links from the page of a run to those beside it."""
    line = lined.line.runs
    place = line.index(run)
    links = [Link("Overview", f"../{INDEX}"), Link("Findings", f"../{FINDINGS}")]
    if place > 0:
        before = line[place - 1]
        links.append(Link(f"← {before.name}", f"../{known.pages[before.run_id]}"))
    if place + 1 < len(line):
        after = line[place + 1]
        links.append(Link(f"{after.name} →", f"../{known.pages[after.run_id]}"))
    return links


def _write_runs(
    connection: Connection, site: SiteFolder, known: _Known, keys: Mapping[int, str]
) -> DetailsOfPairs:
    """Write pages of runs, and return the details that were read for them."""
    wanted = [
        (lined, neighbour)
        for lined in known.lines
        for neighbour in lined.line.neighbours
        if neighbour.run.run_id in keys
    ]
    if not wanted:
        return {}
    details = read_details_of(
        connection, [neighbour for _, neighbour in wanted], known.settings.top
    )
    around = {r.run_id: r for _, n in wanted for r in (n.run, n.base) if r is not None}
    quality = read_quality(connection, list(around.values()), known.settings)
    environments = read_environments(connection, [each for _, each in wanted])
    for lined, neighbour in wanted:
        run = neighbour.run
        facts = facts_of(
            connection,
            lined.line,
            neighbour,
            details,
            known.decisions,
            quality,
            environments.get(run.run_id, []),
        )
        report = report_on(facts, known.settings)
        title = f"{run.name}: {report.headline}"
        links = {name: f"../{p.page}" for name, p in lined.programs.items()}
        more = run_sections(report, run, links)
        if not neighbour.verdicts:
            # Such as the log of a job: it has nothing to compare.
            overview = _read_overview(connection, run, known.settings)
            more = [*outline(overview, _SHOWN.programs, _SHOWN.top), *more]
        text = run_page(title, report, more, _around(known, lined, run))
        site.write(known.pages[run.run_id], text, Made(keys[run.run_id], title))
    return details


# --- Programs ----------------------------------------------------------------------


def _old_programs(site: SiteFolder, known: _Known) -> Iterator[tuple[str, str]]:
    """Yield the pages of programs that are to be written, with their keys."""
    for lined in known.lines:
        for program in lined.programs.values():
            modules = [
                (s.module.module_id, s.module.locations_id, s.module.path)
                for track in program.tracks
                for s in track.sightings
                if s.run == program.run
            ]
            key = key_of(
                known.settings.limits(),
                program.run,
                modules,
                program.trends,
                [known.pages[r.run_id] for r in lined.line.runs[-MOST_RUNS:]],
            )
            if not site.has(program.page, key):
                yield program.page, key


def _held_by(
    known: _Known, pages: Container[str]
) -> Mapping[Run, list[tuple[_Lined, _Program]]]:
    """Return the programs on `pages` by the run that each page explains."""
    by_run: dict[Run, list[tuple[_Lined, _Program]]] = defaultdict(list)
    for lined in known.lines:
        for program in lined.programs.values():
            if program.page in pages:
                by_run[program.run].append((lined, program))
    return by_run


def _read_programs(
    connection: Connection,
    run: Run,
    held: Sequence[tuple[_Lined, _Program]],
    settings: Settings,
) -> list[_Explained]:
    """Return what `hlodb explain` reads of programs of a run."""
    with asked_of(connection, run) as answered:
        overview = _read_overview(connection, run, settings, answered)
        overviews = [_of_program(overview, program.name) for _, program in held]
        drawings = read_drawings_of(connection, overviews, _SHOWN.programs, answered)
    return [
        _Explained(*where, each, drawn)
        for where, each, drawn in zip(held, overviews, drawings, strict=True)
    ]


def _read_overview(
    connection: Connection,
    run: Run,
    settings: Settings,
    answered: Answered | None = None,
) -> Overview:
    return read_overview(
        connection,
        run.name,
        None,
        0,
        top=_SHOWN.top,
        limits=settings.limits(),
        answered=answered,
    )


def _write_programs(
    site: SiteFolder,
    known: _Known,
    keys: Mapping[str, str],
    explained: Sequence[_Explained],
) -> None:
    for each in explained:
        program = each.program
        made = Made(keys[program.page], program.name)
        site.write(program.page, _program_page(known, each), made)


def _of_program(overview: Overview, program: str) -> Overview:
    """Return an overview without what is about other programs."""
    answers = {
        query: [row for row in rows if row.get("program", program) == program]
        for query, rows in overview.answers.items()
    }
    return replace(overview, answers=answers)


def _program_page(known: _Known, explained: _Explained) -> str:
    lined, program, overview, drawings = explained
    page_of = {run.name: f"../{known.pages[run.run_id]}" for run in lined.line.runs}
    links = [
        Link("Overview", f"../{INDEX}"),
        Link("Findings", f"../{FINDINGS}"),
        Link(f"Run {program.run.name}", page_of[program.run.name]),
    ]
    shown = [trend for trend in program.trends if len(trend.points) > 1]
    pictures = [
        _drawn(trend, f"history-{number}") for number, trend in enumerate(shown, 1)
    ]
    history = history_section(program.trends, page_of)
    return program_page(overview, drawings, history, pictures[:_DRAWN], links, _SHOWN)


def _who(trend: Trend) -> str:
    return trend.program if trend.rank is None else f"{trend.program} rank {trend.rank}"


def _drawn(trend: Trend, name: str) -> Picture:
    latest = replace(trend, points=trend.points[-MOST_RUNS:])
    space = space_words(trend.space, trend.color)
    return draw_trend(latest, f"{_who(trend)} {space}", name)


# --- Pages of everything -----------------------------------------------------------


def _finding_links(known: _Known) -> list[str | None]:
    """Return where each finding is shown: on the page of the run that had it first."""
    page_of = {run.name: known.pages[run.run_id] for run in known.runs}
    return [
        f"{page}#finding-{row['finding_id']}"
        if (page := page_of.get(row["first_run"]))
        else None
        for row in known.findings
    ]


def _write_findings(site: SiteFolder, known: _Known) -> None:
    waiting = sum(map(is_open, known.findings))
    section = Section("Findings", all_findings(known.findings, _finding_links(known)))
    title = f"Findings: {waiting:,} open of {len(known.findings):,}"
    text = plain_page(title, [section], {}, [Link("Overview", INDEX)])
    site.write(FINDINGS, text, Made("", title))


def _drawn_trends(programs: Sequence[ListedProgram]) -> list[Trend]:
    """Return what is drawn of a line: what moved furthest, else what is largest."""
    # Ranks mostly need the same.
    alike = {
        (p.trend.program, p.trend.color, *p.sizes): p
        for p in moved_first(programs)[::-1]
    }
    in_order = [p for p in moved_first([*alike.values()]) if len(p.sizes) > 1]
    moved = [p.trend for p in in_order if len(set(p.sizes)) > 1]
    return moved[:_DRAWN] or [p.trend for p in in_order[:_DRAWN_STILL]]


def _judged(
    connection: Connection, lined: _Lined, known: _Known, details: DetailsOfPairs
) -> Report | None:
    """Return the report on the latest run of a line, as `hlodb report` judges it."""
    compared = lined.compared.result()
    if compared is None:
        return None
    request = _request(compared.candidate)
    return build_report(connection, request, known.settings, details, compared)


def _write_index(
    site: SiteFolder, known: _Known, judged: Sequence[Report | None], title: str
) -> None:
    sections: list[Section] = []
    if blocks := open_findings(known.findings, _finding_links(known)):
        sections.append(Section("Open findings", blocks))
    drawn: dict[str, list[Picture]] = {}
    # A single run has no history to show first.
    in_order = sorted(
        zip(known.lines, judged, strict=True),
        key=lambda each: len(each[0].line.members) < 2,
    )
    for number, (lined, report) in enumerate(in_order, 1):
        runs = [
            ListedRun(
                neighbour.run,
                len({v.pair.program for v in neighbour.verdicts if v.pair.candidate}),
                site.made[known.pages[neighbour.run.run_id]].says,
                known.pages[neighbour.run.run_id],
            )
            for neighbour in lined.line.neighbours
        ]
        programs = [
            ListedProgram(trend, _who(trend), program.page)
            for program in lined.programs.values()
            for trend in program.trends
        ]
        sections += line_sections(lined.title, runs, programs, report)
        drawn[lined.title] = [
            _drawn(trend, f"history-{number}-{place}")
            for place, trend in enumerate(_drawn_trends(programs), 1)
        ]
    waiting = sum(map(is_open, known.findings))
    count = sum(len(lined.programs) for lined in known.lines)
    text = plain_page(
        index_title(title, len(known.runs), count, waiting),
        sections,
        drawn,
        [Link("Findings", FINDINGS)],
    )
    site.write(INDEX, text, Made("", title))
