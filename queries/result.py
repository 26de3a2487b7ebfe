"""Rows with named, typed columns and their units: what every renderer takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hlodb.queries.query import Column

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query: `columns` in order, `rows` as tuples of Python values.

    Numbers are exact: BIGINT and HUGEINT are int, DECIMAL is Decimal. A table for
    people shows the `leading` columns, or all where none are named.
    """

    columns: tuple[Column, ...]
    rows: list[Row]
    leading: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    def dicts(self) -> list[dict[str, Any]]:
        """Return every row as a dictionary by column name."""
        names = self.names
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def column(self, name: str) -> list[Any]:
        """Return the values of one column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def arrow(self) -> Any:
        """Return a pyarrow.Table; column units stand in the fields' metadata."""
        # Loaded when asked for: it takes longer than most queries.
        from hlodb.queries.render.arrow import arrow_table

        return arrow_table(self)

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        from hlodb.queries.render.html import html_table

        return html_table(self)

    def df(self) -> Any:
        """Return a pandas.DataFrame; needs pandas."""
        return self.arrow().to_pandas()

    def pl(self) -> Any:
        """Return a polars.DataFrame; needs polars."""
        import polars

        return polars.from_arrow(self.arrow())


def plain_column(name: str, type_name: str) -> Column:
    """Return a column of ad-hoc SQL: its unit is read from the ending of its name."""
    unit = next((u for ending, u in _ENDINGS.items() if name.endswith(ending)), "text")
    return Column(name, type_name, unit, "neutral", "")


_ENDINGS = {
    "_bytes": "bytes",
    "_ratio": "ratio",
    "_step": "step",
    "_steps": "steps",
    "_count": "count",
    "_id": "id",
    "_seconds": "seconds",
}
