"""Names and wordings of frameworks as rows: the tables in `queries/rules/`.

SQL reads them as queries of the same names, code as `rule_rows`. The first line of a
file names its columns; an empty field is NULL.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def rule_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table of rules, without its header, as text."""
    path = files("hlodb") / "queries" / "rules" / f"{name}.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(map(tuple, csv.reader(lines)))[1:]
