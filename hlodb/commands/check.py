"""`hlodb check`: integrity, and agreement with XLA's own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hlodb.commands.completion import complete_runs
from hlodb.commands.options import (
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.errors import DataQualityError, UsageError
from hlodb.ingest.pipeline.reread import Reread, reread
from hlodb.lake import is_lake
from hlodb.lake.catalogue import read_every_part
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.contracts import breaches
from hlodb.queries.renewal import has_macros
from hlodb.queries.result import Result, Row
from hlodb.queries.run import run_query
from hlodb.schema.backup import read_every_row
from hlodb.schema.connection import Connection
from hlodb.terminal.narration import narrate
from hlodb.text import counted

_SUMMARY = ("check_name", "status", "fault_count", "checked_count")


@click.command("check")
@click.option(
    "--run",
    metavar="NAME",
    shell_complete=complete_runs,
    help="Only the files and modules of this run.",
)
@click.option(
    "--deep",
    is_flag=True,
    help="Also read the original dumps again, where they still exist, and compare.",
)
@click.option(
    "--fetch",
    "fetched",
    metavar="URL",
    multiple=True,
    help="Let --deep fetch the dump that came from this address; may be repeated.",
)
@click.option(
    "--queries",
    "bound",
    is_flag=True,
    help="Also check that the warehouse can run every canned query.",
)
@db_option
@format_option
@output_option
def command(
    run: str | None,
    deep: bool,
    fetched: tuple[str, ...],
    bound: bool,
    db: Path,
    form: str,
    output: Path | None,
) -> None:
    """Check the data, and compare it with XLA's own numbers.

    Some of the checks: allocations add up to XLA's total, values lie inside their
    allocation, live ranges lie inside the schedule, text and proto agree. `hlodb query
    check_NAME --help` explains one. Exit code 3: a check failed. Modules that fail stay
    in the warehouse; the query unsound_modules lists them.

    \b
    hlodb check
    hlodb check --run nightly-7 --format json
    hlodb check --deep
    hlodb check --deep --fetch https://ci.example/dumps/7.tar.gz
    hlodb check --queries
    """
    if deep and is_lake(db):
        raise UsageError("--deep reads a file; `hlodb lake unpack` makes one of a lake")
    with open_for_reading(db) as connection:
        if is_lake(db):
            read_every_part(connection, db)
        else:
            read_every_row(connection, db)
        # First: what answers a query may hide the macros of the warehouse.
        broken = _broken(connection) if bound else None
        result = run_query(connection, "check_results", {"run": run})
    if broken is not None:
        result.rows.extend(_rows(result, *broken))
    if deep:
        result.rows.extend(_reread(result, reread(db, run, fetched=fetched)))
    faults = [row for row in result.dicts() if row["status"] == "fault"]
    if form == "table" and output is None:
        _write_tables(result, faults)
    else:
        write_result(result, form, output)
    if faults:
        raise DataQualityError(_summary_of(faults))


def _broken(
    connection: Connection,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Bind the queries of the warehouse; give what all rows say, and the faults."""
    catalogue = load_catalogue()
    faults = [
        {
            "status": "fault",
            "place": f"query {breach.query}: {breach.text}",
            "expected": breach.promised_columns,
            "found": breach.given_columns,
            "fault_count": 1,
        }
        for breach in breaches(connection, catalogue.values())
    ]
    if faults and has_macros(connection):
        narrate(
            "queries of the warehouse changed since an ingest made them; the next one"
            " makes them anew after `DELETE FROM warehouse_info WHERE key = 'macros'`"
        )
    elif faults:
        narrate(
            "the queries of the warehouse are those of another hlodb; the next ingest"
            " makes them anew"
        )
    return {"check_name": "queries", "checked_count": len(catalogue)}, faults


def _rows(
    result: Result, always: dict[str, Any], faults: list[dict[str, Any]]
) -> list[Row]:
    """Return rows of the result: one for each fault, else one that reports none."""
    sound: dict[str, Any] = {"status": "ok", "fault_count": 0}
    rows = [always | row for row in faults or [sound]]
    return [tuple(row.get(name) for name in result.names) for row in rows]


def _reread(result: Result, found: Reread) -> list[Row]:
    """Return the outcome of reading dumps again as rows of the result."""
    for name in found.gone:
        narrate(f"the dump of run {name} is gone or has changed")
    for name, address in found.unnamed.items():
        narrate(
            f"the dump of run {name} is not read: it came from {address}, which is"
            " fetched only with --fetch"
        )
    count = len(found.read)
    narrate(f"read {counted(count, 'run')} again")
    faults: list[dict[str, Any]] = [
        {
            "status": "fault",
            "run": difference.run,
            "path": difference.path,
            "place": f"rows of {difference.table}",
            "expected": difference.read_rows,
            "found": difference.stored_rows,
            "fault_count": 1,
        }
        for difference in found.differences
    ]
    return _rows(result, {"check_name": "deep", "checked_count": count}, faults)


def _write_tables(result: Result, faults: list[dict[str, Any]]) -> None:
    """Write what every check came to, and below it each place that fails."""
    totals = {row["check_name"]: row | {"fault_count": 0} for row in result.dicts()}
    for row in totals.values():
        if row["status"] == "ok" and row["checked_count"] == 0:
            row["status"] = "nothing to compare"
    for fault in faults:
        totals[fault["check_name"]]["fault_count"] += fault["fault_count"]
    write_result(_chosen(result, _SUMMARY, list(totals.values())), "table", None)
    if faults:
        left_out = ("status", "checked_count")
        names = tuple(name for name in result.names if name not in left_out)
        click.echo()
        write_result(_chosen(result, names, faults), "table", None)


def _chosen(
    result: Result, names: tuple[str, ...], rows: list[dict[str, Any]]
) -> Result:
    columns = {column.name: column for column in result.columns}
    chosen = tuple(columns[name] for name in names)
    return Result(chosen, [tuple(row[name] for name in names) for row in rows])


def _summary_of(faults: list[dict[str, Any]]) -> str:
    first = faults[0]
    named = ("program", "run", "path")
    where = ", ".join(str(first[k]) for k in named if first[k] is not None)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return (
        f"check {first['check_name']} failed{f' on {where}' if where else ''}:"
        f" {first['place']}: expected {first['expected']}, found {first['found']}{more}"
    )
