"""What was fuzzed, kept beside the page that shows it."""

from __future__ import annotations

from typing import NamedTuple

from docs.measured import PAGE, read_figures, renew_page, write_figures

NAME = "fuzzing"


class Tried(NamedTuple):
    """Inputs that a target took, CPU time of that (s), kinds of harm they did."""

    inputs: int
    seconds: float
    findings: int


def add(target: str, form: str, tried: Tried) -> None:
    """Add to what was tried before; `form` is mutated or led (by coverage)."""
    figures = read_figures(NAME)
    forms = figures.setdefault(target, {})
    before = forms.get(form, dict.fromkeys(Tried._fields, 0))
    forms[form] = {
        name: round(before[name] + value, 1) for name, value in tried._asdict().items()
    }
    write_figures(NAME, figures)
    renew_page(PAGE, NAME, table())


def table() -> str:
    """Return the tried inputs as a Markdown table, a row for each target."""
    lines = [
        "| target | mutated inputs | inputs led by coverage | CPU seconds | findings |",
        "|---|--:|--:|--:|--:|",
    ]
    figures = read_figures(NAME)
    totals = [0, 0, 0.0, 0]
    for target, forms in sorted(figures.items()):
        row = [
            forms.get("mutated", {}).get("inputs", 0),
            forms.get("led", {}).get("inputs", 0),
            sum(form["seconds"] for form in forms.values()),
            sum(form["findings"] for form in forms.values()),
        ]
        totals = [total + value for total, value in zip(totals, row, strict=True)]
        lines.append(_line(target, row))
    return "\n".join([*lines, _line("all", totals)])


def _line(target: str, row: list[float]) -> str:
    return f"| {target} | {' | '.join(f'{value:,.0f}' for value in row)} |"
