"""What frameworks call things, for code without a database at hand.

The tables of `queries/sql/rules/` are the source. Of those read here each row is a line
of string literals, `  ('/site-packages/jax/', 'jax'),`, which are quoted as in CSV.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.resources import files

_ROW = re.compile(r"(?m)^  \((.+)\),?$")


@cache
def rule_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table of rules as it states them."""
    path = files("hlodb") / "queries" / "sql" / "rules" / f"{name}.sql"
    rows = _ROW.findall(path.read_text(encoding="utf-8"))
    return tuple(map(tuple, csv.reader(rows, quotechar="'", skipinitialspace=True)))
