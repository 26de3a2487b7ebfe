"""hlodb on Ray: ingest dumps into a lake, and ask its canned queries, in tasks.

hlodb.integrations.ray.ingest(["s3://dumps/*.tar.zst"], lake)
hlodb.integrations.ray.query(lake, "peak_contents", runs="all")

As `hlodb.integrations.spark`, with the same tasks; needs Ray (`hlodb[ray]`), and hlodb
on every node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hlodb.cluster.ingesting import OF_A_RUN, find_dumps, ingest_dumps, with_rejects
from hlodb.cluster.query_tasks import MEMORY, Runs, answer_task, plan_query
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Limits
from hlodb.lake.layout import lake_at
from hlodb.queries.run import Value

if TYPE_CHECKING:
    from ray.data import Dataset

Task = Callable[[int], Iterator[pa.RecordBatch]]


def query(
    lake: str | Path,
    name: str,
    /,
    *,
    runs: Runs = None,
    tasks: int | None = None,
    memory: str = MEMORY,
    queries: Iterable[str | Path] = (),
    **parameters: Value,
) -> Dataset:
    """Answer a canned query over a lake; as `hlodb.integrations.spark.query`."""
    import ray.data

    plan = plan_query(
        lake, name, parameters, runs=runs, tasks=tasks, memory=memory, queries=queries
    )
    tables = _in_tasks(partial(answer_task, plan), plan.tasks, plan.schema)
    return ray.data.from_arrow_refs(tables or [plan.schema.empty_table()])


def ingest(
    paths: Iterable[str | Path | Mapping[str, Any]],
    lake: str | Path,
    *,
    tasks: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **facts: Any,
) -> pa.Table:
    """Bring dumps into a lake; return a row for each run, as `ingest` for Spark."""
    import ray

    address = lake_at(lake).address
    dumps = find_dumps(paths, RunRequest(**facts), limits)
    count = min(len(dumps), tasks or len(dumps))
    task = partial(ingest_dumps, dumps, address, limits, count)
    done = ray.get(_in_tasks(task, count, OF_A_RUN))
    return with_rejects(pa.concat_tables(done), address)


def _in_tasks(task: Task, count: int, schema: pa.Schema) -> list[Any]:
    """Start tasks 0 to `count` - 1; return references to their rows."""
    import ray

    # Sent once, however many tasks there are.
    sent, run = ray.put(task), ray.remote(_table)
    return [run.remote(sent, number, schema) for number in range(count)]


def _table(task: Task, number: int, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches(task(number), schema=schema)
