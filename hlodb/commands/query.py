"""`hlodb query`: the catalogue, one query's help, or its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from hlodb.commands.completion import (
    complete_assignments,
    complete_queries,
    complete_query_values,
)
from hlodb.commands.options import (
    bounds_option,
    db_option,
    format_option,
    is_bounded,
    is_cut,
    open_for_reading,
    output_option,
    write_result,
)
from hlodb.errors import UsageError
from hlodb.queries.catalogue import Catalogue, find_query, load_catalogue
from hlodb.queries.describe import catalogue_listing, catalogue_objects, query_help
from hlodb.queries.find import MOST_FOUND, find_queries
from hlodb.queries.lint import lint as lint_queries
from hlodb.queries.query import Query
from hlodb.queries.result import Result, plain_column
from hlodb.queries.run import (
    Value,
    explain,
    parse_parameters,
    row_count,
    run_composed,
    run_query,
)
from hlodb.schema.connection import Connection
from hlodb.terminal.narration import narrate
from hlodb.text import counted, json_text

_TABLES = ("table", "markdown")
_TABLE_ROWS = 20
"""Value of `top` for tables, where neither the query nor the user has one."""


@click.command("query", add_help_option=False)
@click.argument("name", required=False, shell_complete=complete_queries)
@click.argument(
    "values",
    nargs=-1,
    metavar="[PROGRAM]",
    shell_complete=complete_query_values,
)
@click.option(
    "-p",
    "--parameter",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    shell_complete=complete_assignments,
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
    "--explain", "explained", is_flag=True, help="Print the SQL instead of running it."
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List also the building blocks and checks.",
)
@click.option(
    "--find",
    "question",
    metavar="QUESTION",
    help=f"List the queries whose words fit a question, {MOST_FOUND} at most.",
)
@click.option(
    "--lint", is_flag=True, help="Check the query files instead of running one."
)
@click.option(
    "-h",
    "--help",
    "helped",
    is_flag=True,
    help="Explain this command, or the query NAME.",
)
@db_option
@format_option
@bounds_option
@output_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    values: tuple[str, ...],
    assignments: tuple[str, ...],
    folders: tuple[Path, ...],
    explained: bool,
    everything: bool,
    question: str | None,
    lint: bool,
    helped: bool,
    db: Path,
    form: str,
    output: Path | None,
) -> int:
    """Run a canned query, or list the queries.

    \b
    hlodb query                                    list the queries
    hlodb query --find "which line owns the peak"  list those that fit a question
    hlodb query peak_by_space --help               show its exact definition
    hlodb query peak_by_space -p run=nightly-7     answer it for one run
    hlodb query peak_contents jit_step             answer it for one program
    hlodb query peak_contents --format csv | head  for other tools
    hlodb query peak_contents --columns instruction,owned_bytes --limit 5
    hlodb query --queries my_queries --lint        check your own

    PROGRAM is short for -p program=PROGRAM. A table has 20 rows where the query
    has a parameter top and none is given; other formats have all rows.
    """
    if helped and name is None:
        click.echo(ctx.get_help())
        return 0
    if lint:
        return _lint(folders)
    catalogue = load_catalogue(folders)
    if question is not None:
        if name is not None:
            raise UsageError("pass the name of a query or --find, not both")
        _find(catalogue, question, form, output)
        return 0
    if name is None:
        _list(catalogue, form, output, everything)
        return 0
    query = find_query(catalogue, name)
    assigned = [_assignment(query, value) for value in values]
    parameters = parse_parameters(query, (*assigned, *assignments))
    if helped:
        click.echo(query_help(query, catalogue))
    elif explained:
        click.echo(explain(query, parameters, catalogue))
    else:
        parameters = _with_top(query, parameters, form)
        with open_for_reading(db) as connection:
            result = run_query(connection, name, parameters, catalogue)
            every = _count_of_all(
                connection, query, parameters, catalogue, len(result.rows)
            )
            if not result.rows:
                _tell_of_pruned(connection, query, parameters)
                _tell_of_program(connection, query, parameters)
                if query.empty:
                    narrate(f"no rows: {query.empty}")
        write_result(replace(result, total_rows=every), form, output)
        if every is not None and not is_cut(result):
            narrate(
                f"first {len(result.rows):,} of {counted(every, 'row')}; pass"
                " `-p top=N` for N, `-p top=` for all"
            )
    return 0


def _assignment(query: Query, value: str) -> str:
    """Return a value that follows the query's name as an assignment: of the program."""
    if "=" in value:
        return value
    if any(p.name == "program" for p in query.parameters):
        return f"program={value}"
    known = ", ".join(f"-p {p.name}=…" for p in query.parameters) or "none"
    raise UsageError(f"query {query.name} takes no program; parameters: {known}")


def _with_top(query: Query, values: dict[str, Value], form: str) -> dict[str, Value]:
    """Return the parameters with a limit for tables, if the query has none."""
    unlimited = any(p.name == "top" and p.default == "NULL" for p in query.parameters)
    if unlimited and form in _TABLES and "top" not in values:
        return {**values, "top": _TABLE_ROWS}
    return values


def _count_of_all(
    connection: Connection,
    query: Query,
    values: dict[str, Value],
    catalogue: Catalogue,
    count: int,
) -> int | None:
    """Return how many rows there are, if `top` leaves any out."""
    defaults = {p.name: p.default for p in query.parameters}
    top = str(values.get("top", defaults.get("top")))
    if not count or not top.isdigit() or count < int(top):
        return None
    every = row_count(connection, query, {**values, "top": None}, catalogue)
    return None if count == every else every


def _tell_of_program(
    connection: Connection, query: Query, values: Mapping[str, Value]
) -> None:
    """Print a note where only other runs than the selected one have the program."""
    program, run = values.get("program"), values.get("run")
    if program is None or not any(p.name == "run" for p in query.parameters):
        return
    selected = run_query(connection, "selected_run", {"run": run}).dicts()
    holders = [
        name
        for (name,) in run_composed(
            connection,
            "SELECT o.run FROM run_order() AS o JOIN modules AS m USING (run_id)"
            " WHERE m.program = $program GROUP BY o.run, o.place ORDER BY o.place",
            {"program": program},
        )
    ]
    if holders and selected and selected[0]["run"] not in holders:
        narrate(
            f"run {selected[0]['run']} has no program {program!r};"
            f" the latest run with it: `-p run={holders[0]}`"
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
            f"run {run} was pruned on {day}: only its metrics are left; ingest it again"
            " for the details"
        )


def _list(
    catalogue: Catalogue, form: str, output: Path | None, everything: bool
) -> None:
    if form == "table" and output is None and not is_bounded():
        click.echo(catalogue_listing(catalogue, everything=everything))
    elif form == "json" and output is None and not is_bounded():
        click.echo(json_text(catalogue_objects(catalogue), indent=1))
    else:
        names = ("group", "name", "title", "question")
        columns = tuple(plain_column(n, "VARCHAR") for n in names)
        rows = [(q.group, q.name, q.title, q.question) for q in catalogue.values()]
        write_result(Result(columns, rows), form, output)


def _find(catalogue: Catalogue, question: str, form: str, output: Path | None) -> None:
    """Write the queries that fit a question, or raise UsageError where none does."""
    found = find_queries(catalogue, question)
    if not found:
        raise UsageError(
            f"no query fits {question!r}; `hlodb query` lists them all, and `hlodb"
            " schema` what `hlodb sql` can be asked"
        )
    columns = tuple(plain_column(n, "VARCHAR") for n in ("name", "title", "question"))
    rows = [(query.name, query.title, query.question) for query in found]
    write_result(Result(columns, rows), form, output)


def _lint(folders: tuple[Path, ...]) -> int:
    count, faults = lint_queries(folders)
    for fault in faults:
        click.echo(fault, err=True)
    queries = "1 query" if count == 1 else f"{count} queries"
    click.echo(f"{queries}, {counted(len(faults), 'fault')}")
    return UsageError.exit_code if faults else 0
