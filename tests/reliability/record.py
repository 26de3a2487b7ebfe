"""What torture came to, kept beside the page that shows it."""

from __future__ import annotations

from typing import NamedTuple

from docs.measured import PAGE, read_figures, renew_page, write_figures

NAME = "torture"


class Figure(NamedTuple):
    """How often a part was tried, how often it went wrong, how long it took (s)."""

    tried: int
    faulty: int
    seconds: float
    found: str = ""


def record(part: str, title: str, figure: Figure) -> None:
    """Replace the figures of a part, in the file and in the page."""
    row = {"title": title} | figure._asdict() | {"seconds": round(figure.seconds)}
    write_figures(NAME, read_figures(NAME) | {part: row})
    renew_page(PAGE, NAME, table())


def table() -> str:
    """Give the figures as a table in Markdown, a row for each part."""
    lines = ["| what was done | times | lost or torn | seconds |", "|---|--:|--:|--:|"]
    for row in read_figures(NAME).values():
        what = " ".join(filter(None, (row["title"], row["found"])))
        lines.append(
            f"| {what} | {row['tried']:,} | {row['faulty']:,} | {row['seconds']:,} |"
        )
    return "\n".join(lines)
