"""Instructions that the text of a module doesn't print, but its assignment names.

An assignment that arrives without its HLO text still prints most instructions, in its
`from instruction:` lines; of the others (schedule, positions, uses) the name is all.
Each becomes an instruction, so that every row has one to join.

Tuple elements that a text only implies get the names that XLA has for them: an
assignment lists them among the positions of values and in its schedule. A value that
stands in `while.3 {1}` stands in the get-tuple-element of that as well, which comes
after the while and no later than its first reader.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import compress, groupby, islice, repeat
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from hlodb.errors import ParseError
from hlodb.ingest.arrow import NO_ID
from hlodb.ingest.formats.hlo_text.elements import implied_elements
from hlodb.ingest.formats.hlo_text.instruction import parse_instruction
from hlodb.ingest.modules.interning import Rows
from hlodb.ingest.records import (
    BufferAssignment,
    HloModule,
    Instruction,
    TextColumn,
    column_of,
    texts_end_to_end,
)

NAME_ONLY = ""
"""Opcode of an instruction of which nothing but its name is known."""


def with_named_only(hlo: HloModule, assignment: BufferAssignment) -> HloModule:
    """Return the module with the instructions that only the assignment names appended.

    They belong to no computation.
    """
    own = hlo.instructions
    missing = _missing(own, _names(assignment))
    if not missing:
        return hlo
    names = iter(missing)
    while some := [_instruction(n, assignment) for n in islice(names, _MANY)]:
        own = own + some if isinstance(own, Rows) else [*own, *some]
    return replace(hlo, instructions=own, lines=[*hlo.lines, *repeat(0, len(missing))])


def instruction_names(instructions: Sequence[Instruction]) -> Container[str]:
    """Return the possible names of instructions, the cheapest way."""
    if isinstance(instructions, Rows):
        return instructions.places
    return {instruction.name for instruction in instructions}


def _missing(own: Sequence[Instruction], names: list[str]) -> list[str]:
    """Return the names that no instruction has."""
    if isinstance(own, Rows):
        places = own.places
        found: list[str] = []
        for start in range(0, len(names), _MANY):
            part = names[start : start + _MANY]
            found += compress(part, (places.of(part) == NO_ID).tolist())
        return found
    known = {instruction.name for instruction in own}
    return [name for name in names if name not in known]


def _names(assignment: BufferAssignment) -> list[str]:
    """Return the names of instructions: schedule order first, then as they appear."""
    a = assignment
    named = (a.values, a.positions, a.uses, a.live_ranges)
    columns = [a.schedule, *(column_of(rows, "instruction") for rows in named)]
    names = texts_end_to_end(columns)
    if not isinstance(names, TextColumn):
        return list(dict.fromkeys(names))
    numbers, first = np.unique(np.asarray(names.numbers), return_index=True)
    ordered = numbers[np.argsort(first)].tolist()
    return list(names.by_number.taken(ordered))


def _instruction(name: str, assignment: BufferAssignment) -> Instruction:
    line = assignment.sources.get(name)
    if line is not None:
        try:
            return parse_instruction(line)
        except ParseError:
            pass
    return Instruction(name, NAME_ONLY, None)


_MANY = 10_000
"""Instructions that are held as records at once, before they become rows."""

Path = tuple[str, ...]
Names = Mapping[str, str]

_DEEPEST = 32
_MOST_ALIKE = 200
"""So many elements may hold one value; made-up texts would take for ever."""


class _Element(NamedTuple):
    """A get-tuple-element that the text implies, and the steps it must stand between.

    It is instruction number `at`. It comes after step `after`, that of the tuple, and
    before that of its first reader.
    """

    at: int
    after: int
    before: int


def with_element_names(hlo: HloModule, assignment: BufferAssignment) -> HloModule:
    """Return the module with its implied elements called as the assignment does.

    One that can't be distinguished from another keeps the name of its path.
    """
    places = implied_elements(hlo.lines)
    if not places:
        return hlo
    steps = {name: at for at, name in enumerate(assignment.schedule)}
    names = _element_names(_elements(hlo, places, steps), steps, hlo, assignment)
    # Names hold within a computation: another may have a parameter called so.
    starts = [c.start for c in hlo.computations]
    parts: dict[int, dict[str, str]] = defaultdict(dict)
    for at, name in names.items():
        parts[bisect_right(starts, at) - 1][hlo.instructions[at].name] = name
    ends = [slice(c.start, c.stop) for c in hlo.computations]
    renamed = [(ends[number], own) for number, own in parts.items()]
    return replace(hlo, instructions=_renamed(hlo.instructions, renamed))


def _renamed(
    instructions: Sequence[Instruction], parts: Sequence[tuple[slice, Names]]
) -> Sequence[Instruction]:
    if isinstance(instructions, Rows):
        return instructions.renamed(parts)
    whole = list(instructions)
    for part, names in parts:
        whole[part] = [i.renamed(names) for i in whole[part]]
    return whole


def _elements(
    hlo: HloModule, places: list[int], steps: Mapping[str, int]
) -> dict[tuple[str, Path], _Element]:
    """Return implied elements by the tuple they are of, and their path within it."""
    readers: dict[int, int] = {}
    for at in reversed(places):
        readers[at] = readers.get(at + 1, at + 1)
    read_at = {
        reader: steps.get(hlo.instructions[reader].name, len(steps))
        for reader in set(readers.values())
    }
    paths: dict[str, tuple[str, Path]] = {}
    found = {}
    for at in places:
        element = hlo.instructions[at]
        # Instructions nested in others, or written in one line, share lines as well.
        if element.opcode != "get-tuple-element":
            continue
        of = element.operands[0]
        name, path = paths.get(of, (of, ()))
        key = paths[element.name] = name, (*path, _index(element))
        found[key] = _Element(at, steps.get(name, -1), read_at[readers[at]])
    return found


def _index(element: Instruction) -> str:
    return (element.attributes.other or "").removeprefix("index=")


def _element_names(
    elements: dict[tuple[str, Path], _Element],
    steps: Mapping[str, int],
    hlo: HloModule,
    assignment: BufferAssignment,
) -> dict[int, str]:
    """Return the names of instructions that the assignment leaves no doubt about."""
    known = instruction_names(hlo.instructions)
    found: dict[int, str] = {}
    for name, candidates in _candidates(elements, known, assignment).items():
        step = steps.get(name)
        fitting = [e for e in candidates if step is None or e.after < step < e.before]
        if len(fitting) == 1:
            found.setdefault(fitting[0].at, name)
    return found


def _candidates(
    elements: dict[tuple[str, Path], _Element],
    known: Container[str],
    assignment: BufferAssignment,
) -> dict[str, set[_Element]]:
    """Return the elements each unknown name may stand for, by all its values."""
    found: dict[str, list[set[_Element]]] = defaultdict(list)
    for _, positions in groupby(assignment.positions, attrgetter("value_id")):
        places = [(p.instruction, _path(p.shape_index)) for p in positions]
        unknown = [(name, path) for name, path in places if name not in known]
        holding = _by_inner_path(elements, places) if unknown else {}
        for name, path in unknown:
            found[name].append(holding.get(path, set()))
    return {name: set.intersection(*sets) for name, sets in found.items()}


def _by_inner_path(
    elements: dict[tuple[str, Path], _Element], places: list[tuple[str, Path]]
) -> dict[Path, set[_Element]]:
    """Return elements by the path at which they hold the value that stands in `places`.

    None of a path that more have than a name could be chosen from.
    """
    found: dict[Path, set[_Element]] = defaultdict(set)
    for of, path in places:
        for split in range(1, min(len(path), _DEEPEST) + 1):
            if element := elements.get((of, path[:split])):
                found[path[split:]].add(element)
    return {path: held for path, held in found.items() if len(held) <= _MOST_ALIKE}


def _path(shape_index: str | None) -> Path:
    inside = (shape_index or "").strip("{}")
    return tuple(inside.split(",")) if inside else ()
