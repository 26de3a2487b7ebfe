"""Read one run by itself: rows of canned queries, nothing computed.

run → queries → Overview → document/explanation.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hlodb.errors import UsageError
from hlodb.queries.answer_once import answered_once
from hlodb.queries.catalogue import Catalogue, load_catalogue
from hlodb.queries.run import Value, run_query
from hlodb.reports.read.facts import Answered, Run, find_run, read_runs
from hlodb.schema.connection import Connection
from hlodb.text import space_words

OVERVIEW_SCHEMA = "1.5.0"
"""Version of the JSON form; the first number rises where a reader has to change."""

Row = Mapping[str, Any]

MAIN_SPACE = 0
"""Color of a device's main memory: HBM of a TPU, the memory of a GPU or the host."""

TIMELINE_POINTS = 60

SMALL_RATIO = 0.01
"""Memory spaces below this share of the largest are omitted."""

_LEAST_TOP = 20
RANKED = ("peak_by_source_line", "peak_contents", "remedies")
"""Queries that list no more than so many rows of each memory space."""

OF_PROGRAMS: Mapping[str, Mapping[str, Value]] = {
    "peak_by_space": {},
    "live_timeline": {},
    "peak_by_role": {"by_rule": False},
    "peak_by_source_line": {},
    "peak_by_layer": {},
    "peak_contents": {},
    "remedies": {},
}
OF_RUNS: Mapping[str, Mapping[str, Value]] = {
    "oom_summary": {},
    "oom_buffers_explained": {},
    "oom_chunks_explained": {"top": _LEAST_TOP},
    "printed_memory": {},
    "rejects_summary": {},
}
SHARED = (
    "selected_run",
    "selected_modules",
    "selected_contents",
    "final_modules",
    "final_contents",
    "located_contents",
    "value_places",
    "peak_values",
    "array_flow",
    "array_origins",
    "instruction_phases",
    "parameter_readers",
    "value_phases",
    "gathered_values",
    "copied_parameters",
    "instruction_sources",
    "value_sources",
    "entry_parameters",
    "result_places",
    "missed_donations",
    "argument_last_uses",
    "saved_values",
)
"""What several of the queries read, or one several times: half of the time."""

_OF_A_SPACE = ("program", "module_number", "rank", "color")

_HAS_PROGRAMS = "SELECT 1 FROM modules WHERE has_assignment LIMIT 1"

# Such as of a compilation that was ended, or has not ended yet.
_LACKING = (
    "SELECT 1 FROM modules WHERE run_id = $run_id"
    " GROUP BY program, module_number, rank HAVING NOT bool_or(has_assignment)"
)

# Other spaces the compiler fills on purpose: they are described where nearly full.
_TIGHT = frozenset({"warn", "oom"})


@dataclass(frozen=True, slots=True)
class Overview:
    """What a run holds; `answers` has the rows of each query by its name.

    `frag_breakdown` is asked only where there is fragmentation worth a word.
    `has_programs` says whether the warehouse has any program with memory, of this run
    or another. `paths` are those of a run that only a temporary warehouse has; `db` is
    the user's warehouse, where printed commands have to name it. `is_joined` says
    whether several paths are this one run. `failed` are the places of memory spaces of
    which a log tells that they did not suffice.
    """

    run: Run
    answers: Mapping[str, Sequence[Row]]
    paths: Sequence[str] = ()
    db: str | None = None
    has_programs: bool = False
    is_joined: bool = False
    failed: Set[tuple[Any, ...]] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether everything in it could be read."""
        return not self.answers["rejects_summary"]

    @property
    def lacks_dump(self) -> bool:
        """Whether a log tells of a failure that no program of the dump has."""
        return any(
            is_of_another(self, row) or (misfit_of(self, row) and not is_found(row))
            for row in self.answers["oom_summary"]
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a program nor a report of a log."""
        told = ("peak_by_space", "oom_summary", "partial_memory", "printed_memory")
        return not any(self.answers.get(query) for query in told)

    @property
    def is_understood(self) -> bool:
        """Whether a program, or a report of a log, could be understood."""
        known = [row for row in self.answers["oom_summary"] if row["form"] != "unknown"]
        told = ("peak_by_space", "partial_memory", "printed_memory")
        return bool(known) or any(self.answers.get(query) for query in told)


def read_overview(
    connection: Connection,
    name: str | None,
    program: str | None,
    points: int = TIMELINE_POINTS,
    *,
    top: int = 0,
    paths: Sequence[str] = (),
    db: str | None = None,
    limits: Mapping[str, Value] | None = None,
    answered: Answered | None = None,
) -> Overview:
    """Return what the run called `name` holds, else the latest run.

    `program` is the only one to read; `points` is as in `live_timeline`, 0 for every
    stretch, of which a curve without gaps can be drawn; `top` is how many rows a table
    shows; `limits` are parameters of `headroom`; `answered` is what `asked_of` yields
    for the run, where more than the overview is read of it. Raises UsageError where the
    warehouse has no such run or program.
    """
    runs = read_runs(connection)
    if not runs:
        raise UsageError("the warehouse holds no run: pass the PATH of a dump")
    run = runs[-1] if name is None else find_run(runs, name)
    catalogue = load_catalogue()
    asked: dict[str, Value] = {"run": run.name}
    answers = {
        query: run_query(connection, query, {**asked, **more}).dicts()
        for query, more in OF_RUNS.items()
    }
    of_run = dict(asked)
    if program is not None:
        asked["program"] = program
    of_programs = _answers_of_programs(
        connection, asked, points, most_rows(top), catalogue, limits or {}, answered
    )
    measured = [row["live_peak_bytes"] for row in of_programs["peak_by_space"]]
    lacks = connection.execute(_LACKING, {"run_id": run.run_id}).fetchall()
    if not measured or None in measured or lacks:
        partial = run_query(connection, "partial_memory", asked).dicts()
        of_programs["partial_memory"] = partial
    if answers["oom_summary"] and of_programs["headroom"]:
        answers["oom_misfits"] = run_query(connection, "oom_misfits", of_run).dicts()
    # Only reports of logs are looked up among other runs.
    rows = answers["oom_summary"] and connection.execute(_HAS_PROGRAMS).fetchall()
    overview = Overview(run, {**answers, **of_programs}, paths, db, bool(rows))
    return replace(overview, failed=_failed_places(overview))


@contextmanager
def asked_of(connection: Connection, run: Run) -> Iterator[Answered]:
    """Answer what several queries read of a run, also those of its drawings."""
    blocks = (*SHARED, "peak_roles")
    asked = {"run": run.name}
    with answered_once(connection, blocks, asked, load_catalogue()) as answered:
        yield answered


def _answers_of_programs(
    connection: Connection,
    asked: Mapping[str, Value],
    points: int,
    top: int,
    catalogue: Catalogue,
    limits: Mapping[str, Value],
    given: Answered | None,
) -> dict[str, Sequence[Row]]:
    of_programs = {**OF_PROGRAMS, "live_timeline": {"points": points}}
    of_programs |= {query: {"top": top} for query in RANKED}
    headroom = run_query(connection, "headroom", {**asked, **limits}).dicts()
    if not headroom:
        # Most of the time goes into what a log has no rows for.
        return {query: [] for query in (*of_programs, "headroom")}
    blocks = SHARED if given is None else ()
    with answered_once(connection, blocks, asked, catalogue, given) as answered:
        answers = {
            query: run_query(
                connection, query, {**asked, **more}, catalogue, answered
            ).dicts()
            for query, more in of_programs.items()
        }
        if any(map(is_fragmented, answers["peak_by_space"])):
            gaps = run_query(connection, "frag_breakdown", asked, catalogue, answered)
            answers["frag_breakdown"] = gaps.dicts()
    return {**answers, "headroom": headroom}


def is_fragmented(space: Row) -> bool:
    """Return whether fragmentation of a memory space is worth a word."""
    lost = space.get("fragmentation_bytes") or 0
    return bool(lost and lost >= SMALL_RATIO * space["reserved_bytes"])


def most_rows(top: int) -> int:
    """Return how many values, lines or remedies are read where tables show `top`."""
    return max(_LEAST_TOP, top + 1)


def memory_spaces(overview: Overview) -> list[Row]:
    """Return the rows of `headroom` with those of `peak_by_space`, main memory first.

    Within it the largest program comes first. `has_failed` says whether a log tells
    that the memory did not suffice.
    """
    measured = {_place(row): row for row in overview.answers["peak_by_space"]}
    rows = [{**measured.get(_place(row), {}), **row} for row in _headroom(overview)]
    rows = [{**row, "has_failed": _place(row) in overview.failed} for row in rows]
    return sorted(rows, key=lambda row: (row["color"], -(row["reserved_bytes"] or 0)))


def _headroom(overview: Overview) -> Sequence[Row]:
    return overview.answers["headroom"]


def is_described(space: Row) -> bool:
    """Return whether what fills a memory space is worth a section of its own."""
    return space["color"] == MAIN_SPACE or space["status"] in _TIGHT


def rows_of(overview: Overview, query: str, space: Row) -> list[Row]:
    """Return the rows of a query about one program's memory space."""
    wanted = _place(space)
    return [row for row in overview.answers[query] if _place(row) == wanted]


def gaps_of(overview: Overview, space: Row) -> list[Row]:
    """Return the rows about what is not live in one program's memory space."""
    wanted = [space[name] for name in _OF_A_SPACE]
    rows = overview.answers.get("frag_breakdown", ())
    return [row for row in rows if [row[name] for name in _OF_A_SPACE] == wanted]


def buffers_of(overview: Overview, report: Row) -> list[Row]:
    """Return the buffers that a report of a log lists, the largest first."""
    place = (report["path"], report["ordinal"])
    rows = overview.answers["oom_buffers_explained"]
    return [row for row in rows if (row["path"], row["ordinal"]) == place]


def chunks_of(overview: Overview, report: Row) -> list[Row]:
    """Return the chunks that an allocator lists in a report, the largest first."""
    place = (report["path"], report["ordinal"])
    rows = overview.answers["oom_chunks_explained"]
    return [row for row in rows if (row["path"], row["ordinal"]) == place]


def misfit_of(overview: Overview, report: Row) -> Row | None:
    """Return why a report is of another dump than that of its run, if it is."""
    place = (report["path"], report["ordinal"])
    rows = overview.answers.get("oom_misfits", ())
    found = (row for row in rows if (row["path"], row["ordinal"]) == place)
    return next(found, None)


def is_found(report: Row) -> bool:
    """Return whether a dump has the program of a report."""
    return report["program_run"] is not None


def is_of_another(overview: Overview, report: Row) -> bool:
    """Return whether no dumped program is the one that a report names."""
    if not overview.has_programs or is_found(report):
        return False
    named = any(row["instruction"] for row in buffers_of(overview, report))
    return bool(report["has_failed"] and (named or report["program"]))


def compilation_of(row: Row) -> tuple[str, str]:
    """Return the compilation that a row is about: a program, and the file of it."""
    return row["program"], row["path"]


def compilations(spaces: Sequence[Row]) -> dict[tuple[str, str], str]:
    """Return the compilations of a run, each with a name that no other has."""
    modules = {compilation_of(row): row for row in spaces}
    names = {key: key[0] for key in modules}
    for more in (_number, _rank, _folder, _path):
        known: dict[str, set[str]] = defaultdict(set)
        for key, name in names.items():
            known[name].add(more(modules[key]))
        names = {
            key: name + more(modules[key]) if len(known[name]) > 1 else name
            for key, name in names.items()
        }
    return names


def _number(row: Row) -> str:
    return "" if row["module_number"] is None else f" #{row['module_number']}"


def _rank(row: Row) -> str:
    return "" if row["rank"] is None else f" rank {row['rank']}"


def _folder(row: Row) -> str:
    folder = row["path"].rpartition("/")[0]
    return f" in {folder}" if folder else ""


def _path(row: Row) -> str:
    return f" ({row['path']})"


def _place(row: Row) -> tuple[Any, ...]:
    return *compilation_of(row), row["color"]


def failures(overview: Overview) -> list[Row]:
    """Return the reports of programs and requests that did not fit, in their order."""
    return [row for row in overview.answers["oom_summary"] if row["has_failed"]]


def described_spaces(overview: Overview, programs: int) -> dict[str, Row]:
    """Return the memory spaces with a section of their own, by its title.

    Those that a log says were too small come first. Programs that need next to nothing
    beside the largest have none.
    """
    spaces = memory_spaces(overview)
    names = compilations(spaces)
    found = [space for space in spaces if is_described(space)]
    most = max((space["reserved_bytes"] for space in found), default=0)
    found = [
        space
        for space in found
        if space["color"] != MAIN_SPACE or space["reserved_bytes"] >= SMALL_RATIO * most
    ]
    failed = _failed_spaces(overview, spaces)
    found = [*failed, *(space for space in found if space not in failed)]
    return {
        f"{names[compilation_of(space)]}: {_memory(space)}": space
        for space in found[:programs]
    }


def _memory(space: Row) -> str:
    return space_words(space["space_name"], space["color"])


def _failed_places(overview: Overview) -> frozenset[tuple[Any, ...]]:
    """Return the memory spaces that did not suffice by what logs tell.

    Where a report names no program, and may be of the dump, any of its programs may be
    meant.
    """
    spaces = memory_spaces(overview)
    if not spaces:
        return frozenset()
    found = _failed_spaces(overview, spaces)
    named = {
        (report["space_name"] or "").lower()
        for report in failures(overview)
        if not is_found(report)
        and not is_of_another(overview, report)
        and misfit_of(overview, report) is None
    }
    found += [
        space
        for space in spaces
        if space["space_name"].lower() in named
        or ("" in named and space["color"] == MAIN_SPACE)
    ]
    return frozenset(map(_place, found))


def _failed_spaces(overview: Overview, spaces: Sequence[Row]) -> list[Row]:
    """Return the memory spaces that failures of logs are about, in their order."""
    found: list[Row] = []
    for report in failures(overview):
        if report["program_run"] != overview.run.name:
            continue
        own = [space for space in spaces if space["program"] == report["program"]]
        named = (report["space_name"] or "").lower()
        exact = [space for space in own if space["space_name"].lower() == named]
        main = [space for space in own if space["color"] == MAIN_SPACE]
        found += [space for space in (exact or main)[:1] if space not in found]
    return found
