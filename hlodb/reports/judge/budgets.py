"""Propose budgets: the present needs of large programs and the floors, as a ratchet.

They are to be added to those that are there: where a budget allows as much, or less,
none is proposed, so none is ever raised.
"""

from __future__ import annotations

from hlodb.reports.config.settings import Settings, covers
from hlodb.reports.judge.report import Report
from hlodb.text import json_text, plain_bytes, plain_percent

_LEAST_RATIO = 0.1
"""Smaller programs than this share of the largest get no budget: they are helpers."""


def proposed_budgets(report: Report, settings: Settings) -> str:
    """Return the [[budget]] tables missing in hlodb.toml, by program and space."""
    needs: dict[tuple[str, int, str], int] = {}
    for row in report.programs:
        if row.candidate_bytes is not None:
            key = (row.program, row.color, row.space)
            needs[key] = max(row.candidate_bytes, needs.get(key, 0))
    if not needs:
        return "# The candidate holds no program with a buffer assignment.\n"
    largest: dict[int, int] = {}
    for (_, color, _), size in needs.items():
        largest[color] = max(size, largest.get(color, 0))
    name = report.comparison.candidate.name
    tables = []
    for (program, color, space), size in sorted(needs.items()):
        least = _least(program, color, space, settings)
        limit = size + settings.floor_of(size)
        if size < _LEAST_RATIO * largest[color]:
            continue
        if least is None or limit < least:
            tables.append(_table(program, space, limit, least))
    if not tables:
        return f"# No budget of what {name} needs is missing, or could be lower.\n"
    return "\n".join([_comment(name, settings), *tables])


def _comment(name: str, settings: Settings) -> str:
    """Return what the budgets are made of, and who has none."""
    least, share = plain_bytes(settings.floor_bytes), settings.floor_ratio
    return (
        f"# What {name} needs, and {least} more, or {plain_percent(share)} where that"
        " is more.\n# Programs below"
        f" {100 * _LEAST_RATIO:.0f} % of the largest have no budget.\n"
    )


def _least(program: str, color: int, space: str, settings: Settings) -> int | None:
    """Return the least budget that holds for exactly this program (bytes)."""
    limits = [
        budget.bytes
        for budget in settings.budgets
        if budget.program == _glob(program) and covers(budget, program, color, space)
        if budget.bytes is not None
    ]
    return min(limits, default=None)


def _table(program: str, space: str, size: int, least: int | None) -> str:
    lowered = f"# Goes before the one of {least} bytes, which may be deleted."
    lines = [
        *([] if least is None else [lowered]),
        "[[budget]]",
        f"program = {_quoted(_glob(program))}",
        f"space = {_quoted(space)}",
        f"bytes = {size}",
    ]
    return "\n".join(lines) + "\n"


def _glob(program: str) -> str:
    """Return the glob that fits exactly this program."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in program)


def _quoted(text: str) -> str:
    """Quote for TOML, whose basic strings are escaped as JSON's are."""
    return json_text(text)
