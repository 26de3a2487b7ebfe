"""What sections of a report consist of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Table(NamedTuple):
    """Rows of equal length; `numeric` columns are aligned right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()


class Commands(NamedTuple):
    """Lines to copy into a shell."""

    lines: tuple[str, ...]


class Card(NamedTuple):
    """A finding: a title, and blocks that may be folded away."""

    title: str
    blocks: tuple[Paragraph | Table | Commands, ...]
    finding_id: str


Block = Paragraph | Table | Commands | Card


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    top: int | None = None,
    *,
    numeric: Sequence[int] = (),
    others: tuple[int, str] | None = None,
) -> Table:
    """Return a table of at most `top` rows; what is cut is a last row `[N others]`.

    `others` is what that row shows in one column, such as the sum of what was cut.
    """
    shown = [tuple(row) for row in rows[:top]]
    if top is not None and len(rows) > top:
        last = [""] * len(header)
        last[min(1, len(header) - 1)] = f"[{len(rows) - top} others]"
        if others is not None:
            last[others[0]] = others[1]
        shown.append(tuple(last))
    return Table(tuple(header), tuple(shown), tuple(numeric))


def few(names: Sequence[str], most: int) -> str:
    """Return at most `most` names in a line, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
