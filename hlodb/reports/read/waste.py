"""Read wasted memory of the candidate, and how much less each place could need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlodb.queries.catalogue import Catalogue
from hlodb.queries.run import run_query
from hlodb.reports.config.settings import MEBIBYTE
from hlodb.reports.read.facts import Run
from hlodb.reports.read.programs import ProgramRow
from hlodb.schema.connection import Connection
from hlodb.text import counted, plain_bytes


@dataclass(frozen=True, slots=True)
class Waste:
    """Memory the candidate holds for nothing, and what the total would fall by.

    A `donation` of all arguments that can be, `fragmentation` and `padding` lower the
    total. `replicated` parameters, of at least the floor, are in fewer parts than
    there are partitions; what is `idle` of a memory space could hold some of
    the default one. Places overlap: they are no sum.
    """

    kind: str
    program: str
    color: int | None
    space: str | None
    waste_bytes: int
    leverage_bytes: int
    note: str


Row = Mapping[str, Any]

_EVERY = 1 << 40

MAIN_SPACE = 0


def read_waste(
    connection: Connection,
    programs: Sequence[ProgramRow],
    candidate: Run,
    catalogue: Catalogue,
    top: int,
    floor: int,
) -> list[Waste]:
    """Return the most wasteful places of the candidate, by what they would free.

    Those that would free less than `floor` bytes are left out. Equal waste of several
    ranks is one place.
    """

    def answer(query: str, **more: int) -> Sequence[Row]:
        parameters: dict[str, str | int] = {"run": candidate.name, **more}
        return run_query(connection, query, parameters, catalogue).dicts()

    held = [p for p in programs if p.candidate_bytes is not None]
    spaces = {p.color: p.space for p in held}
    giants = answer("replicated_tensors", min_bytes=MEBIBYTE, top=_EVERY)
    found = [
        *_of_programs(held),
        *_donations(answer("donation_savings"), spaces),
        *_replicated(giants),
        *_idle(answer("idle_spaces_at_peak"), spaces),
    ]
    found = [w for w in dict.fromkeys(found) if w.leverage_bytes >= max(1, floor)]
    found.sort(key=lambda w: (-w.leverage_bytes, w.kind, w.program, w.note))
    return found[:top]


def _of_programs(programs: Iterable[ProgramRow]) -> Iterator[Waste]:
    notes = {
        "fragmentation": "more temporary memory than is ever live at once",
        "padding": "padding of the values live at the peak",
    }
    for p in programs:
        sizes = {"fragmentation": p.fragmentation_bytes, "padding": p.padding_bytes}
        for kind, size in sizes.items():
            if size:
                yield Waste(kind, p.program, p.color, p.space, size, size, notes[kind])


def _donations(rows: Iterable[Row], spaces: Mapping[int, str]) -> Iterator[Waste]:
    """Yield what donating all arguments of a program saves, as the remedy says."""
    for row in rows:
        saved = row["saved_reserved_bytes"]
        yield Waste(
            "donation",
            row["program"],
            row["color"],
            spaces.get(row["color"]),
            saved,
            saved,
            f"donate {row['arguments']}",
        )


def _replicated(rows: Iterable[Row]) -> Iterator[Waste]:
    """Yield a place per module: where one parameter is whole, most often all are."""
    of_modules: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        of_modules[row["program"], row["module_number"], row["rank"]].append(row)
    for (program, *_), found in of_modules.items():
        sizes = sum(row["device_bytes"] for row in found)
        saved = sum(row["saving_bytes"] for row in found)
        first = found[0]["op_name"] or f"parameter {found[0]['parameter_number']}"
        what = f"{counted(len(found), 'parameter')} of 1 MiB or more"
        note = f"{what} not split over all partitions, such as {first}"
        yield Waste("replicated", program, None, None, sizes, saved, note)


def _idle(rows: Iterable[Row], spaces: Mapping[int, str]) -> Iterator[Waste]:
    """Yield memory spaces with room for values of the main memory, which it saves."""
    main = spaces.get(MAIN_SPACE, "the main memory")
    for row in rows:
        yield Waste(
            "idle",
            row["program"],
            row["color"],
            row["space_name"],
            row["idle_bytes"],
            row["usable_by_main_bytes"],
            f"{plain_bytes(row['idle_bytes'])} not in use at the peak of {main}, whose"
            " temporaries could lie there",
        )
