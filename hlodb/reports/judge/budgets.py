"""Propose budgets: the present needs of large programs and the floors, as a ratchet.

They are to be added to those that are there: where a budget allows as much, or less,
none is proposed, so none is ever raised.
"""

from __future__ import annotations

from hlodb.reports.config.settings import Settings, covers
from hlodb.reports.judge.report import Report
from hlodb.text import json_text, plain_bytes, plain_percent

_LEAST_RATIO = 0.1
"""Smaller programs than this share of the largest get a budget only when they fall."""


def proposed_budgets(report: Report, settings: Settings) -> str:
    """Return the [[budget]] tables missing in hlodb.toml, by program and space."""
    needs: dict[tuple[str, int, str], int] = {}
    fallen: set[tuple[str, int, str]] = set()
    for row in report.programs:
        if row.candidate_bytes is not None:
            key = (row.program, row.color, row.space)
            needs[key] = max(row.candidate_bytes, needs.get(key, 0))
            if row.change in ("improved", "fixed"):
                fallen.add(key)
    if not needs:
        return "# The candidate holds no program with a buffer assignment.\n"
    largest: dict[int, int] = {}
    for (_, color, _), size in needs.items():
        largest[color] = max(size, largest.get(color, 0))
    name = report.comparison.candidate.name
    tables = []
    for key, size in sorted(needs.items()):
        program, color, space = key
        least = _least(report, program, color, space, settings)
        limit = size + settings.floor_of(size)
        if size < _LEAST_RATIO * largest[color] and key not in fallen:
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
        f" {100 * _LEAST_RATIO:.0f} % of the largest have none, unless they fell.\n"
    )


def _least(
    report: Report, program: str, color: int, space: str, settings: Settings
) -> int | None:
    """Return the least budget in force for this program (bytes).

    That is what its gates say, which know former names; where nothing was compared,
    the budgets of its own name.
    """
    limits = [
        int(gate.limit)
        for gate in report.gates
        if (gate.gate, gate.program, gate.color) == ("budget", program, color)
    ]
    limits += [
        budget.bytes
        for budget in settings.budgets
        if covers(budget, program, color, space) and budget.bytes is not None
    ]
    return min(limits, default=None)


def _table(program: str, space: str, size: int, least: int | None) -> str:
    lowered = f"# Holds instead of the budget of {least} bytes."
    lines = [
        *([] if least is None else [lowered]),
        "[[budget]]",
        f"program = {_quoted(exact_glob(program))}",
        f"space = {_quoted(space)}",
        f"bytes = {size}",
    ]
    return "\n".join(lines) + "\n"


def exact_glob(program: str) -> str:
    """Return the glob that fits exactly this program."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in program)


def _quoted(text: str) -> str:
    """Quote for TOML, whose basic strings are escaped as JSON's are."""
    return json_text(text)
