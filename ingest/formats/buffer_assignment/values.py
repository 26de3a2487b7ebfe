"""The `Used values:` section: each HloValue, its positions, uses and instruction.

    <31 tuple.2{} @0>                  before 2019-09: 31 PHI tuple.2{} @0, positions:
     positions:
      tuple.2 {}                       the first position is the definition
     uses:
      while.1, operand 0 {}            from 2026-06 `(none)` where there is none
     from instruction: %tuple.2 = …    from 2021-09

XLA `hlo_value.cc`. From 2024-01 to 2024-10 no line break follows the instruction: the
next value begins on the same line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from hlodb.ingest.formats.sections import (
    INDEX,
    NAME,
    NUMBER,
    VALUE_ID,
    Grammar,
    LineRule,
    Section,
    add_to,
    are_distinct,
    columns,
    empty_columns,
    numbered,
    once_per_line,
    pieces,
    sift,
)
from hlodb.ingest.records import (
    Packed,
    Position,
    Reject,
    TextColumn,
    Texts,
    Unclaimed,
    Use,
    Value,
)

_OLD_HEAD = re.compile(
    rf"^({NUMBER}) (PHI )?({NAME})({INDEX})?( @-?{NUMBER})?, positions:$", re.MULTILINE
)
_POSITIONS = r" positions:"
_USES = r" uses:"
_NO_USES = r" uses are not initialized yet\."
_FROM = r" from instruction: ?"
_POSITION = re.compile(rf"  ({NAME})(?: ({INDEX}))?$\n?", re.MULTILINE)
_USE = re.compile(rf"  ({NAME}), operand ({NUMBER})(?: ({INDEX}))?$\n?", re.MULTILINE)
_NONE = "  (none)\n"

# The instruction ends at its line break, or before the head of a value glued to it.
_INDENTED = r"((?>(?:  [^\n]*\n)*))"
_GLUED = rf"<(?!{NUMBER} [^<>\n]*>\n{_POSITIONS}\n)"
_VALUE = re.compile(
    rf"{VALUE_ID}\n(?:{_POSITIONS}\n)?{_INDENTED}(?:{_USES}\n{_INDENTED}|{_NO_USES}\n)?"
    rf"(?:{_FROM}([^\n<]*+(?>(?:{_GLUED}[^\n<]*+)*))\n?)?"
)
_GLUED_HEAD = re.compile(rf"<{NUMBER} (?>{NAME})[^<>]*+>$")


def _grammar() -> Grammar:
    value, positions, position = "a value", "` positions:`", "a position"
    uses, pending, none = "` uses:`", "` uses are not initialized yet.`", "`  (none)`"
    use, source = "a use", "` from instruction:`"
    placed = frozenset({value, positions, position})
    rules = (
        LineRule(value, re.compile(VALUE_ID), key=1),
        LineRule(positions, re.compile(_POSITIONS), frozenset({value})),
        LineRule(none, re.compile(r"  \(none\)"), frozenset({uses})),
        LineRule(position, _POSITION, placed),
        LineRule(uses, re.compile(_USES), placed),
        LineRule(pending, re.compile(_NO_USES), placed),
        LineRule(use, _USE, frozenset({uses, use})),
        LineRule(
            source, re.compile(rf"{_FROM}.*"), placed | {uses, pending, none, use}
        ),
    )
    return Grammar(rules, ("<", *"0123456789"))


_LINES = _grammar()


class UsedValues(NamedTuple):
    """What the section lists; values have no shape here.

    `sources` maps instruction names to `from instruction:` texts. `is_open` tells that
    the last value stops short of the instruction that the others have.
    """

    values: Sequence[Value]
    positions: Sequence[Position]
    uses: Sequence[Use]
    sources: dict[str, str]
    is_open: bool
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def read_values(section: Section, texts: Texts) -> UsedValues:
    """Read the section; a value printed twice counts once."""
    if f",{_POSITIONS}\n" in section.text:
        section = section._replace(text=_OLD_HEAD.sub(_new_head, section.text))
    found, whole = _read(section.text, texts)
    if whole:
        return found
    sifted = sift(section.kind, _unglued(numbered(section)), _LINES)
    found, _ = _read(sifted.text, texts)
    return found._replace(rejects=sifted.rejects, unclaimed=sifted.unclaimed)


_KEPT_VALUE, _KEPT_POSITION, _KEPT_USE = "i..?c", "i..", "i.i."


def _read(text: str, texts: Texts) -> tuple[UsedValues, bool]:
    """Read what the rules cover, and tell whether that is all of `text`, ids once."""
    values = empty_columns(_KEPT_VALUE, texts)
    places = empty_columns(_KEPT_POSITION, texts)
    used = empty_columns(_KEPT_USE, texts)
    sources: dict[str, str] = {}
    whole, is_last_open = True, False
    for piece in pieces(text, "<"):
        found, is_covered = columns(_VALUE, piece)
        *value, positions, uses, printed = found
        ids, names = value[:2]
        uses = ["" if block is None or block == _NONE else block for block in uses]
        where, places_whole = columns(_POSITION, "".join(positions))
        readers, uses_whole = columns(_USE, "".join(uses))
        whole = whole and is_covered and places_whole and uses_whole
        add_to(values, value, _KEPT_VALUE, texts)
        owners = islice(once_per_line(ids, positions), len(where[0]))
        add_to(places, (owners, *where), _KEPT_POSITION, texts)
        owners = islice(once_per_line(ids, uses), len(readers[0]))
        add_to(used, (owners, *readers), _KEPT_USE, texts)
        for name, source in zip(names, printed, strict=True):
            if source:
                sources[texts.by_number[texts[name]]] = source
        is_last_open = bool(printed) and printed[-1] is None
    nothing = TextColumn(array("i", [texts[None]]) * len(values[0]), texts.by_number)
    kept = UsedValues(
        Packed(Value, [*(values[at] for at in (0, 1, 2, 4, 3)), nothing]),
        Packed(Position, places),
        Packed(Use, used),
        sources,
        is_last_open and bool(sources),
        [],
        [],
    )
    return kept, whole and are_distinct(values[0])


def _new_head(old: re.Match[str]) -> str:
    """Spell the head of a value from before 2019-09 as today, on one line still."""
    number, phi, name, index, color = old.groups(default="")
    return f"<{number} {name}{index}{' (phi)' * bool(phi)}{color}>"


def _unglued(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the head of a value that follows an instruction as a line of its own."""
    for number, line in lines:
        glued = _GLUED_HEAD.search(line) if line.startswith(" from ") else None
        if glued:
            yield number, line[: glued.start()]
            yield number, glued.group()
        else:
            yield number, line
