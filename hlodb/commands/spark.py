"""`python -m hlodb.integrations.spark`: ingest and query on a Spark cluster."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hlodb.commands.ingest import parse_labels
from hlodb.commands.options import UTF8, Moment, db_option, format_option, write_result
from hlodb.errors import UsageError
from hlodb.integrations.spark import ingest, query
from hlodb.lake.layout import lake_at
from hlodb.queries.catalogue import find_query, load_catalogue
from hlodb.queries.result import Result, plain_column
from hlodb.queries.run import parse_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_tasks = click.option(
    "--tasks", type=click.IntRange(1), help="Number of tasks  [default: by the work]"
)


@click.group("spark", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Ingest dumps into a lake, and ask its queries, on a Spark cluster.

    \b
    python -m hlodb.integrations.spark ingest 's3://dumps/*.tar.zst' --db /lake
    spark-submit .../integrations/spark.py query peak_contents --runs all --db /lake

    Master and resources are those of spark-submit or of SPARK_CONF_DIR; without them
    Spark runs on this machine. Every worker needs hlodb, and the lake at one path.
    """


@command.command("ingest")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--run", "name", type=UTF8, metavar="NAME", help="Name of the run.")
@click.option("--series", type=UTF8, metavar="S", help="Series of the runs.")
@click.option("--commit", type=UTF8, metavar="SHA", help="Commit that was compiled.")
@click.option(
    "--label",
    "labels",
    multiple=True,
    type=UTF8,
    metavar="K=V",
    help="Label of the runs; may be repeated.",
)
@click.option(
    "--started-at",
    metavar="TIME",
    type=Moment(),
    help="Time of the dumps; UTC unless it names a zone  [default: of the newest file]",
)
@_tasks
@db_option
@format_option
def ingest_dumps(
    paths: tuple[str, ...],
    name: str | None,
    series: str | None,
    commit: str | None,
    labels: tuple[str, ...],
    started_at: datetime | None,
    tasks: int | None,
    db: Path,
    form: str,
) -> None:
    """Read dumps into a lake, each run in a task; print a row for each run."""
    lake_at(db)
    rows = ingest(
        _session(),
        paths,
        db,
        tasks=tasks,
        name=name,
        series=series,
        commit=commit,
        labels=parse_labels(labels),
        started_at=started_at,
    ).toArrow()
    shown = rows.drop_columns(["notes", "rejected", "has_dump"])
    kinds = {"string": "VARCHAR", "double": "DOUBLE"}
    columns = tuple(
        plain_column(f.name, kinds.get(str(f.type), "BIGINT")) for f in shown.schema
    )
    write_result(Result(columns, _tuples(shown)), form, None)


@command.command("query")
@click.argument("name")
@click.option(
    "-p",
    "--parameter",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a parameter of the query; an empty value is NULL.",
)
@click.option(
    "--runs",
    metavar="RUN,...",
    type=UTF8,
    help="Ask a query of one run of each of these, or of all.",
)
@click.option(
    "--queries",
    "folders",
    metavar="DIR",
    multiple=True,
    envvar="HLODB_QUERIES",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="Add the queries (*.sql) of a folder of your own.",
)
@click.option(
    "--into", metavar="FOLDER", help="Write Parquet files there, instead of printing."
)
@_tasks
@db_option
@format_option
def ask_query(
    name: str,
    assignments: tuple[str, ...],
    runs: str | None,
    folders: tuple[Path, ...],
    into: str | None,
    tasks: int | None,
    db: Path,
    form: str,
) -> None:
    """Run a canned query over a lake; print its rows, or write them.

    Rows come in no order.
    """
    lake_at(db)
    found = find_query(load_catalogue(folders), name)
    parameters: Any = parse_parameters(found, assignments)
    answer = query(
        _session(),
        db,
        name,
        runs=runs.split(",") if runs and runs != "all" else "all" if runs else None,
        tasks=tasks,
        queries=folders,
        **parameters,
    )
    if into is not None:
        answer.write.parquet(into)
        return
    rows = answer.toArrow()
    known = {column.name: column for column in found.columns}
    columns = tuple(
        known.get(n) or plain_column(n, "VARCHAR") for n in rows.schema.names
    )
    write_result(Result(columns, _tuples(rows), found.leading), form, None)


def _tuples(table: Any) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return [*zip(*columns, strict=True)]


def _session() -> SparkSession:
    try:
        from pyspark import SparkConf
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(
            f"PySpark is not installed ({error}): pip install 'hlodb[spark]'"
        ) from error
    if SparkConf().get("spark.master", "local").startswith("local"):
        # Spark would start workers with the python3 of the PATH.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.appName("hlodb").getOrCreate()
