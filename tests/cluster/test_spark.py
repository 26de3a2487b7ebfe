"""Spark gives the rows that DuckDB gives, and a lake the rows of a file.

Skipped where PySpark is not installed; `make spark` installs it and runs all of these.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hlodb.integrations.spark
from hlodb.cli import main
from hlodb.lake.layout import create_lake
from hlodb.lake.opening import reading
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, DUMPS, SHARED_ARCHIVES
from tests.lake.comparing import differing_queries, differing_tables

pytest.importorskip("pyspark")
# Whatever PySpark's own modules warn of.
pytestmark = pytest.mark.filterwarnings("ignore")

DUMPS_IN_TASKS = [
    {"path": DATA / "gpu" / f"jaxlib-{version}.tar.xz", "started_at": day}
    for version, day in (
        ("0.5.3", datetime(2026, 1, 1)),
        ("0.7.2", datetime(2026, 1, 2)),
    )
]
FEW = ("peak_contents", "padding_at_peak", "check_totals", "peak_regressions")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def lake(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spark") / "lake"
    create_lake(path)
    done = hlodb.integrations.spark.ingest(spark, DUMPS_IN_TASKS, path, series="nights")
    rows = {row.run: row for row in done.collect()}
    assert sorted(rows) == ["jaxlib-0.5.3", "jaxlib-0.7.2"]
    assert [(r.modules, r.rejects, r.rejected) for r in rows.values()] == [
        (4, 0, []),
        (6, 0, []),
    ]
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spark") / "w.duckdb"
    for dump in DUMPS_IN_TASKS:
        arguments = [str(dump["path"]), "--started-at", str(dump["started_at"])]
        command = ["ingest", *arguments, "--series", "nights", "--db", str(path)]
        assert main(command) == 0
    return path


def rows_of(table: pa.Table) -> list[str]:
    columns = [column.to_pylist() for column in table.columns]
    return sorted(map(repr, zip(*columns, strict=True)))


def differing(
    spark: Any, lake: Path, warehouse: Path, names: Iterable[str]
) -> list[str]:
    """Return the queries whose columns, types or rows differ, by default parameters."""
    found = []
    with reading(warehouse) as connection:
        for name in names:
            expected = run_query(connection, name)
            answer = hlodb.integrations.spark.query(spark, lake, name)
            rows = answer.toArrow()
            comments = [f.metadata["comment"] for f in answer.schema.fields]
            is_equal = (
                rows.schema.equals(expected.arrow().schema, check_metadata=False)
                and rows_of(rows) == sorted(map(repr, expected.rows))
                and comments == [f"{c.unit}: {c.doc}" for c in expected.columns]
            )
            found += [] if is_equal else [name]
    return found


def test_two_dumps_in_tasks_and_four_queries(
    spark: Any, lake: Path, file: Path
) -> None:
    with reading(lake) as one, connect(file) as other:
        assert differing_tables(one, other) == []
    assert differing(spark, lake, file, FEW) == []
    everywhere = hlodb.integrations.spark.query(
        spark, lake, "peak_by_space", runs="all", tasks=3
    )
    with connect(file) as connection:
        expected = [
            repr(row)
            for run in ("jaxlib-0.5.3", "jaxlib-0.7.2")
            for row in run_query(connection, "peak_by_space", {"run": run}).rows
        ]
    assert rows_of(everywhere.toArrow()) == sorted(expected)


@pytest.mark.slow
def test_every_query(spark: Any, lake: Path) -> None:
    """Over one lake: some tell when a run was ingested, and how long it took."""
    assert differing(spark, lake, lake, load_catalogue()) == []


@pytest.mark.slow
def test_the_command(lake: Path, tmp_path: Path) -> None:
    """As `spark-submit` runs it: the file of the module, here without a cluster."""
    script = Path(hlodb.integrations.spark.__file__).resolve()
    path = tmp_path / "lake"
    main(["lake", "create", str(path)])
    for arguments in (
        ["ingest", str(DUMPS_IN_TASKS[0]["path"]), "--label", "k=v"],
        ["query", "run_list", "--format", "csv"],
        ["query", "peak_by_space", "--runs", "all", "--into", str(tmp_path / "rows")],
    ):
        done = subprocess.run(
            [sys.executable, script, *arguments, "--db", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            check=True,
        )
        if arguments[1] == "run_list":
            assert done.stdout.splitlines()[1].startswith("jaxlib-0.5.3,")
    assert list((tmp_path / "rows").glob("*.parquet"))


@pytest.mark.slow
@pytest.mark.shared
def test_all_dumps_three_ways(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, a lake that processes wrote and one that Spark wrote are equal."""
    releases = sorted(DUMPS.glob("*/*.tar.xz"))
    dumps = [
        {
            "path": path,
            "name": f"{path.parent.name}-{path.name.split('.tar')[0]}",
            "series": "xla-releases" if path.parent.name == "cpu" else "others",
            "started_at": datetime(2026, 1, 1) + timedelta(days=day),
        }
        for day, path in enumerate([*releases, *SHARED_ARCHIVES])
    ]
    dumps = [*{dump["name"]: dump for dump in dumps}.values()]
    by_spark, by_processes = tmp_path / "spark.lake", tmp_path / "processes.lake"
    file = tmp_path / "w.duckdb"
    for path in (by_spark, by_processes):
        create_lake(path)
    done = hlodb.integrations.spark.ingest(spark, dumps, by_spark)
    assert done.count() == len(dumps)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _IN_TURN, json.dumps(commands)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for start in range(8)
        if (commands := [ingest_command(d, by_processes) for d in dumps[start::8]])
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    for dump in dumps:
        assert main(ingest_command(dump, file)) == 0
    found = [file, by_processes, by_spark]
    for lake in found[1:]:
        with reading(lake) as one, connect(file) as other:
            assert differing_tables(one, other) == []
            assert [*differing_queries(one, other)] == []
    reports = [reports_of(path, tmp_path / "report", monkeypatch) for path in found]
    assert reports[1:] == reports[:1] * 2


_IN_TURN = """
import json, sys
from hlodb.cli import main
for command in json.loads(sys.argv[1]):
    assert main(command) == 0
"""


def ingest_command(dump: dict[str, Any], db: Path) -> list[str]:
    return [
        *("ingest", str(dump["path"]), "--run", dump["name"]),
        *("--series", dump["series"]),
        *("--started-at", str(dump["started_at"]), "--db", str(db)),
    ]


def reports_of(
    warehouse: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    """Return the reports on the releases of the demo and on all other dumps."""
    # Commands in reports name the warehouse, unless it is the one that is set.
    monkeypatch.setenv("HLODB_DB", str(warehouse))
    found = []
    for series in ("xla-releases", "others"):
        for form in ("text", "json", "html"):
            of_series = ["report", "--series", series, "--format", form]
            main([*of_series, "--output", str(path)])
            found.append(path.read_bytes())
    return found
