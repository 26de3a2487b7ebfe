"""Completion in bash, zsh and fish: queries, parameters, runs, programs, series.

What the warehouse holds is read for each request. Where it is missing or locked nothing
is suggested, and nothing is printed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    split_arg_string,
)

from hlodb.errors import HlodbError
from hlodb.printed_commands import default_db

if TYPE_CHECKING:
    from hlodb.queries.catalogue import Catalogue

VARIABLE = "_HLODB_COMPLETE"
"""The variable by which a shell asks for completions, or for its script."""

Items = list[CompletionItem[str]]

# Readline completes the part of a word behind its last break, `=` or `:`: click's own
# script neither joins such parts nor leaves them out of the answers.
_BASH = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case "$type" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                [[ "$value" == *= ]] && compopt -o nospace
                COMPREPLY+=("$(printf %%q "$value")")
                ;;
        esac
    done < <(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" \\
        COMP_WORDBREAKS="$COMP_WORDBREAKS" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Completion for bash that knows words with `=` and `:` in them."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)
        incomplete = "" if line[-1:].isspace() or not words else words.pop()
        self._typed = _up_to_break(incomplete)
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{item.type},{item.value.removeprefix(self._typed)}"


def _up_to_break(word: str) -> str:
    """Return the part of a word that readline does not replace."""
    breaks = set(os.environ.get("COMP_WORDBREAKS", "=:")) & {"=", ":"}
    places = [i for i, character in enumerate(word) if character in breaks]
    return word[: places[-1] + 1] if places else ""


def register() -> None:
    """Let click answer bash by these rules."""
    add_completion_class(_Bash)


def complete_queries(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Items:
    """Return the names of queries, with their titles."""
    return [
        CompletionItem(query.name, help=query.title)
        for query in _catalogue(context).values()
        if query.name.startswith(incomplete)
    ]


def complete_assignments(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Items:
    """Return `parameter=`, or behind the equals sign the values of that parameter."""
    # Behind a bare `-p` click leaves the name among the arguments it did not parse.
    catalogue = _catalogue(context)
    words = (context.params.get("name"), *context.args)
    found = (catalogue.get(word) for word in words if word)
    query = next((query for query in found if query), None)
    if query is None:
        return []
    name, equals, _begun = incomplete.partition("=")
    if not equals:
        heads = [CompletionItem(f"{p.name}=", help=p.doc) for p in query.parameters]
        return [item for item in heads if item.value.startswith(incomplete)]
    parameter = next((p for p in query.parameters if p.name == name), None)
    if parameter is None:
        return []
    values: Iterable[str] = parameter.choices
    if parameter.source is not None:
        table, column = parameter.source
        values = _read(context, f'SELECT DISTINCT "{column}" FROM "{table}"')
    elif parameter.type == "BOOLEAN":
        values = ("true", "false")
    return _matching((f"{name}={value}" for value in values), incomplete)


def complete_query_values(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> Items:
    """Return the programs that may follow a query's name."""
    if "=" in incomplete:
        return complete_assignments(context, parameter, incomplete)
    return complete_programs(context, parameter, incomplete)


def complete_programs(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Items:
    """Return the names of programs."""
    return _matching(_read(context, _PROGRAMS), incomplete)


def complete_runs(context: click.Context, _: click.Parameter, incomplete: str) -> Items:
    """Return the names of runs, the latest first."""
    return _matching(_read(context, _RUNS), incomplete)


def complete_series(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Items:
    """Return the names of series."""
    return _matching(_read(context, _SERIES), incomplete)


def complete_sides(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Items:
    """Return runs, and RUN:PROGRAM for a run that is complete."""
    runs = _read(context, _RUNS)
    run = next((run for run in runs if incomplete.startswith(f"{run}:")), None)
    if run is None:
        return _matching(runs, incomplete)
    programs = _read(context, _PROGRAMS_OF_A_RUN, [run])
    return _matching((f"{run}:{program}" for program in programs), incomplete)


_RUNS = "SELECT name FROM runs ORDER BY started_at DESC NULLS LAST, name DESC"
_SERIES = "SELECT DISTINCT series FROM runs WHERE series IS NOT NULL ORDER BY ALL"
_PROGRAMS = "SELECT DISTINCT program FROM modules ORDER BY ALL"
_PROGRAMS_OF_A_RUN = (
    "SELECT DISTINCT program FROM modules WHERE run_id IN"
    " (SELECT run_id FROM runs WHERE name = ?) ORDER BY ALL"
)


def _matching(values: Iterable[str], incomplete: str) -> Items:
    return [CompletionItem(v) for v in values if v.startswith(incomplete)]


def _catalogue(context: click.Context) -> Catalogue:
    from hlodb.queries.catalogue import load_catalogue

    try:
        return load_catalogue(context.params.get("folders") or ())
    except HlodbError:
        return {}


def _read(
    context: click.Context, sql: str, parameters: Sequence[str] = ()
) -> list[str]:
    """Return the first column of a statement; nothing where it cannot be read."""
    from hlodb.lake.opening import reading
    from hlodb.schema.connection import DatabaseError

    os.environ["HLODB_LOCK_TIMEOUT"] = "0"
    try:
        with reading(_warehouse(context)) as connection:
            rows = connection.execute(sql, [*parameters]).fetchall()
    except (HlodbError, DatabaseError, OSError):
        return []
    return [str(value) for (value,) in rows]


def _warehouse(context: click.Context) -> Path:
    given = context.params.get("db") or context.obj
    return Path(given or default_db())
