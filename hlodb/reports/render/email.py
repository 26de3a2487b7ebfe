"""The report as an e-mail: headline, why, ten rows, where to look; text and HTML.

A message as RFC 5322 has it, without To, From and Date: `sendmail -t` adds the last
two, and takes the first from a line before it. Names from dumps stand in the subject
and the body alone, encoded as MIME has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import default

from hlodb.reports.model.report import Report
from hlodb.reports.outline.blocks import Commands, Paragraph
from hlodb.reports.outline.brief import brief
from hlodb.reports.outline.escape import html, middle_cut
from hlodb.reports.render.message import MovedRow, compared, link_of, moved_rows
from hlodb.text import visible

SUBJECT_CHARACTERS = 150
# Releases of Python fold headers in their own ways; a line may have 998 bytes.
_UNFOLDED = default.clone(max_line_length=998)
_TEXT_CHARACTERS = 1000
_HEADER = ("program", "space", "base", "candidate", "change", "", "state")
_CELL = "padding: 2px 8px; border-bottom: 1px solid #8888"


def render(report: Report) -> str:
    """Return the message, its lines ended as Unix programs end them."""
    message = EmailMessage(policy=default)
    message["Subject"] = middle_cut(visible(report.headline), SUBJECT_CHARACTERS)
    message["Auto-Submitted"] = "auto-generated"
    message["X-Hlodb-Verdict"] = report.verdict
    message["X-Hlodb-Report"] = report.report_id
    text = "".join(f"{line}\n" for line in _text(report))
    page = "".join(f"{line}\n" for line in _page(report))
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(page, subtype="html", cte="quoted-printable")
    # Else it is drawn by chance; what holds the report's id cannot stand in the report.
    message.set_boundary(f"hlodb-{report.report_id}")
    return message.as_bytes(policy=_UNFOLDED).decode("ascii")


def _text(report: Report) -> Iterator[str]:
    yield visible(report.headline)
    yield ""
    for line, is_command in _brief(report):
        yield f"    {line}" if is_command else line
    rows, others = moved_rows(report)
    if rows:
        yield ""
        yield from _aligned([_HEADER, *rows])
        if others:
            yield f"[{others} others]"
    yield ""
    yield visible(compared(report))
    if (link := link_of(report)) is not None:
        yield visible(link)


def _aligned(rows: list[tuple[str, ...] | MovedRow]) -> Iterator[str]:
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (
            cell.ljust(width) if at in (0, 1, 6) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _page(report: Report) -> Iterator[str]:
    yield '<!DOCTYPE html><html lang="en"><body>'
    yield f"<h1 style='font-size: 1.2em'>{html(report.headline)}</h1>"
    for line, is_command in _brief(report):
        tag = "pre" if is_command else "p"
        yield f"<{tag}>{html(line)}</{tag}>"
    rows, others = moved_rows(report)
    if rows:
        yield "<table style='border-collapse: collapse'>"
        yield _row("th", _HEADER)
        yield from (_row("td", row) for row in rows)
        yield "</table>"
        if others:
            yield f"<p>[{others} others]</p>"
    yield f"<p>{html(compared(report))}</p>"
    if (link := link_of(report)) is not None:
        yield f'<p><a href="{html(link)}">the whole report</a></p>'
    yield "</body></html>"


def _row(tag: str, cells: tuple[str, ...] | MovedRow) -> str:
    shown = (
        f"<{tag} style='{_CELL}; text-align: {'left' if at in (0, 1, 6) else 'right'}'>"
        f"{html(cell)}</{tag}>"
        for at, cell in enumerate(cells)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _brief(report: Report) -> Iterator[tuple[str, bool]]:
    """Yield the brief, and whether each line is a command."""
    for block in brief(report):
        if isinstance(block, Paragraph):
            yield visible(middle_cut(block.text, _TEXT_CHARACTERS)), False
        elif isinstance(block, Commands):
            for line in block.lines:
                yield visible(line), True
