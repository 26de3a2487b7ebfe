"""Binary forms: an Arrow table, an Arrow stream, a Parquet file."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from hlodb.errors import UsageError
from hlodb.queries.query import Column
from hlodb.queries.result import Result

_ARROW_TYPES = {
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "HUGEINT": pa.decimal128(38, 0),
    "INTEGER": pa.int32(),
    "JSON": pa.string(),
    "SMALLINT": pa.int16(),
    "TIMESTAMP": pa.timestamp("us"),
    "TINYINT": pa.int8(),
    "UBIGINT": pa.uint64(),
    "UINTEGER": pa.uint32(),
    "VARCHAR": pa.string(),
}
"""DuckDB's plain types; of others Arrow infers the type from the values."""


def arrow_table(result: Result) -> pa.Table:
    """Return an Arrow table, with unit and polarity in the metadata of its fields.

    Raises UsageError where Arrow has no type for the values of a column.
    """
    arrays = [
        _array(column, [row[place] for row in result.rows])
        for place, column in enumerate(result.columns)
    ]
    fields = [
        _field(column, array.type)
        for column, array in zip(result.columns, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def write_arrow(result: Result, stream: BinaryIO) -> None:
    """Write an Arrow IPC stream."""
    table = arrow_table(result)
    with pa.ipc.new_stream(stream, table.schema) as sink:
        sink.write_table(table)


def write_parquet(result: Result, stream: BinaryIO) -> None:
    """Write a Parquet file.

    Raises UsageError where it has no type for the values of a column.
    """
    for column in result.columns:
        if column.type == "INTERVAL":  # would be stored as a plain number
            raise _unfit(column, "Parquet")
    pq.write_table(arrow_table(result), stream)


def _array(column: Column, values: list[Any]) -> pa.Array:
    try:
        return pa.array(values, type=_ARROW_TYPES.get(column.type))
    except (pa.ArrowException, OverflowError) as error:
        raise _unfit(column, "Arrow") from error


def _unfit(column: Column, form: str) -> UsageError:
    return UsageError(
        f"column {column.name} ({column.type}) does not fit into {form};"
        " cast it, for instance to VARCHAR"
    )


def _field(column: Column, type_: pa.DataType) -> pa.Field:
    metadata = {"unit": column.unit, "polarity": column.polarity, "doc": column.doc}
    return pa.field(column.name, type_, metadata=metadata)
