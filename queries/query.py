"""What a canned query declares: parameters, columns with units, and its SELECT."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

UNITS = (
    "bytes",
    "byte_steps",
    "bytes_per_second",
    "count",
    "flag",
    "flop",
    "id",
    "name",
    "ratio",
    "score",
    "seconds",
    "step",
    "steps",
    "text",
    "time",
)
"""What a column may count in; names, texts, ids and flags have no unit of measure."""

POLARITIES = ("lower_is_better", "higher_is_better", "neutral")
PARAMETER_TYPES = ("BIGINT", "BIGINT[]", "BOOLEAN", "DOUBLE", "VARCHAR", "VARCHAR[]")
NUMERIC_TYPES = ("BIGINT", "BIGINT[]", "DOUBLE")
COLUMN_TYPES = ("BIGINT", "BOOLEAN", "DOUBLE", "INTEGER", "TIMESTAMP", "VARCHAR")

SPLITS = ("programs", "runs")
"""What a query may be asked of, one by one, on a cluster."""

MOST_LEADING = 8
"""Number of columns that fit a terminal side by side."""

_ALWAYS = ("program", "instruction", "buffer")
_RARELY = ("run", "rank", "module_number", "color", "shape_index", "op_name")
"""Columns that fill a table before they tell its rows apart."""


class Parameter(NamedTuple):
    """A parameter: `default` is SQL; `source` names the column it is a value of.

    Where it has `choices` it is one of them, or NULL. A number is neither below `least`
    nor above `most`.
    """

    name: str
    type: str
    default: str
    source: tuple[str, str] | None
    choices: tuple[str, ...]
    doc: str
    least: float | None = None
    most: float | None = None


class Column(NamedTuple):
    """A column of the result, with its unit and which way is better."""

    name: str
    type: str
    unit: str
    polarity: str
    doc: str


@dataclass(frozen=True, slots=True)
class Query:
    """One canned query; `sql` is its SELECT as written, with `$name` parameters.

    `empty` says what to do where there are no rows. `leading` names the columns that a
    table shows unless all are asked for. Queries of this release are `is_built_in`;
    others come from folders of users. `declared_split` is one of SPLITS, or None.
    """

    name: str
    group: str
    path: str
    title: str
    question: str
    definition: str
    grain: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    sql: str
    empty: str | None = None
    leading: tuple[str, ...] = ()
    is_built_in: bool = False
    declared_split: str | None = None

    @property
    def split(self) -> str | None:
        """Return of what it may be asked one by one: programs, runs, or only of all."""
        takes_run = any(parameter.name == "run" for parameter in self.parameters)
        return self.declared_split or ("runs" if takes_run else None)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Parameters and columns that many queries share, by name."""

    parameters: dict[str, Parameter] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)


def default_leading(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Return the columns that a table shows where the query declares none.

    Program and instruction come first in rank, identifiers that mostly repeat last.
    """
    ranked = sorted(
        range(len(columns)),
        key=lambda place: (
            columns[place].name not in _ALWAYS,
            columns[place].name in _RARELY,
            place,
        ),
    )
    return tuple(columns[place].name for place in sorted(ranked[:MOST_LEADING]))
