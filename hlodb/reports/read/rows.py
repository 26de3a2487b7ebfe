"""Reads the facts of `facts` from the warehouse; the SQL stands in `sql/`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from hlodb.errors import UsageError
from hlodb.queries.run import run_composed
from hlodb.reports.model.facts import Module, Profile, Run
from hlodb.schema.connection import Connection
from hlodb.text import not_held


def read_runs(connection: Connection) -> list[Run]:
    """Return all runs, in the order in which they follow one another."""
    return [Run(*row) for row in rows(connection, "runs")]


def find_run(runs: Iterable[Run], name: str) -> Run:
    """Return the run called `name`; UsageError says which there are."""
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


def rows(connection: Connection, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of `sql/NAME.sql`; parameters are bound, lists as JSON text."""
    return run_composed(connection, _sql(name), parameters)


@cache
def _sql(name: str) -> str:
    path = files("hlodb.reports") / "sql" / f"{name}.sql"
    return path.read_text(encoding="utf-8")
