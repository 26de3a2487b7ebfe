"""A query as tasks: each asks DuckDB the same statement, of a part of the lake.

How a query is split is in its front matter. Tasks share nothing but a snapshot of the
lake, and all their rows together are the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa

from hlodb.cluster.programs import JOINED, count_places, select_of_all, show_places
from hlodb.cluster.snapshot import Snapshot, opened, take_snapshot
from hlodb.errors import HlodbError, UsageError
from hlodb.lake.columns import literal
from hlodb.queries.catalogue import Catalogue, find_query, load_catalogue
from hlodb.queries.query import Column, Query
from hlodb.queries.render.arrow import arrow_table
from hlodb.queries.result import Result
from hlodb.queries.run import (
    Value,
    bound,
    composed,
    require_sound,
    run_composed,
    shared_answers,
)
from hlodb.schema.connection import Connection, DatabaseError

PROGRAMS_PER_TASK = 200
RUNS_PER_TASK = 10
MEMORY = "2GiB"
"""Memory of DuckDB in a task, by default."""

BATCH_ROWS = 65_536

Runs = Sequence[str] | Literal["all"] | None

_RUN = Column("run", "VARCHAR", "name", "neutral", "Name of the run.")


class QueryPlan(NamedTuple):
    """A query and the tasks that answer it; they are numbered from 0.

    `runs`: runs of which it is asked; empty for a query that is not of one run.
    `adds_run`: whether its rows do not name the run, and the answer has to.
    `catalogue`: None for the built-in one, which workers have.
    """

    snapshot: Snapshot
    query: Query
    parameters: Mapping[str, Value]
    runs: Sequence[str]
    tasks: int
    memory: str
    adds_run: bool = False
    catalogue: Catalogue | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the answer: those of the query, maybe after that of the run."""
        own = self.query.columns
        return (_RUN, *own) if self.adds_run else own

    @property
    def schema(self) -> pa.Schema:
        """Columns of the answer in Arrow, with units in their metadata."""
        return arrow_table(Result(self.columns, [])).schema


def plan_query(
    lake: str | Path,
    name: str,
    parameters: Mapping[str, Value],
    *,
    runs: Runs = None,
    tasks: int | None = None,
    memory: str = MEMORY,
    queries: Iterable[str | Path] = (),
) -> QueryPlan:
    """Return the tasks that answer a query over a lake as it is now.

    Without `runs` the answer is that of `hlodb query`. With them, or with "all", a
    query of one run is asked of each. Raises as `run_query`.
    """
    folders = [Path(folder) for folder in queries]
    catalogue = load_catalogue(folders)
    own = catalogue if folders else None
    query = find_query(catalogue, name)
    takes_run = any(p.name == "run" for p in query.parameters)
    if runs is not None and (not takes_run or parameters.get("run") is not None):
        reason = "names its run itself" if takes_run else "is not about one run"
        raise UsageError(f"query {name} {reason}; leave the runs out")
    snapshot = take_snapshot(lake)
    with opened(snapshot, memory) as connection:
        require_sound(connection, query, parameters)
        if runs is None and query.split != "programs":
            # As it is: some queries without a run are about all, not the latest.
            return QueryPlan(snapshot, query, parameters, (), 1, memory, catalogue=own)
        given = {k: v for k, v in parameters.items() if k != "run"}
        names = _runs(connection, runs, parameters.get("run"))
        if query.split == "programs":
            most, count = PROGRAMS_PER_TASK, count_places(connection, names)
        else:
            most, count = RUNS_PER_TASK, len(names)
        number = min(count, tasks or math.ceil(count / most))
    adds_run = runs is not None and all(c.name != "run" for c in query.columns)
    return QueryPlan(snapshot, query, given, names, number, memory, adds_run, own)


def _runs(connection: Connection, runs: Runs, run: Value) -> list[str]:
    """Return the names of the runs to ask; raise UsageError for one that is missing."""
    if runs is None:
        select = "SELECT run FROM selected_run(run := $run)"
        return [name for (name,) in run_composed(connection, select, {"run": run})]
    known = connection.execute("SELECT name FROM runs ORDER BY run_id").fetchall()
    names = [name for (name,) in known]
    if runs == "all":
        return names
    if missing := [name for name in runs if name not in names]:
        raise UsageError(f"there is no run {missing[0]!r}; `hlodb runs` lists the runs")
    return [*dict.fromkeys(runs)]


def answer_task(plan: QueryPlan, task: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one task.

    Raises HlodbError where DuckDB cannot answer, such as in the given memory.
    """
    catalogue = plan.catalogue or load_catalogue()
    try:
        with opened(plan.snapshot, plan.memory) as connection:
            yield from _rows(connection, plan, task, catalogue)
    except DatabaseError as error:
        raise HlodbError(f"query {plan.query.name}: {error}") from error


def _rows(
    connection: Connection, plan: QueryPlan, task: int, catalogue: Catalogue
) -> Iterator[pa.RecordBatch]:
    query = plan.query

    def batches(
        run: Mapping[str, Value], select: str, join: str = ""
    ) -> Iterator[pa.RecordBatch]:
        given = {**plan.parameters, **run}
        statements = composed(query, given, catalogue)
        with shared_answers(connection, statements, given) as statement:
            rows = connection.execute(
                f"SELECT {select} FROM (\n{statement}\n) AS a {join}",
                bound(statement, given),
            )
            for batch in rows.to_arrow_reader(BATCH_ROWS):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=plan.schema)

    if not plan.runs:
        yield from batches({}, "a.*")
    elif query.split == "programs":
        select = select_of_all(query)
        for run in show_places(connection, plan.runs, task, plan.tasks):
            yield from batches({"run": run}, select, JOINED)
    else:
        for run in plan.runs[task :: plan.tasks]:
            select = f"{literal(run)} AS run, a.*" if plan.adds_run else "a.*"
            yield from batches({"run": run}, select)
