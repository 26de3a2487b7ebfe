"""A table too wide for the terminal: narrower columns, else a record per row.

Headers break at underscores and texts fold, numbers and names never. Columns of text
share the width by what they need, but sentences keep enough for some words to a line.
If that is not narrow enough, values that all rows share move to a line above, and then
the last of the leading columns are left out. What still does not fit becomes records:
one line per column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

from hlodb.queries.query import Column
from hlodb.queries.render.table import LEFT_UNITS, NOTHING, Cells
from hlodb.text import visible

_BETWEEN = "  "
_SPACE = re.compile(r" +(?![KMGTP]?i?B\b|%)")
_BREAK = re.compile(r"(?: (?![KMGTP]?i?B\b|%)|[/_:})\]]|[,.-](?!\d))+")
"""Where a text folds, which keeps a number and its unit together."""

_LONGEST_UNIT = len(" MiB")

_ANY_BREAK = re.compile(r"[ /,_.:})\]-]+")
_OTHERS = re.compile(r"\[[0-9,]+ (?:or more )?others?\]")
"""The last row of a report's table that was cut."""

_LEAST_TEXT = 16
"""Characters that a column of text keeps when it folds."""

_LEAST_SENTENCE = 24
"""Characters that a column of sentences keeps."""

_WORDS = 6
"""Of so many words a text is a sentence."""

_LEAST_NAME = 40
"""Characters that a column of programs or instructions keeps."""

_LITTLE = 4
"""A column that misses so few characters is given them."""

_NAMES = ("program", "instruction", "buffer")
_LEAST_VALUE = 8
_FEWEST = 3
"""Columns that a table keeps; with fewer, records say more."""


def narrow_leading(
    columns: tuple[Column, ...], cells: Cells, width: int
) -> tuple[list[str], int]:
    """Return the lines of as many leading columns as fit, and how many are left out.

    Programs and instructions are never left out. A single row is no table.
    """
    places = [*range(len(columns))]
    while len(cells) > 1 and len(places) >= _FEWEST:
        kept = tuple(columns[place] for place in places)
        rows = [[row[place] for place in places] for row in cells]
        if lines := _fitting_table(kept, rows, width):
            return lines, len(columns) - len(places)
        droppable = [p for p in places[1:] if columns[p].name not in _NAMES]
        if not droppable:
            break
        places.remove(droppable[-1])
    return narrow(columns, cells, width), 0


def narrow(columns: tuple[Column, ...], cells: Cells, width: int) -> list[str]:
    """Return the lines of a table that is at most `width` characters wide."""
    table = _fitting_table(columns, cells, width)
    return table or list(_records(columns, cells, width))


def _fitting_table(columns: tuple[Column, ...], cells: Cells, width: int) -> list[str]:
    """Return the lines of a table, below what all rows share; none if too wide."""
    for shared in ((), _shared(columns, cells)):
        kept = [place for place in range(len(columns)) if place not in shared]
        widths = _fitted(columns, cells, kept, width)
        if widths is not None and len(kept) > 1:
            above = _shared_lines(columns, cells, shared, width)
            return [*above, *_table(columns, cells, widths)]
    return []


def _fitted(
    columns: tuple[Column, ...], cells: Cells, kept: list[int], width: int
) -> dict[int, int] | None:
    """Return a width for each kept column, None where they do not fit."""
    least, natural = {}, {}
    for place in kept:
        texts = [row[place] for row in cells]
        value = max(map(cell_len, texts), default=1)
        parts = max(len(part.rstrip()) for part in _parts(columns[place].name))
        natural[place] = max(value, parts)
        least[place] = max(min(value, _least(columns[place], texts)), parts)
    spare = width - len(_BETWEEN) * (len(kept) - 1) - sum(least.values())
    if spare < 0:
        return None
    # Values come before headers on one line.
    whole = {p: max(natural[p], cell_len(columns[p].name)) for p in kept}
    return _shared_out(_shared_out(least, natural, width), whole, width)


def _shared_out(
    given: dict[int, int], wanted: dict[int, int], width: int
) -> dict[int, int]:
    """Return widths that have what is left, first those that miss little of it.

    The others have a share by what they want.
    """
    given = dict(given)
    spare = width - len(_BETWEEN) * (len(given) - 1) - sum(given.values())
    needs = {p: wanted[p] - given[p] for p in given if wanted[p] > given[p]}
    for place, need in sorted(needs.items(), key=lambda each: each[1]):
        missing = sum(n for p, n in needs.items() if given[p] < wanted[p])
        is_little = need <= _LITTLE or missing <= spare
        share = need if is_little else spare * need // missing
        share = min(share, spare)
        given[place] += share
        spare -= share
    return given


def _least(column: Column, texts: list[str]) -> int:
    if column.unit not in LEFT_UNITS or column.unit in ("flag", "time"):
        return 1 << 20
    if column.name.endswith(_NAMES):
        return _LEAST_NAME
    is_sentence = any(text.count(" ") >= _WORDS - 1 for text in texts)
    return _LEAST_SENTENCE if is_sentence else _LEAST_TEXT


def _parts(name: str) -> list[str]:
    """Return the pieces of a header, `base_` and `bytes`, a line each."""
    return re.findall(r"[^ _]*[ _]|[^ _]+", visible(name)) or [""]


def _header(name: str, width: int) -> list[str]:
    """Return a header as lines no longer than `width`, with few breaks."""
    lines = [""]
    for part in _parts(name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _table(
    columns: tuple[Column, ...], cells: Cells, widths: dict[int, int]
) -> Iterator[str]:
    left = [columns[place].unit in LEFT_UNITS for place in widths]
    heads = [_header(columns[place].name, given) for place, given in widths.items()]
    height = max(map(len, heads))
    heads = [[""] * (height - len(head)) + head for head in heads]
    yield from _lines(heads, list(widths.values()), left)
    yield "─" * (sum(widths.values()) + len(_BETWEEN) * (len(widths) - 1))
    for row in cells:
        parts = [folded(row[place], given) for place, given in widths.items()]
        yield from _lines(parts, list(widths.values()), left)


def _lines(
    columns: list[list[str]], widths: list[int], left: list[bool]
) -> Iterator[str]:
    """Yield the lines of one row, whose cells may have several lines each."""
    for parts in zip_longest(*columns, fillvalue=""):
        padded = (
            text + " " * (width - cell_len(text))
            if is_left
            else " " * (width - cell_len(text)) + text
            for text, width, is_left in zip(parts, widths, left, strict=True)
        )
        yield _BETWEEN.join(padded).rstrip()


def folded(text: str, width: int) -> list[str]:
    """Return `text` in lines of `width`, broken at words or behind marks if it can."""
    lines = []
    while cell_len(text) > width:
        room = len(chop_cells(text, width)[0]) or 1
        breaks = (_SPACE, width // 2), (_BREAK, width // 3), (_ANY_BREAK, width // 3)
        ends = ((_last_break(pattern, text, room), least) for pattern, least in breaks)
        end = next((end for end, least in ends if end > least), room)
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _last_break(pattern: re.Pattern[str], text: str, room: int) -> int:
    """Return where the last break of a text within its first characters ends."""
    found = pattern.finditer(text, 0, room + _LONGEST_UNIT)
    ends = (min(match.end(), room) for match in found if match.start() < room)
    return max(ends, default=0)


def _shared(columns: tuple[Column, ...], cells: Cells) -> tuple[int, ...]:
    """Return the places of the columns that have one value in all of several rows."""
    if len(cells) < 2:
        return ()
    places = range(len(columns))
    return tuple(p for p in places if all(row[p] == cells[0][p] for row in cells))


def _shared_lines(
    columns: tuple[Column, ...], cells: Cells, shared: tuple[int, ...], width: int
) -> Iterator[str]:
    line = ""
    for place in shared:
        if cells[0][place] == NOTHING:
            continue
        text = f"{columns[place].name}: {cells[0][place]}"
        if line and cell_len(line + _BETWEEN + text) > width:
            yield from folded(line, width)
            line = ""
        line += _BETWEEN + text if line else text
    if line:
        yield from folded(line, width)


def _records(columns: tuple[Column, ...], cells: Cells, width: int) -> Iterator[str]:
    """Yield each row as lines `name  value`, below a line with its number."""
    names = [visible(column.name) for column in columns]
    room = min(max(map(cell_len, names)), max(width - _LEAST_VALUE, 1))
    others = [row for row in cells[-1:] if _sums_up(row)]
    count = len(cells) - len(others)
    for number, row in enumerate(cells[:count], 1):
        head = f"── row {number:,} of {count:,} "
        yield head + "─" * max(min(width, 60) - len(head), 0)
        for name, value in zip(names, row, strict=True):
            if not value:  # as in the row of a report that sums up others
                continue
            value_lines = folded(value, max(width - room - len(_BETWEEN), 1))
            sides = [folded(name, room), value_lines]
            yield from _lines(sides, [room, 0], [True, True])
    for row in others:
        yield from folded("".join(row), width)


def _sums_up(row: Sequence[str]) -> bool:
    """Return whether a row only says how many others there are."""
    said = [value for value in row if value]
    return len(said) == 1 and _OTHERS.fullmatch(said[0]) is not None
