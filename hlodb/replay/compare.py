"""Two dumps of the same programs → how the bytes of each memory space differ.

Both are read by hlodb as any dump is; programs are matched by where replay put them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hlodb.ingest.modules.identity import program_name
from hlodb.ingest.pipeline.ingest import ingest_sources
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.discover import RunSource, discover
from hlodb.queries.query import Column
from hlodb.queries.result import Result, Row
from hlodb.replay.compile import Compiled
from hlodb.replay.recover import Key, Program, Unrecoverable, program_key
from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect

KINDS = ("parameter", "constant", "live_out", "thread_local", "temp")
"""Kinds of allocations, whose bytes all have to be equal."""


class Bytes(NamedTuple):
    """What a memory space takes; `kinds` are the bytes of each of `KINDS`."""

    reserved: int
    kinds: tuple[int, ...]
    live_peak: int | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return all sizes that are equal in an exact replay."""
        return self.reserved, *self.kinds


class Space(NamedTuple):
    """A memory space, by its number and name."""

    color: int
    name: str


Memory: TypeAlias = Mapping[Space, Bytes]


class Measured(NamedTuple):
    """A dump of programs that were compiled again; `name` is that of its folder."""

    name: str
    folder: Path
    programs: Sequence[Compiled]


def read_original(source: RunSource, warehouse: Path) -> dict[Key, Memory]:
    """Return the bytes of the programs of a run, as hlodb reads them."""
    return {
        program_key(path, recognise(path)): memory
        for path, memory in _read(source, warehouse).items()
    }


def read_replay(replay: Measured, warehouse: Path) -> dict[Key, Memory]:
    """Return the bytes of programs that were compiled again, by their first key."""
    try:
        [source] = discover([str(replay.folder)])
    except Exception:
        return {}
    by_place = {one.program.place: one.program.key for one in replay.programs}
    best: dict[Key, tuple[bool, int, str]] = {}
    memories = _read(source, warehouse)
    for path in memories:
        key, again = by_place.get(path.rpartition("/")[0]), recognise(path)
        if key is not None:
            # What XLA compiles on its way has another name and a higher number.
            rank = again.module_name != key.name, again.module_number or 0, path
            best[key] = min(best.get(key, rank), rank)
    return {key: memories[path] for key, (_, _, path) in best.items()}


_MEMORY = f"""
SELECT
  path, color, space_name, live_peak_bytes, reserved_bytes,
  {", ".join(f"{kind}_bytes" for kind in KINDS)}
FROM module_memory
WHERE run = $run
ORDER BY path, color
"""


def _read(source: RunSource, warehouse: Path) -> Mapping[str, Memory]:
    """Return the bytes of each module of a run that has an assignment, by its path."""
    [summary] = ingest_sources([source], warehouse, jobs=1)
    with connect(warehouse) as connection:
        return _memory(connection, summary.name)


def _memory(connection: Connection, run: str) -> Mapping[str, Memory]:
    found: dict[str, dict[Space, Bytes]] = {}
    rows = connection.execute(_MEMORY, {"run": run}).fetchall()
    for path, color, name, live_peak, reserved, *kinds in rows:
        space = Space(color, name)
        found.setdefault(path, {})[space] = Bytes(reserved, tuple(kinds), live_peak)
    return found


COLUMNS = (
    Column("replay", "VARCHAR", "name", "neutral", "Folder of the new dump."),
    Column("program", "VARCHAR", "name", "neutral", "Name of the program."),
    Column("module_number", "INTEGER", "id", "neutral", "Number in the dump."),
    Column("place", "VARCHAR", "name", "neutral", "Its folder below the replay's."),
    Column("space_name", "VARCHAR", "name", "neutral", "Memory space."),
    Column(
        "status", "VARCHAR", "text", "neutral",
        "exact or inexact (compared with the dump), equal or changed (compared with"
        " the unchanged replay), new (nothing to compare with), failed.",
    ),
    Column("reserved_bytes", "BIGINT", "bytes", "neutral", "Of the replay."),
    Column(
        "reserved_change_bytes", "BIGINT", "bytes", "lower_is_better",
        "Compared with the dump, or with the unchanged replay.",
    ),
    Column("temp_bytes", "BIGINT", "bytes", "neutral", "Temporaries of the replay."),
    Column(
        "temp_change_bytes", "BIGINT", "bytes", "lower_is_better",
        "Compared as reserved_change_bytes.",
    ),
    Column("note", "VARCHAR", "text", "neutral", "Why, and what was left out."),
)  # fmt: skip
_NAMES = [column.name for column in COLUMNS]
STATUS, _PLACE = _NAMES.index("status"), _NAMES.index("place")
_LEADING = (
    "replay", "program", "space_name", "status", "reserved_bytes",
    "reserved_change_bytes", "temp_change_bytes", "note",
)  # fmt: skip


def compared(
    original: Mapping[Key, Memory],
    lost: Iterable[Unrecoverable],
    replays: Sequence[tuple[Measured, Mapping[Key, Memory]]],
) -> Result:
    """Return a row for each replay, program and memory space.

    The first replay is the unchanged one, which is compared with the dump; the others
    are compared with it.
    """
    rows: list[Row] = []
    base: Mapping[Key, Memory] = {}
    inexact: set[Key] = set()
    for place, (replay, found) in enumerate(replays):
        is_first = place == 0
        against = original if is_first else base
        for one in replay.programs:
            key = one.program.key
            notes = list(one.notes)
            if not is_first and key in inexact:
                notes.append("its unchanged replay is inexact")
            before, after = against.get(key), found.get(key)
            new = list(_rows(replay.name, one, before, after, is_first, notes))
            if is_first and any(row[STATUS] == "inexact" for row in new):
                inexact.add(key)
            rows += new
        if is_first:
            rows += [_failed(replay.name, each, each.reason) for each in lost]
            base = found
    return Result(COLUMNS, rows, _LEADING)


def summed_up(rows: Sequence[Row]) -> str:
    """Return how many programs of each replay came out how: `2 exact, 1 failed`."""
    worst: dict[tuple[object, ...], str] = {}
    for row in rows:
        one = (row[0], row[_PLACE])
        worst[one] = min(worst.get(one, row[STATUS]), row[STATUS], key=_BAD.index)
    counts = Counter(worst.values())
    return ", ".join(f"{counts[word]} {word}" for word in _BAD if counts[word])


_BAD = ("failed", "inexact", "changed", "new", "exact", "equal")
"""Statuses; that of a program is the first of those of its memory spaces."""


def _rows(
    replay: str,
    one: Compiled,
    before: Memory | None,
    after: Memory | None,
    is_first: bool,
    notes: list[str],
) -> Iterable[Row]:
    reason = one.error or ("" if after else "XLA wrote no buffer assignment")
    notes = [first_line(reason), *notes] if reason else notes
    if after is None:
        yield _failed(replay, one.program, "; ".join(notes))
        return
    none = Bytes(0, (0,) * len(KINDS), 0)
    for space in sorted({*(before or {}), *after}):
        old, new = (before or {}).get(space, none), after.get(space, none)
        changes: tuple[int | None, int | None]
        if before is None:
            status, changes = "new", (None, None)
        else:
            words = ("exact", "inexact") if is_first else ("equal", "changed")
            status = words[old.sizes != new.sizes]
            changes = (new.reserved - old.reserved, new.kinds[-1] - old.kinds[-1])
        sizes = (new.reserved, changes[0], new.kinds[-1], changes[1])
        said = [*notes, *_other_changes(old, new)] if status == "inexact" else notes
        # A TPU's compiler writes an assignment of programs that do not fit, too.
        status = "failed" if one.error else status
        yield (
            *_named(replay, one.program),
            space.name,
            status,
            *sizes,
            "; ".join(said),
        )


def _other_changes(old: Bytes, new: Bytes) -> Iterable[str]:
    """Name kinds of allocations that differ; temporaries have a column."""
    for kind, before, after in zip(KINDS[:-1], old.kinds, new.kinds, strict=False):
        if before != after:
            yield f"{kind}: {after - before:+,} B"


def _failed(replay: str, one: Program | Unrecoverable, reason: str) -> Row:
    return (*_named(replay, one), None, "failed", *[None] * 4, reason)


def _named(replay: str, one: Program | Unrecoverable) -> Row:
    key = one.key
    return (
        replay,
        program_name(key.name),
        (key.number if key.number >= 0 else None),
        one.place,
    )


def first_line(text: str) -> str:
    """Return the first line of a message, not too long for a table."""
    return text.strip().partition("\n")[0][:1_000]
