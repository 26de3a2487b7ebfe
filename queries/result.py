"""Rows with named, typed columns and their units: what every renderer takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlodb.errors import UsageError
from hlodb.queries.query import Column
from hlodb.text import nearest

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a query: `columns` in order, `rows` as tuples of Python values.

    Numbers are exact: BIGINT and HUGEINT are int, DECIMAL is Decimal. A table for
    people shows the `leading` columns, or all where none are named. `total_rows` is how
    many rows the answer has, where only some of them are here.
    """

    columns: tuple[Column, ...]
    rows: list[Row]
    leading: tuple[str, ...] = ()
    total_rows: int | None = None

    @property
    def total(self) -> int:
        """Number of rows of the whole answer."""
        return len(self.rows) if self.total_rows is None else self.total_rows

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

    def bounded(self, columns: Sequence[str] = (), limit: int | None = None) -> Result:
        """Return the first `limit` rows, of `columns` only where any are named.

        Raises UsageError for a column that is not there.
        """
        rows = self.rows if limit is None else self.rows[:limit]
        cut = replace(self, rows=rows, total_rows=self.total)
        if not columns:
            return cut
        names = self.names
        for name in columns:
            if name not in names:
                hint = nearest(name, names)
                known = f"{' It' if hint else '; it'} has {', '.join(names)}"
                raise UsageError(f"the answer has no column {name!r}{hint}{known}")
        places = [names.index(name) for name in dict.fromkeys(columns)]
        return replace(
            cut,
            columns=tuple(self.columns[place] for place in places),
            rows=[tuple(row[place] for place in places) for row in rows],
            leading=(),
        )

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
