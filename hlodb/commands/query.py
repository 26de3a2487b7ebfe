"""`hlodb query`: the catalogue, one query's help, or its answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from hlodb.commands.narration import narrate
from hlodb.commands.options import (
    db_option,
    format_option,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, find_query, load_catalogue
from hlodb.queries.describe import catalogue_listing, catalogue_objects, query_help
from hlodb.queries.lint import lint as lint_queries
from hlodb.queries.query import Query
from hlodb.queries.result import Result, plain_column
from hlodb.queries.run import Value, explain, parse_parameters, run_query
from hlodb.schema.connection import Connection
from hlodb.text import counted, json_text


@click.command("query", add_help_option=False)
@click.argument("name", required=False)
@click.option(
    "-p",
    "--parameter",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a parameter of the query; an empty value is NULL.",
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
    "--explain", "explained", is_flag=True, help="Show the SQL, don't run it."
)
@click.option("--lint", is_flag=True, help="Check every query file, and stop.")
@click.option("-h", "--help", "helped", is_flag=True, help="Explain this command.")
@db_option
@format_option
@output_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    assignments: tuple[str, ...],
    folders: tuple[Path, ...],
    explained: bool,
    lint: bool,
    helped: bool,
    db: Path,
    form: str,
    output: Path | None,
) -> int:
    """Answer a canned question, or list all of them.

    \b
    hlodb query                                    what can be asked
    hlodb query peak_by_space --help               what it means, to the byte
    hlodb query peak_by_space -p run=nightly-7     its answer
    hlodb query peak_contents --format csv | head  for other tools
    hlodb query --queries my_queries --lint        check your own
    """
    if helped and name is None:
        click.echo(ctx.get_help())
        return 0
    if lint:
        return _lint(folders)
    catalogue = load_catalogue(folders)
    if name is None:
        _list(catalogue, form, output)
        return 0
    query = find_query(catalogue, name)
    parameters = parse_parameters(query, assignments)
    if helped:
        click.echo(query_help(query, catalogue))
    elif explained:
        click.echo(explain(query, parameters, catalogue))
    else:
        with open_for_reading(db) as connection:
            result = run_query(connection, name, parameters, catalogue)
            if not result.rows:
                _tell_of_pruned(connection, query, parameters)
                if query.empty:
                    narrate(f"no rows: {query.empty}")
        write_result(result, form, output)
        _tell_of_more(query, parameters, len(result.rows))
    return 0


def _tell_of_more(query: Query, values: Mapping[str, Value], count: int) -> None:
    """Print a note where an answer is as long as `top` allows."""
    defaults = {p.name: p.default for p in query.parameters}
    top = values.get("top", defaults.get("top"))
    if count and str(top) == str(count):
        narrate(
            f"{count:,} rows, as many as parameter top allows: there may be more,"
            " `-p top=` gives all"
        )


def _tell_of_pruned(
    connection: Connection, query: Query, values: Mapping[str, Value]
) -> None:
    """Print a note for each requested run that is pruned."""
    runs = [
        values.get(p.name) for p in query.parameters if p.source == ("runs", "name")
    ]
    pruned = connection.execute(
        "SELECT name, CAST(pruned_at AS DATE) FROM runs"
        " WHERE list_contains(?, name) AND pruned_at IS NOT NULL ORDER BY run_id",
        [runs],
    )
    for run, day in pruned.fetchall():
        narrate(
            f"run {run} was pruned on {day}: its metrics are here, its details are not;"
            " ingesting it again brings them back"
        )


def _list(catalogue: Catalogue, form: str, output: Path | None) -> None:
    if form == "table" and output is None:
        click.echo(catalogue_listing(catalogue))
    elif form == "json" and output is None:
        click.echo(json_text(catalogue_objects(catalogue), indent=1))
    else:
        columns = tuple(plain_column(n, "VARCHAR") for n in ("group", "name", "title"))
        rows = [(q.group, q.name, q.title) for q in catalogue.values()]
        write_result(Result(columns, rows), form, output)


def _lint(folders: tuple[Path, ...]) -> int:
    count, faults = lint_queries(folders)
    for fault in faults:
        click.echo(fault, err=True)
    click.echo(f"{count} queries, {counted(len(faults), 'fault')}")
    return UsageError.exit_code if faults else 0
