"""Proposes budgets: what every program needs today, as a ratchet.

A budget that is there and holds is lowered to what is needed, and never raised: what is
over its budget keeps it.
"""

from __future__ import annotations

from hlodb.queries.render import json_text
from hlodb.reports.model import Report
from hlodb.reports.settings import Settings, covers


def proposed_budgets(report: Report, settings: Settings) -> str:
    """Give [[budget]] tables for hlodb.toml, one per program and memory space."""
    needs: dict[tuple[str, int, str], int] = {}
    for row in report.programs:
        if row.candidate_bytes is not None:
            key = (row.program, row.color, row.space)
            needs[key] = max(row.candidate_bytes, needs.get(key, 0))
    if not report.programs:
        return "# The candidate holds no program with a buffer assignment.\n"
    head = f"# What {report.comparison.candidate.name} needs, exactly.\n"
    tables = [
        _table(program, space, _ratcheted(size, program, color, space, settings))
        for (program, color, space), size in sorted(needs.items())
    ]
    return "\n".join([head, *tables])


def _ratcheted(
    size: int, program: str, color: int, space: str, settings: Settings
) -> int:
    """Give the size, or the least budget that holds for exactly this program."""
    limits = [
        budget.bytes
        for budget in settings.budgets
        if budget.program == _glob(program) and covers(budget, program, color, space)
        if budget.bytes is not None
    ]
    return min([size, *limits])


def _table(program: str, space: str, size: int) -> str:
    lines = [
        "[[budget]]",
        f"program = {_quoted(_glob(program))}",
        f"space = {_quoted(space)}",
        f"bytes = {size}",
    ]
    return "\n".join(lines) + "\n"


def _glob(program: str) -> str:
    """Give the glob that fits exactly this program."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in program)


def _quoted(text: str) -> str:
    """Quote for TOML, whose basic strings are escaped as JSON's are."""
    return json_text(text)
