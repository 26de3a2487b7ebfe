"""Read runs, modules, profiles and source lines as plain records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from hlodb.errors import UsageError
from hlodb.queries.run import run_composed
from hlodb.schema.connection import Connection
from hlodb.text import not_held


class Run(NamedTuple):
    """A run; `labels` is its JSON text, `device_memory_bytes` what the dump says."""

    run_id: int
    name: str
    series: str | None
    started_at: datetime | None
    commit_sha: str | None
    branch: str | None
    compiler_version: str | None
    framework_version: str | None
    platform: str | None
    device: str | None
    device_memory_bytes: int | None
    topology: str | None
    labels: str | None
    ingested_at: datetime | None


class Module(NamedTuple):
    """The last snapshot of a compiled module, and what it was compiled from.

    A row of the query `compilations`: `place` is its place in the run. `source_*` is
    None where a dump has no snapshot before optimisations. `first_number` is that of
    its first snapshots, where it was given another on the way. `rank` is the one by
    which it is compared, `own_rank` that of its files.
    """

    run_id: int
    place: int
    module_id: int
    locations_id: int | None
    module_number: int | None
    first_number: int | None
    rank: int | None
    own_rank: int | None
    program: str
    program_key: int | None
    platform: str | None
    num_partitions: int | None
    entry_shapes: str | None
    source_shapes: str | None
    graph_fingerprint: int | None
    exact_fingerprint: int | None
    source_id: int | None
    source_graph: int | None
    path: str
    has_assignment: bool

    @property
    def key(self) -> tuple[int, int]:
        """Its run and its place in the run, which no other module has."""
        return self.run_id, self.place

    @property
    def inputs(self) -> tuple[str | None, str | None, int | None]:
        """Entry shapes, those of the source, and partitions."""
        return self.entry_shapes, self.source_shapes, self.num_partitions

    @property
    def earliest_id(self) -> int:
        """The snapshot before optimisations, this one where a dump has no such."""
        return self.module_id if self.source_id is None else self.source_id


class Profile(NamedTuple):
    """Memory of one module in one space; live figures None without live ranges."""

    module_id: int
    color: int
    space_name: str
    reserved_bytes: int
    parameter_bytes: int
    constant_bytes: int
    live_out_bytes: int
    thread_local_bytes: int
    temp_bytes: int
    temp_live_peak_bytes: int | None
    live_peak_bytes: int | None
    peak_step: int | None
    fragmentation_bytes: int | None
    padding_bytes: int | None
    conflict_count: int


Profiles = Mapping[int, Mapping[int, Profile]]
"""Profiles by module and memory space."""


def reserved(module: Module, color: int, profiles: Profiles) -> int:
    """Return the reserved bytes of a module in a memory space, 0 where it uses none."""
    profile = profiles.get(module.module_id, {}).get(color)
    return profile.reserved_bytes if profile else 0


def read_runs(connection: Connection) -> list[Run]:
    """Return all runs, in the order in which they follow one another."""
    return [Run(*row) for row in rows(connection, "runs")]


def find_run(runs: Iterable[Run], name: str) -> Run:
    """Return the run called `name`; raise UsageError, with the known names."""
    by_name = {run.name: run for run in runs}
    if name not in by_name:
        raise UsageError(not_held("run", name, by_name))
    return by_name[name]


def read_modules(
    connection: Connection, runs: Iterable[Run], words_of: Run | None = None
) -> dict[int, list[Module]]:
    """Return the compiled modules of each run, by run_id; runs without any have [].

    Ranks are in the words of `words_of`, where it is given.
    """
    wanted = [run.run_id for run in runs]
    found: dict[int, list[Module]] = {run_id: [] for run_id in wanted}
    for row in rows(
        connection, "modules", runs=wanted, words=words_of and words_of.run_id
    ):
        module = Module(*row)
        found[module.run_id].append(module)
    return found


def read_profiles(
    connection: Connection, modules: Iterable[Module]
) -> dict[int, dict[int, Profile]]:
    """Return the memory of modules by module_id and memory space."""
    platforms = {m.module_id: m.platform for m in modules}
    found: dict[int, dict[int, Profile]] = defaultdict(dict)
    ids, names = list(platforms), list(platforms.values())
    for row in rows(connection, "profiles", modules=ids, platforms=names):
        profile = Profile(*row)
        found[profile.module_id][profile.color] = profile
    return found


Answered = Mapping[str, str]
"""Tables that hold the answers of blocks of queries, by name, see `answered_once`."""


def rows(
    connection: Connection,
    name: str,
    answered: Answered | None = None,
    **parameters: Any,
) -> list[tuple[Any, ...]]:
    """Return the rows of `sql/NAME.sql`; parameters are bound, lists as JSON text."""
    return run_composed(connection, _sql(name), parameters, answered=answered)


@cache
def _sql(name: str) -> str:
    path = files("hlodb.reports") / "sql" / f"{name}.sql"
    return path.read_text(encoding="utf-8")


class Place(NamedTuple):
    """A value of a module, and the source locations that the module stands beside."""

    module_id: int
    locations_id: int
    value_id: int


class Source(NamedTuple):
    """A line of the user's: where the value is defined, or first read.

    `attribution` says which of both, as in the query part value_sources.
    """

    attribution: str | None
    file: str | None
    line: int | None


UNKNOWN = Source(None, None, None)


Sources = Mapping[Place, Source]


def read_sources(connection: Connection, places: Collection[Place]) -> Sources:
    """Return the source line of each value that has one."""
    if not places:
        return {}
    modules, locations, values = map(list, zip(*sorted(places), strict=True))
    found = rows(
        connection, "sources", modules=modules, locations=locations, values=values
    )
    return {Place(*row[:3]): Source(*row[3:]) for row in found}
