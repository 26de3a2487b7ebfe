"""Propose budgets: the present needs of every program, as a ratchet.

They are to be added to those that are there: where a budget allows what is needed, or
less, none is proposed, so none is ever raised.
"""

from __future__ import annotations

from hlodb.reports.config.settings import Settings, covers
from hlodb.reports.judge.report import Report
from hlodb.text import json_text


def proposed_budgets(report: Report, settings: Settings) -> str:
    """Return the [[budget]] tables missing in hlodb.toml, by program and space."""
    needs: dict[tuple[str, int, str], int] = {}
    for row in report.programs:
        if row.candidate_bytes is not None:
            key = (row.program, row.color, row.space)
            needs[key] = max(row.candidate_bytes, needs.get(key, 0))
    if not needs:
        return "# The candidate holds no program with a buffer assignment.\n"
    name = report.comparison.candidate.name
    tables = []
    for (program, color, space), size in sorted(needs.items()):
        least = _least(program, color, space, settings)
        if least is None or size < least:
            tables.append(_table(program, space, size, least))
    if not tables:
        return f"# No budget of what {name} needs is missing, or could be lower.\n"
    return "\n".join([f"# What {name} needs, exactly.\n", *tables])


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
