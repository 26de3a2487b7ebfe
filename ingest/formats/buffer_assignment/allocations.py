"""The `BufferAssignment:` section: allocations, and the values placed in each.

    allocation 4: size 24, output shape is |(s32[], f32[32,32])|, maybe-live-out:
     value: <31 tuple.2{} @0> (size=24,offset=0): (s32[], f32[32,32]{1,0})
     reused by buffers of a different color:         from 2026-06
      value: <32 copy.1 @1> (color=1)

Until 2022-09 a pointer stands before `size`. Before 2019-09 a value reads
`  31 PHI tuple.2{} @0 [offset,size]: shape`, or `  tuple.2[](#31 @0) [offset,size]: …`.
XLA `buffer_assignment.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from hlodb.ingest.formats.sections import (
    BYTES,
    INDEX,
    NAME,
    NUMBER,
    SHOWN,
    VALUE_ID,
    Columns,
    Grammar,
    LineRule,
    Section,
    columns,
    numbered,
    once_per_line,
    rows,
    sift,
)
from hlodb.ingest.records import Allocation, Placement, Reject, Tally, Unclaimed, Value

_HEAD = (
    rf"allocation ({NUMBER}): (?:(?:0x[0-9a-fA-F]+|[0-9A-F]{{8,16}}|\(nil\)), )?"
    rf"size ({BYTES})(,[^\n]*|):"
)
_REUSE = r" reused by buffers of a different color:"
_VALUE = re.compile(
    rf" value: {VALUE_ID} \(size=({BYTES}),offset=({BYTES})\): ([^\n]+)$\n?",
    re.MULTILINE,
)
_REUSING = re.compile(rf"  value: {VALUE_ID} \(color=-?{NUMBER}\)$\n?", re.MULTILINE)
_ALLOCATION = re.compile(
    rf"{_HEAD}\n((?>(?: value: [^\n]*\n)*))(?:{_REUSE}\n((?>(?:  value: [^\n]*\n)*)))?"
)
_FLAG = re.compile(
    rf", (?:color (?P<color>-?{NUMBER})|page (?P<page>{NUMBER})"
    rf"|parameter (?P<parameter>{NUMBER})(?:, shape \|(?P<parameter_shape>[^|]*)\|)?"
    rf"(?: at ShapeIndex (?P<index>{INDEX}))?"
    r"|output shape is \|(?P<output_shape>[^|]*)\||(?P<constant>constant)"
    r"|(?P<thread_local>thread-local)|(?P<live_out>maybe-live-out)"
    r"|(?P<temp>preallocated-temp))(?=,|$)"
)
_OLD_VALUE = re.compile(
    rf"^  <?({NUMBER}) (PHI )?({NAME})({INDEX})?( @-?{NUMBER})?>?"
    rf" \[({BYTES}),({BYTES})\]: ",
    re.MULTILINE,
)
_OLD_BUFFER = re.compile(
    rf"^  ([^\s\[]+)\[([0-9,]*)\]\(#({NUMBER})( @-?{NUMBER})?\)"
    rf" \[({BYTES}),({BYTES})\]: (?=(.))",
    re.MULTILINE,
)


_LINES = Grammar(
    (
        LineRule("an allocation", re.compile(_HEAD), key=1),
        LineRule("a value", _VALUE, frozenset({"an allocation", "a value"}), key=1),
        LineRule(
            "a reuse", re.compile(_REUSE), frozenset({"an allocation", "a value"})
        ),
        LineRule(
            "a reusing value", _REUSING, frozenset({"a reuse", "a reusing value"})
        ),
    ),
    ("allocation ",),
)


class Allocations(NamedTuple):
    """Allocations and placements in print order, and the values named by them.

    A value that reuses an allocation of another memory space is placed in its own one.
    """

    allocations: list[Allocation]
    placements: list[Placement]
    values: list[Value]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def read_allocations(section: Section) -> Allocations:
    """Read the section; an allocation printed twice counts once.

    An allocation whose line holds a flag unknown so far is kept, its line unclaimed.
    """
    if " value: " not in section.text:
        section = section._replace(text=_in_new_words(section.text))
    found, flags, whole = _read(section.text)
    if not whole:
        sifted = sift(section.kind, numbered(section), _LINES)
        found, flags, _ = _read(sifted.text)
        found = found._replace(rejects=sifted.rejects, unclaimed=sifted.unclaimed)
    if any(map(_unknown, flags)):
        found.unclaimed.extend(_lines_of_unknown_flags(section))
    return found


def _read(text: str) -> tuple[Allocations, set[str], bool]:
    """Read what the rules cover; give the texts of flags, and whether all is sound."""
    (printed_ids, sizes, flags, placed, reuses), whole = columns(_ALLOCATION, text)
    ids = list(map(int, printed_ids))
    inner, inner_whole = columns(_VALUE, "".join(placed))
    reusing, reusing_whole = columns(_REUSING, "".join(filter(None, reuses)))
    *_, lengths, offsets, shapes = inner
    owners = once_per_line(ids, placed)
    numbers = (map(int, column) for column in (inner[0], offsets, lengths))
    found = Allocations(
        rows(
            Allocation, ids, map(int, sizes), *zip(*map(_flagged, flags), strict=True)
        ),
        rows(Placement, owners, *numbers),
        _values(inner, shapes) + _values(reusing, [None] * len(reusing[0])),
        Tally(),
        Tally(),
    )
    is_distinct = len(set(ids)) == len(ids)
    whole = whole and inner_whole and reusing_whole and is_distinct
    return found, set(flags), whole


def _values(found: Columns, shapes: Iterable[str | None]) -> list[Value]:
    ids, names, indices, phis, colors = found[:5]
    spaces = [int(color or 0) for color in colors]
    is_phi = [phi is not None for phi in phis]
    return rows(Value, map(int, ids), names, indices, spaces, is_phi, shapes)


@lru_cache(maxsize=4096)
def _flagged(flags: str) -> tuple[int | str | None, ...]:
    """Read what follows `size N`; the rest of an `Allocation`, in its order."""
    found: dict[str, str] = {}
    for match in _FLAG.finditer(flags):
        found.update((k, v) for k, v in match.groupdict().items() if v is not None)
    return (
        int(found.get("color", 0)),
        int(found["page"]) if "page" in found else None,
        int(found["parameter"]) if "parameter" in found else None,
        found.get("index"),
        found.get("parameter_shape", found.get("output_shape")),
        "output_shape" in found,
        "constant" in found,
        "thread_local" in found,
        "live_out" in found,
        "temp" in found,
    )


def _unknown(flags: str) -> str:
    return _FLAG.sub("", flags)


def _lines_of_unknown_flags(section: Section) -> Iterator[Unclaimed]:
    heads = (
        (n, line, _LINES.rules[0].pattern.fullmatch(line))
        for n, line in numbered(section)
    )
    for number, line, head in heads:
        if head and _unknown(head[3]):
            yield Unclaimed(number, line[:SHOWN])


def _in_new_words(text: str) -> str:
    """Spell the value lines from before 2019-09 as today, line by line."""
    return _OLD_BUFFER.sub(_new_buffer, _OLD_VALUE.sub(_new_value, text))


def _new_value(old: re.Match[str]) -> str:
    number, phi, name, index, color, offset, size = old.groups(default="")
    new_id = f"<{number} {name}{index}{' (phi)' * bool(phi)}{color}>"
    return f" value: {new_id} (size={size},offset={offset}): "


def _new_buffer(old: re.Match[str]) -> str:
    name, path, number, color, offset, size, shape = old.groups(default="")
    # This form prints an index always; today only a tuple's value has one.
    index = f"{{{path}}}" if path or shape == "(" else ""
    return f" value: <{number} {name}{index}{color}> (size={size},offset={offset}): "
