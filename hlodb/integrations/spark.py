"""hlodb on Spark: ingest dumps into a lake, and ask its canned queries, in tasks.

hlodb.integrations.spark.ingest(spark, ["s3://dumps/*.tar.zst"], lake)
hlodb.integrations.spark.query(spark, lake, "peak_contents", runs="all")

Both need PySpark 4 (`hlodb[spark]`), and hlodb on every worker. `spark-submit` takes
this file: `spark-submit …/hlodb/integrations/spark.py query peak_by_space --db LAKE`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hlodb.cluster.ingesting import OF_A_RUN, find_dumps, ingest_dumps, with_rejects
from hlodb.cluster.query_tasks import MEMORY, Runs, answer_task, plan_query
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.lake.layout import lake_at
from hlodb.queries.query import Column
from hlodb.queries.run import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {"TIMESTAMP": "TIMESTAMP_NTZ", "VARCHAR": "STRING"}
"""Types of columns that Spark calls otherwise."""

Task = Callable[[int], Iterator[pa.RecordBatch]]


def query(
    spark: SparkSession,
    lake: str | Path,
    name: str,
    /,
    *,
    runs: Runs = None,
    tasks: int | None = None,
    memory: str = MEMORY,
    queries: Iterable[str | Path] = (),
    **parameters: Value,
) -> DataFrame:
    """Answer a canned query over a lake as it is now, with the columns it declares.

    With `runs`, names or "all", a query of one run is asked of each of them. Tasks
    take `memory` each for DuckDB. Rows are computed when the DataFrame is read.
    Raises UsageError for an unknown query, parameter, run or program.
    """
    plan = plan_query(
        lake, name, parameters, runs=runs, tasks=tasks, memory=memory, queries=queries
    )
    schema = ", ".join(map(_column, plan.columns))
    return _in_tasks(spark, partial(answer_task, plan), plan.tasks, schema)


def ingest(
    spark: SparkSession,
    paths: Iterable[str | Path | Mapping[str, Any]],
    lake: str | Path,
    *,
    tasks: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **facts: Any,
) -> DataFrame:
    """Bring dumps into a lake; return a row for each run, with its rejects.

    `facts` are those of a RunRequest (name, series, commit, labels, started_at,
    passes). A path may be a mapping: its "path", and facts of its own. Each run is a
    task unless there are to be fewer `tasks`; one that fails is repeated whole. The
    lake is at the same path for all workers. Raises as `hlodb ingest`.
    """
    address = lake_at(lake).address
    dumps = find_dumps(paths, RunRequest(**facts), limits)
    count = min(len(dumps), tasks or len(dumps))
    task = partial(ingest_dumps, dumps, address, limits, count)
    schema = spark.createDataFrame(OF_A_RUN.empty_table()).schema
    done = _in_tasks(spark, task, count, schema).toArrow().cast(OF_A_RUN)
    return spark.createDataFrame(with_rejects(done, address))


def _in_tasks(spark: SparkSession, task: Task, count: int, schema: Any) -> DataFrame:
    """Return the rows of tasks 0 to `count` - 1; Spark runs each in a partition."""
    numbers = spark.range(0, count, 1, max(count, 1))
    return numbers.mapInArrow(partial(_run, task), schema)


def _run(task: Task, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from task(number)


def _column(column: Column) -> str:
    """Return a column in Spark's SQL, with its unit and what it means."""
    comment = f"{column.unit}: {column.doc}".replace("\\", "\\\\").replace("'", "\\'")
    kind = _TYPES.get(column.type, column.type)
    return f"`{column.name}` {kind} COMMENT '{comment}'"


if __name__ == "__main__":
    # By name: the command line imports this module, which is then not the main one.
    _cli = import_module("hlodb.cli")
    _group = import_module("hlodb.commands.spark").command
    sys.exit(_cli.main(group=_group, name="python -m hlodb.integrations.spark"))
