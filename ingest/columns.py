"""Columns gathered piece by piece and joined into Arrow tables once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Table
from sqlalchemy.types import BigInteger, Boolean, Double, Integer

from hlodb.schema.tables import PUBLIC, STORE

_ARROW: list[tuple[type, pa.DataType]] = [
    (BigInteger, pa.int64()),
    (Integer, pa.int32()),
    (Boolean, pa.bool_()),
    (Double, pa.float64()),
]
NO_ID = -1
"""Stands for NULL in a numpy array of ids."""


def _arrow_type(column: Any) -> pa.DataType:
    for kind, arrow in _ARROW:
        if isinstance(column.type, kind):
            return arrow
    return pa.string()


def arrow_schema(
    table: str,
    extra: Mapping[str, pa.DataType] | None = None,
    dropped: Sequence[str] = (),
) -> pa.Schema:
    """Give the Arrow schema of a warehouse table without the `dropped` columns.

    `extra` columns come at the end.
    """
    declared: Table = (
        STORE.tables[table] if table.startswith("store.") else PUBLIC.tables[table]
    )
    fields = [
        (c.name, _arrow_type(c)) for c in declared.columns if c.name not in dropped
    ]
    return pa.schema([*fields, *(extra or {}).items()])


class Columns:
    """The rows of one table; every `add` brings equally long columns.

    A numpy array may hold NO_ID for NULL where its column is named in `nullable_ids`.
    """

    def __init__(self, schema: pa.Schema, nullable_ids: Sequence[str] = ()) -> None:
        self._schema = schema
        self._nullable = frozenset(nullable_ids)
        self._pieces: dict[str, list[pa.Array]] = {name: [] for name in schema.names}

    def add(self, count: int, **columns: Any) -> None:
        """Append `count` rows; a scalar fills its column, a missing one is NULL."""
        if not count:
            return
        for field in self._schema:
            value = columns.pop(field.name, None)
            self._pieces[field.name].append(self._array(field, value, count))
        if columns:
            raise KeyError(f"unknown columns: {sorted(columns)}")

    def _array(self, field: pa.Field, value: Any, count: int) -> pa.Array:
        if value is None:
            return pa.nulls(count, field.type)
        if isinstance(value, np.ndarray):
            mask = value == NO_ID if field.name in self._nullable else None
            return pa.array(value, field.type, mask=mask)
        if isinstance(value, list | tuple):
            return pa.array(value, field.type)
        if isinstance(value, pa.Array):
            return value
        return pa.repeat(pa.scalar(value, field.type), count)

    def table(self) -> pa.Table:
        """Give all rows as one Arrow table."""
        arrays = [pa.chunked_array(self._pieces[f.name], f.type) for f in self._schema]
        return pa.table(arrays, schema=self._schema)
