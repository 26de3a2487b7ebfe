"""The command line: finds commands, and turns every failure into an exit code.

0 done · 1 a gate failed · 2 usage · 3 data quality · 4 nothing to compare ·
5 warehouse locked or of a newer schema · 70 internal error · 130 interrupted ·
141 the reader of the output is gone
"""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from hlodb.errors import HlodbError, UsageError
from hlodb.terminal.narration import Narrator, narrate, with_named_db
from hlodb.terminal.standard_streams import ReaderGone, watched_streams
from hlodb.version import __version__
from hlodb.without_pandas import keep_pandas_out

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "explain": "Explain what fills the memory of a dump, and what to do.",
    "fit": "Find the largest batch, sequence or width that fits.",
    "replay": "Compile the programs of a dump again, and compare.",
    "ingest": "Read dumps into the warehouse.",
    "query": "Run a canned query, or list the queries.",
    "sql": "Run your own SQL, read-only.",
    "mcp": "Serve the warehouse to assistants.",
    "skill": "Install instructions for assistants.",
    "schema": "Show the tables of the warehouse, their columns and units.",
    "runs": "List the runs in the warehouse.",
    "modules": "List the modules of a run.",
    "check": "Check the data, and compare it with XLA's own numbers.",
    "diff": "Show what changed between two runs, and why.",
    "report": "Compare a run with its base, and apply the gates.",
    "site": "Write a static site of the warehouse.",
    "export": "Write a program for Perfetto, speedscope or flamegraph.pl.",
    "triage": "List findings, or record a decision.",
    "rm": "Delete runs and the data only they use.",
    "prune": "Delete the details of old runs, keep their metrics.",
    "compact": "Rewrite the warehouse without unused space.",
    "backup": "Copy the warehouse consistently.",
    "lake": "Keep a warehouse as Parquet files that many processes write.",
    "migrate": "Update a warehouse of an older hlodb.",
}
"""Every command, with its one line of help; `hlodb/commands/NAME.py` holds `command`.

They are loaded by name, when needed: `hlodb --help` loads none of them.
"""

INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

_EXTRA = re.compile(r"Got unexpected extra argument \((\S+)\)")

_NO_MEMORY = (
    "out of memory: allow more, or pass fewer --jobs. Stored data is complete;"
    " ingest again for the rest"
)


class _Commands(click.Group):
    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return commands and options without loading any command."""
        from click.shell_completion import CompletionItem

        options = click.Command.shell_complete(self, ctx, incomplete)
        return [
            *(
                CompletionItem(name, help=text)
                for name, text in COMMANDS.items()
                if name.startswith(incomplete)
            ),
            *options,
        ]

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; commands in its errors name the warehouse that it has."""
        try:
            return super().invoke(ctx)
        except HlodbError as error:
            error.args = (with_named_db(str(error)), *error.args[1:])
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            # For mistakes only.
            from hlodb.text import nearest

            hint = _query_hint(cmd_name) or nearest(cmd_name, COMMANDS)
            hint = hint or "; `hlodb --help` lists them"
            raise UsageError(f"there is no command {cmd_name!r}{hint}")
        found: click.Command = import_module(f"hlodb.commands.{cmd_name}").command
        return found

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _query_hint(name: str) -> str:
    """Return a hint where `name` is, or nearly is, the name of a query."""
    from hlodb.queries.catalogue import load_catalogue
    from hlodb.text import nearest

    catalogue = load_catalogue()
    if name in catalogue:
        return f"; did you mean `hlodb query {name}`?"
    if nearest(name, COMMANDS) or not (hint := nearest(name, catalogue)):
        return ""
    query = hint.removeprefix("; did you mean ").removesuffix("?")
    return f"; did you mean `hlodb query {query}`?"


def _set_db(context: click.Context, _: click.Parameter, db: str | None) -> None:
    context.obj = db  # Which click hands on to the command.


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with `hlodb explain DIR`, where XLA_FLAGS=--xla_dump_to=DIR wrote a"
    " dump. `hlodb ingest DIR` stores it; then `hlodb query` lists questions. The"
    " warehouse is the file --db, else $HLODB_DB, else hlodb.duckdb in the current"
    " directory.",
)
@click.option(
    "--db",
    metavar="FILE",
    expose_value=False,
    callback=_set_db,
    help="The warehouse; also accepted after the command.",
)
@click.version_option(__version__, message="hlodb %(version)s")
def cli() -> None:
    """Store XLA compiler dumps in one DuckDB file, the warehouse, and query them."""


def run() -> NoReturn:
    """Run the process: carry out its arguments, and exit with their code."""
    # Idle threads of numpy's linear algebra, which hlodb does not use, spin at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_pandas_out()
    with watched_streams():
        code = main()
    # All objects go with the process; looking for cycles among them takes long.
    # DuckDB 2 complains of what would have been found.
    duckdb = sys.modules.get("_duckdb")
    if duckdb is None or duckdb.__version__.startswith("1."):
        gc.freeze()
    sys.exit(code)


def main(
    arguments: Sequence[str] | None = None,
    *,
    group: click.Group = cli,
    name: str = "hlodb",
) -> int:
    """Run one command of a group and give the exit code of the process."""
    logging.lastResort = Narrator(logging.WARNING)
    if "_HLODB_COMPLETE" in os.environ:
        # Loaded when a shell asks.
        from hlodb.commands.completion import register

        register()
    try:
        code = group.main(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except HlodbError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _complain(_in_our_style(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except ReaderGone:
        return BROKEN_PIPE
    except MemoryError:
        return _complain(_NO_MEMORY, INTERNAL_ERROR)
    except Exception as error:
        # DuckDB reports Ctrl-C during a query this way.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _complain("interrupted", INTERRUPTED)
        return _complain_of_bug(error)
    return code if isinstance(code, int) else 0


def _in_our_style(error: click.ClickException) -> str:
    """Return what click found wrong as one line, with the help that explains it."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        near = " or ".join(sorted(error.possibilities))
        message = f"{error.message.rstrip('.')} (did you mean {near}?)"
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and _writes_pages(context, error):
        message = "no such option '--write': pass --format html -o FILE"
    help_ = f"; see `{context.command_path} --help`" if context else ""
    extra = _EXTRA.match(message)
    if extra and context and any("--run" in p.opts for p in context.command.params):
        message = f"unexpected argument {extra[1]} (did you mean --run {extra[1]}?)"
    return f"{message[:1].lower()}{message[1:]}{help_}"


def _writes_pages(context: click.Context | None, error: click.NoSuchOption) -> bool:
    """Return whether a command has pages, and was asked for one as a report is."""
    if context is None or error.option_name != "--write":
        return False
    choices = (getattr(p.type, "choices", ()) for p in context.command.params)
    return any("html" in each for each in choices)


def _complain(message: str, exit_code: int) -> int:
    narrate(*message.split("\n"))
    return exit_code


def _complain_of_bug(error: Exception) -> int:
    # A failed nightly job cannot be repeated: the traceback is kept.
    import shlex
    import tempfile
    import traceback

    shown = "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace",
            prefix="hlodb-", suffix=".traceback", delete=False,
        ) as file:  # fmt: skip
            file.write(f"hlodb {__version__}: {shlex.join(sys.argv)}\n{shown}")
        where = f"where: {file.name}"
    except OSError:
        where = shown
    message = f"internal error: {type(error).__name__}: {error}"
    report = "this is a fault of hlodb: please report it, with that, to its makers"
    return _complain(f"{message}\n{where}\n{report}", INTERNAL_ERROR)
