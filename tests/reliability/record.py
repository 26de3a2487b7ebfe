"""The figures of `make torture`, and the table of them in the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from docs.measured import PAGE, read_figures, renew_page, write_figures
from tests.reliability import measured_code

NAME = "torture"


class Figure(NamedTuple):
    """How often a part was tried and went wrong, and how long it took (s)."""

    tried: int
    faulty: int
    seconds: float
    found: str = ""


def record(part: str, title: str, figure: Figure) -> str:
    """Replace the figures of a part, in the file and in the page; return its row."""
    row = {
        "title": " ".join(title.split()),
        **figure._asdict(),
        "seconds": round(figure.seconds),
        "commit": measured_code.commit(),
        "code": measured_code.digests(),
    }
    write_figures(NAME, read_figures(NAME) | {part: row})
    renew_page(PAGE, NAME, table())
    return _line(row)


def table() -> str:
    """Return the figures as a table in Markdown, and which code is newer."""
    lines = [
        "| part | times | lost or torn | seconds | commit |",
        "|---|--:|--:|--:|---|",
    ]
    lines += map(_line, read_figures(NAME).values())
    return "\n".join([*lines, "", _newer_line()])


def _line(row: Mapping[str, Any]) -> str:
    what = " ".join(filter(None, (row["title"], row["found"])))
    return (
        f"| {what} | {row['tried']:,} | {row['faulty']:,} | {row['seconds']:,} |"
        f" {row['commit']} |"
    )


def newer_code() -> list[str]:
    """Return the modules that write and changed since any part was measured."""
    paths = [*measured_code.locking(), *measured_code.writing()]
    found = {
        name
        for row in read_figures(NAME).values()
        for name in measured_code.newer(paths, row["code"])
    }
    return sorted(found)


def _newer_line() -> str:
    names = newer_code()
    if not names:
        return "All code that writes is the code that was measured."
    return f"Newer than these figures: {', '.join(f'`{name}`' for name in names)}."
