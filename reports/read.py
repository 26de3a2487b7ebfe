"""Reads the facts of `facts` from the warehouse; the SQL stands in `sql/`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from hlodb.errors import UsageError
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import install_temporary
from hlodb.reports.facts import Buffer, Module, Output, Profile, Run, Shape
from hlodb.schema.connection import Connection
from hlodb.text import not_held

Opcodes = Mapping[str, int]

Side = tuple[int, bool]
"""The number of a pair, and whether it is its candidate."""


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
    _install(connection, "compilations")
    found: dict[int, list[Module]] = {run_id: [] for run_id in wanted}
    for row in rows(
        connection, "modules", runs=wanted, words=words_of and words_of.run_id
    ):
        module = Module(*row)
        found[module.run_id].append(module)
    return found


def read_differing(
    connection: Connection, pairs: Collection[tuple[Shape, Shape]]
) -> set[tuple[Shape, Shape]]:
    """Return the pairs of shapes that are not comparable."""
    if not pairs:
        return set()
    _install(connection, "differing_keys")
    sides = ("base", "candidate")
    names = [
        f"{side}_{key}"
        for side in sides
        for key in ("key", "shapes", "source", "partitions", "platform")
    ]
    asked = [dict(zip(names, (*b, *c), strict=True)) for b, c in pairs]
    places = {place for (place,) in rows(connection, "differing_shapes", pairs=asked)}
    return {pair for place, pair in enumerate(pairs) if place in places}


def _install(connection: Connection, name: str) -> None:
    catalogue = load_catalogue()
    install_temporary(connection, catalogue[name], catalogue)


def read_profiles(
    connection: Connection, modules: Iterable[Module]
) -> dict[int, dict[int, Profile]]:
    """Return the memory of modules by module_id and colour."""
    platforms = {m.module_id: m.platform for m in modules}
    found: dict[int, dict[int, Profile]] = defaultdict(dict)
    ids, names = list(platforms), list(platforms.values())
    for row in rows(connection, "profiles", modules=ids, platforms=names):
        profile = Profile(*row)
        found[profile.module_id][profile.color] = profile
    return found


def read_opcodes(
    connection: Connection, modules: Iterable[int], typed: bool = False
) -> dict[int, Opcodes]:
    """Return the number of each opcode in each module, `typed` with its shape."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    name = "typed_opcodes" if typed else "opcodes"
    for module, opcode, count in rows(connection, name, modules=sorted(set(modules))):
        found[module][opcode] = count
    return dict(found)


def read_buffers(
    connection: Connection, pairs: Sequence[tuple[int, int]]
) -> dict[Side, list[Buffer]]:
    """Return the buffers of (base, candidate) modules by pair number and side."""
    numbers = [*range(len(pairs)), *range(len(pairs))]
    bases, candidates = [b for b, _ in pairs], [c for _, c in pairs]
    found = rows(
        connection,
        "buffers",
        pairs=numbers,
        modules=[*bases, *candidates],
        partners=[*candidates, *bases],
        candidates=[False] * len(pairs) + [True] * len(pairs),
    )
    return _by_side(found)


def read_arena_values(
    connection: Connection,
    arenas: Mapping[Side, tuple[int, int]],
    most: int,
) -> dict[Side, list[Buffer]]:
    """Return the `most` largest values of arenas, and what they may correspond to.

    An arena is identified by its module_id and allocation_id.
    """
    if not arenas:
        return {}
    found = rows(
        connection,
        "arena_values",
        pairs=[number for number, _ in arenas],
        modules=[module_id for module_id, _ in arenas.values()],
        allocations=[allocation_id for _, allocation_id in arenas.values()],
        candidates=[is_candidate for _, is_candidate in arenas],
        most=most,
    )
    return _by_side(found)


def _by_side(found: Iterable[tuple[Any, ...]]) -> dict[Side, list[Buffer]]:
    sides: dict[Side, list[Buffer]] = defaultdict(list)
    for buffer in map(Buffer._make, found):
        sides[buffer.pair, buffer.is_candidate].append(buffer)
    for buffers in sides.values():
        buffers.sort(key=_buffer_order)
    return sides


def read_outputs(
    connection: Connection, modules: Iterable[int]
) -> dict[int, list[Output]]:
    """Return the places of each module's results."""
    found: dict[int, list[Output]] = defaultdict(list)
    for row in rows(connection, "outputs", modules=sorted(set(modules))):
        output = Output(*row)
        found[output.module_id].append(output)
    return found


def rows(connection: Connection, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of `sql/NAME.sql`; parameters are bound, never pasted.

    Lists are bound as JSON text: DuckDB takes a Python list apart value by value, and
    looks for pandas at each.
    """
    bound = {
        key: json.dumps(value) if isinstance(value, list) else value
        for key, value in parameters.items()
    }
    return connection.execute(_sql(name), bound or None).fetchall()


@cache
def _sql(name: str) -> str:
    path = files("hlodb.reports") / "sql" / f"{name}.sql"
    return path.read_text(encoding="utf-8")


def _buffer_order(buffer: Buffer) -> tuple[Any, ...]:
    """Order of birth, then place: the same whatever values and names are numbered."""
    start = -1 if buffer.start_step is None else buffer.start_step
    value = -1 if buffer.value_id is None else buffer.value_id
    return (start, buffer.allocation_id, buffer.offset_bytes, value, buffer.kind)
