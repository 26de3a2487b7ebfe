"""Columns gathered piece by piece and joined into Arrow tables once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hlodb.schema.stored import stored_tables

_ARROW = {
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
}
_MANY = 50_000
"""Texts that are made at once: each takes several times the memory of its letters."""

NO_ID = -1
"""Stands for NULL in a numpy array of ids."""

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


def arrow_schema(
    table: str,
    extra: Mapping[str, pa.DataType] | None = None,
    dropped: Sequence[str] = (),
) -> pa.Schema:
    """Return the Arrow schema of a warehouse table without the `dropped` columns.

    `extra` columns come at the end.
    """
    fields = [
        (name, _ARROW.get(kind, pa.string()))
        for name, kind in stored_tables()[table].items()
        if name not in dropped
    ]
    return pa.schema([*fields, *(extra or {}).items()])


class Numbered(NamedTuple):
    """A column of texts as numbers of `texts`, NO_ID where there is none.

    The `texts` of a later piece begin with those of an earlier one.
    """

    numbers: Ints
    texts: Sequence[str | None]


class _Piece(NamedTuple):
    """Some rows of a column: an array, texts, a list, or one value for all of them.

    An `arrow` array is kept as it is.
    """

    kind: str
    rows: int
    value: Any


class Columns:
    """The rows of one table; every `add` brings equally long columns.

    A numpy array may hold NO_ID for NULL where its column is named in `nullable_ids`.
    """

    def __init__(self, schema: pa.Schema, nullable_ids: Sequence[str] = ()) -> None:
        self._schema = schema
        self._nullable = frozenset(nullable_ids)
        self._names = frozenset(schema.names)
        self._pieces: dict[str, list[_Piece]] = {name: [] for name in schema.names}

    def add(self, count: int, **columns: Any) -> None:
        """Append `count` rows; a scalar fills its column, a missing one is NULL.

        Arrays and lists are kept as they are until `table`.
        """
        if unknown := columns.keys() - self._names:
            raise KeyError(f"unknown columns: {sorted(unknown)}")
        if count:
            for name, pieces in self._pieces.items():
                value = columns.get(name)
                pieces.append(_Piece(_kind_of(value), count, value))

    @property
    def has_rows(self) -> bool:
        """Return whether anything was added."""
        return any(self._pieces.values())

    def table(self) -> pa.Table:
        """Return all rows as one Arrow table; texts by number come as a dictionary."""
        arrays = [self._array(field) for field in self._schema]
        return pa.table(arrays, names=self._schema.names)

    def _array(self, field: pa.Field) -> pa.ChunkedArray:
        """Join pieces that follow one another and are of one kind."""
        chunks = [
            self._joined(field, kind, list(pieces))
            for kind, pieces in groupby(self._pieces[field.name], lambda p: p.kind)
        ]
        return pa.chunked_array(chunks, chunks[0].type if chunks else field.type)

    def _joined(self, field: pa.Field, kind: str, pieces: list[_Piece]) -> pa.Array:
        values = [piece.value for piece in pieces]
        if kind == "arrow":
            return values[0] if len(values) == 1 else pa.concat_arrays(values)
        if kind == "null":
            return pa.nulls(sum(piece.rows for piece in pieces), field.type)
        if kind == "array":
            joined = values[0] if len(values) == 1 else np.concatenate(values)
            mask = joined == NO_ID if field.name in self._nullable else None
            return pa.array(joined, field.type, mask=mask)
        if kind == "texts":
            numbers = np.concatenate([value.numbers for value in values])
            return _dictionary(numbers, values[-1].texts)
        if kind == "list":
            return pa.array(list(chain.from_iterable(values)), field.type)
        counts = [piece.rows for piece in pieces]
        return pa.array(np.repeat(np.array(values), counts), field.type)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, np.ndarray):
        return "array"
    if isinstance(value, Numbered):
        return "texts"
    if isinstance(value, pa.Array):
        return "arrow"
    return "list" if isinstance(value, list | tuple) else "scalar"


def _dictionary(numbers: Ints, texts: Sequence[str | None]) -> pa.DictionaryArray:
    """Return texts by number, only those that are used."""
    is_used = np.zeros(len(texts), np.bool_)
    is_used[numbers[numbers != NO_ID]] = True
    places = np.cumsum(is_used, dtype=np.int32) - 1
    used = np.flatnonzero(is_used).astype(np.int32)
    mask = numbers == NO_ID
    indices = pa.array(places[numbers], mask=mask if mask.any() else None)
    return pa.DictionaryArray.from_arrays(indices, texts_array(texts, used))


@runtime_checkable
class _Packed(Protocol):
    """Texts that are made when they are taken."""

    def taken(self, numbers: Iterable[int]) -> Iterable[str | None]: ...


def texts_array(texts: Sequence[str | None], numbers: Ints) -> pa.Array:
    """Return the texts of these numbers."""
    parts = []
    for part in np.split(numbers, range(_MANY, len(numbers), _MANY)):
        wanted = part.tolist()
        found = texts.taken(wanted) if isinstance(texts, _Packed) else None
        known = [texts[at] for at in wanted] if found is None else list(found)
        parts.append(pa.array(known, pa.string()))
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
