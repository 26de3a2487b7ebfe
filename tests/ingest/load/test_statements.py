"""Arrow tables that SQL reads as streams."""

import duckdb
import pyarrow as pa
import pytest

from hlodb.ingest.load.statements import execute_on


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kept (name VARCHAR, number BIGINT)")
    return connection


def texts(*values: str | None) -> pa.Array:
    """Return texts by number, as the batches of workers hold them."""
    return pa.array(values).dictionary_encode()


def test_rows_come_in_order_whatever_the_batches(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    names = pa.chunked_array([texts("b", "a", "b"), texts(None, "c"), texts("a")])
    numbers = pa.chunked_array([[1, 2, 3], [4, None, 6]])
    table = pa.table({"number": numbers, "name": names})
    insert = "INSERT INTO kept BY NAME FROM incoming"
    assert execute_on(connection, insert, table) == [(6,)]
    assert execute_on(connection, insert, table.slice(4)) == [(2,)]
    assert connection.execute("FROM kept").fetchall() == [
        ("b", 1),
        ("a", 2),
        ("b", 3),
        (None, 4),
        ("c", None),
        ("a", 6),
        ("c", None),
        ("a", 6),
    ]


def test_a_question_gives_its_rows(connection: duckdb.DuckDBPyConnection) -> None:
    table = pa.table({"id": pa.array([3, 1, 2], pa.int64())})
    assert execute_on(connection, "FROM incoming WHERE id > 1", table) == [(3,), (2,)]
    assert execute_on(connection, "FROM incoming", table.slice(3)) == []
