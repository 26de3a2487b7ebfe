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
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
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
    add_to,
    are_distinct,
    columns,
    empty_columns,
    numbered,
    pieces,
    sift,
    spans,
)
from hlodb.ingest.records import (
    Allocation,
    Packed,
    Placement,
    Reject,
    Tally,
    Texts,
    Unclaimed,
    Value,
    joined,
)

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
    rf"^{_HEAD}\n((?>(?: value: [^\n]*\n)*))"
    rf"(?:{_REUSE}\n((?>(?:  value: [^\n]*\n)*)))?",
    re.MULTILINE,
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

    allocations: Sequence[Allocation]
    placements: Sequence[Placement]
    values: Sequence[Value]
    rejects: list[Reject]
    unclaimed: list[Unclaimed]


def read_allocations(section: Section, texts: Texts) -> Allocations:
    """Read the section; an allocation printed twice counts once.

    An allocation whose line holds a flag unknown so far is kept, its line unclaimed.
    """
    if " value: " not in section.text:
        section = section._replace(text=_in_new_words(section.text))
    found, flags, whole = _read(section.text, texts)
    if not whole:
        sifted = sift(section.kind, numbered(section), _LINES)
        found, flags, _ = _read(sifted.text, texts)
        found = found._replace(rejects=sifted.rejects, unclaimed=sifted.unclaimed)
    if any(map(_unknown, flags)):
        found.unclaimed.extend(_lines_of_unknown_flags(section))
    return found


_LARGE = 2_000_000
_KEPT_VALUE, _KEPT_PLACE, _KEPT_ALLOCATION = "i..?c.", "iiqq", "iq"


def _read(text: str, texts: Texts) -> tuple[Allocations, set[str], bool]:
    """Read what the rules cover; give the texts of flags, and whether all is sound."""
    heads = empty_columns(_KEPT_ALLOCATION, texts)
    values = empty_columns(_KEPT_VALUE, texts)
    places = empty_columns(_KEPT_PLACE, texts)
    reusing = empty_columns(_KEPT_VALUE, texts)
    flags: list[str] = []
    known: dict[str, str] = {}
    whole = True
    for start, end in spans(text, 0, len(text), "allocation "):
        found = _blocks(text, start, end)
        ids, sizes, printed, reuses = found.columns
        whole &= found.is_covered
        add_to(heads, (ids, sizes), _KEPT_ALLOCATION, texts)
        flags.extend(map(known.setdefault, printed, printed))
        owners = chain.from_iterable(map(repeat, ids, found.line_counts))
        for lines in found.lines:
            inner, is_covered = columns(_VALUE, lines)
            whole &= is_covered
            *value, lengths, offsets, shapes = inner
            add_to(values, (*value, shapes), _KEPT_VALUE, texts)
            placement = (islice(owners, len(offsets)), value[0], offsets, lengths)
            add_to(places, placement, _KEPT_PLACE, texts)
        inner, is_covered = columns(_REUSING, "".join(filter(None, reuses)))
        whole &= is_covered
        add_to(reusing, (*inner, [None] * len(inner[0])), _KEPT_VALUE, texts)
    values = list(map(joined, zip(values, reusing, strict=True)))
    kept = Allocations(
        Packed(Allocation, [*heads, *_columns_of(flags)]),
        Packed(Placement, places),
        Packed(Value, [values[at] for at in (0, 1, 2, 4, 3, 5)]),
        Tally(),
        Tally(),
    )
    return kept, set(flags), whole and are_distinct(heads[0])


class _Blocks(NamedTuple):
    """Allocations: ids, sizes, flags and reuses as columns, the lines of their values.

    `lines` are given some at a time, `line_counts` for each allocation.
    """

    columns: Columns
    lines: Iterator[str]
    line_counts: list[int]
    is_covered: bool


def _blocks(text: str, start: int, end: int) -> _Blocks:
    if end - start < _LARGE:
        found, is_covered = columns(_ALLOCATION, text[start:end])
        ids, sizes, printed, placed, reuses = found
        counts = [block.count("\n") for block in placed]
        inner = [ids, sizes, printed, reuses]
        return _Blocks(inner, pieces("".join(placed)), counts, is_covered)
    # One allocation may hold nearly all of the text, which is not copied.
    matches = list(_ALLOCATION.finditer(text, start, end))
    edges = [start, *(edge for match in matches for edge in match.span()), end]
    return _Blocks(
        [[match[group] for match in matches] for group in (1, 2, 3, 5)],
        (
            text[first:last]
            for match in matches
            for first, last in spans(text, *match.span(4))
        ),
        [text.count("\n", *match.span(4)) for match in matches],
        edges[::2] == edges[1::2],
    )


def _columns_of(flags: Sequence[str]) -> list[list[int | str | None]]:
    found = zip(*map(_flagged, flags), strict=True)
    return list(map(list, found)) or [[] for _ in _flagged("")]


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
