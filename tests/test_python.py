"""hlodb from Python, as a notebook would use it."""

from pathlib import Path

import pytest
from sqlalchemy import func, inspect, select

import hlodb
from hlodb.errors import UsageError
from hlodb.schema.tables import ALLOCATIONS, INSTRUCTIONS, MODULES, RUNS


def test_public_names() -> None:
    assert all(hasattr(hlodb, name) for name in hlodb.__all__)
    with pytest.raises(AttributeError):
        _ = hlodb.nothing


def test_query_and_sql(demo_warehouse: Path) -> None:
    with hlodb.open(demo_warehouse) as warehouse:
        result = warehouse.query(
            "peak_by_space", run="jaxlib-0.10.2", program="jit_cnn"
        )
        [row] = result.dicts()
        assert (row["space_name"], row["reserved_bytes"]) == ("host", 26839050)
        table = result.arrow()
        assert table.num_rows == 1
        assert table.column("reserved_bytes").to_pylist() == [26839050]
        counted = warehouse.sql("SELECT count(*) AS n FROM runs")
        assert counted.rows == [(10,)]
        with pytest.raises(UsageError, match="did you mean"):
            warehouse.query("peak_by_spaec")
        with pytest.raises(UsageError):
            warehouse.sql("CREATE TABLE t (a INTEGER)")
        with pytest.raises(UsageError):
            warehouse.sql("SELECT * FROM read_text('/etc/hostname')")


def test_no_warehouse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no warehouse at"):
        hlodb.open(tmp_path / "none.duckdb")


def test_sqlalchemy_select(demo_warehouse: Path) -> None:
    query = (
        select(RUNS.c.name, func.sum(ALLOCATIONS.c.size_bytes))
        .join_from(RUNS, MODULES, RUNS.c.run_id == MODULES.c.run_id)
        .join(ALLOCATIONS, ALLOCATIONS.c.module_id == MODULES.c.module_id)
        .where(MODULES.c.program == "jit_cnn", RUNS.c.platform == "cpu")
        .group_by(RUNS.c.name)
        .order_by(RUNS.c.name)
    )
    constants = select(func.count()).where(INSTRUCTIONS.c.opcode == "constant")
    with hlodb.engine(demo_warehouse).connect() as connection:
        totals = dict(list(connection.execute(query)))
        assert totals["jaxlib-0.4.35"] == 19049901
        assert totals["jaxlib-0.5.3"] == 26839405
        assert len(totals) == 9
        assert connection.execute(constants).scalar_one() > 10_000


def test_reflection_gives_the_declared_columns(demo_warehouse: Path) -> None:
    inspector = inspect(hlodb.engine(demo_warehouse))
    names = [c["name"] for c in inspector.get_columns("modules")]
    assert names == [c.name for c in MODULES.columns]
    views = [c["name"] for c in inspector.get_columns("instructions")]
    assert views == [c.name for c in INSTRUCTIONS.columns]
