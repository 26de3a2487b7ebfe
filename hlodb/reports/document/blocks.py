"""The blocks of which sections consist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hlodb.printed_commands import text_with_db, with_db
from hlodb.text import (
    counted,
)


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Table(NamedTuple):
    """Rows of equal length; `numeric` columns are aligned right.

    `findings` are the ids of what each row is about, in order; rows beyond have none.
    `links` are addresses of pages about each row, relative to this one, where a form
    has pages that know each other.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()
    findings: tuple[str | None, ...] = ()
    links: tuple[str | None, ...] = ()


class Commands(NamedTuple):
    """Lines to copy: into a shell, or into a file of the language."""

    lines: tuple[str, ...]
    language: str = "sh"


def command_blocks(lines: Sequence[str]) -> list[Paragraph | Commands]:
    """Return commands, and what to do with the commit that one of them prints."""
    search = tuple(line for line in lines if line.startswith("git rev-list --bisect"))
    others = tuple(line for line in lines if line not in search)
    blocks: list[Paragraph | Commands] = [Commands(others)] if others else []
    if search:
        blocks += [
            Paragraph(
                "Build and dump the commit that this prints, if one lies between:"
            )
        ]
        blocks += [Commands(search)]
    return blocks


class Card(NamedTuple):
    """A finding: a title, and blocks that may be folded away."""

    title: str
    blocks: tuple[Paragraph | Table | Commands, ...]
    finding_id: str


Block = Paragraph | Table | Commands | Card


def named(block: Block, db: str | None) -> Block:
    """Return a block whose commands name the warehouse, unless `db` is None."""
    match block:
        case Paragraph(text):
            return Paragraph(text_with_db(text, db))
        case Commands(lines):
            return block._replace(lines=tuple(with_db(line, db) for line in lines))
    return block


def texts(block: Block) -> Iterator[str]:
    """Yield the texts of a block, cell by cell of a table."""
    match block:
        case Paragraph(text):
            yield text
        case Commands(lines):
            yield from lines
        case Table(header, rows):
            for row in (header, *rows):
                yield from row
        case Card(title, blocks):
            yield title
            for each in blocks:
                yield from texts(each)


class Section(NamedTuple):
    """A titled part of the report."""

    title: str
    blocks: list[Block]


def filled(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows without the columns in which no row says anything."""
    kept = [
        at for at in range(len(header)) if any(row[at] not in ("", "-") for row in rows)
    ]
    return [header[at] for at in kept], [[row[at] for at in kept] for row in rows]


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    top: int | None = None,
    *,
    numeric: Sequence[int] = (),
    is_all: bool = True,
    others: tuple[int, str] | None = None,
    findings: Sequence[str | None] = (),
    links: Sequence[str | None] = (),
) -> Table:
    """Return a table of at most `top` rows; what is cut is a last row `[3 others]`.

    It is `[3 or more others]` where `rows` are not all. `others` is what that row shows
    in one column, such as the sum of what was cut; `findings` and `links` are as in
    Table.
    """
    shown = [tuple(row) for row in rows[:top]]
    if top is not None and len(rows) > top:
        last = [""] * len(header)
        cut = counted(len(rows) - top, "other")
        if not is_all:
            cut = f"{len(rows) - top:,} or more others"
        last[_named(header, numeric)] = f"[{cut}]"
        if others is not None:
            last[others[0]] = others[1]
        shown.append(tuple(last))
    about = tuple(findings[:top])
    pages = tuple(links[:top])
    return Table(tuple(header), tuple(shown), tuple(numeric), about, pages)


def without_empty(found: Table) -> Table:
    """Return a table without the columns that say nothing in any row."""
    kept = [
        column
        for column in range(len(found.header))
        if any(row[column] not in ("", "-") for row in found.rows)
    ]
    return found._replace(
        header=tuple(found.header[column] for column in kept),
        rows=tuple(tuple(row[column] for column in kept) for row in found.rows),
        numeric=tuple(
            place for place, column in enumerate(kept) if column in found.numeric
        ),
    )


def _named(header: Sequence[str], numeric: Sequence[int]) -> int:
    """Return the second column, or the first of words where that has numbers."""
    second = min(1, len(header) - 1)
    words = (column for column in range(len(header)) if column not in numeric)
    return next(words, second) if second in numeric else second


_BLOCKS = "▁▂▃▄▅▆▇█"

FLAT_RATIO = 0.005
"""Sizes that differ by no more than this share of the largest look alike."""


def sparkline(values: Sequence[int], low: int | None = None) -> str:
    """Return one character per value, from ▁ (`low` or the least) to █ (the most).

    Values that hardly differ are a flat line.
    """
    low = min(values, default=0) if low is None else low
    high = max(values, default=0)
    if high - low <= FLAT_RATIO * high:
        return _BLOCKS[0] * len(values)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[(v - low) * top // (high - low)] for v in values)
