"""Keys and references that tables/ declares, without loading SQLAlchemy."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple


class DeclaredKey(NamedTuple):
    """Columns, separated by blanks, that no two rows of a table share.

    `source` is the table's name in SQL; `proof` is that of the declaration.
    """

    table: str
    source: str
    columns: str
    proof: str


class DeclaredReference(NamedTuple):
    """Columns of one table that name rows of another, by its `targets`.

    `lacks` is empty where `hlodb check` doesn't look it up; `is_public` is "yes" where
    both sides are columns of tables that people query.
    """

    table: str
    source: str
    columns: str
    target: str
    target_source: str
    targets: str
    lacks: str
    is_public: str


@cache
def declared_keys() -> tuple[DeclaredKey, ...]:
    """Return every key of every table."""
    return tuple(DeclaredKey(*row) for row in _rows("keys"))


@cache
def declared_references() -> tuple[DeclaredReference, ...]:
    """Return every reference of every table."""
    return tuple(DeclaredReference(*row) for row in _rows("references"))


def _rows(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(f"{name}.csv").read_text(encoding="utf-8")
    return [*csv.reader(text.splitlines())][1:]
