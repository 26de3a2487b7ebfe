"""The command line: finds commands, turns every failure into its exit code.

0 done · 1 a gate failed · 2 usage · 3 data quality · 4 nothing to compare ·
5 warehouse locked or of a newer schema · 70 internal error · 130 interrupted ·
141 whoever read the output is gone
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from hlodb.commands.narration import Narrator, narrate
from hlodb.commands.standard_streams import ReaderGone, watched_streams
from hlodb.errors import HlodbError, UsageError
from hlodb.version import __version__
from hlodb.without_pandas import keep_pandas_out

COMMANDS = {
    "ingest": "Bring dumps into the warehouse.",
    "query": "Answer a canned question, or list all of them.",
    "sql": "Run SQL of your own, read-only.",
    "schema": "Show the tables of the warehouse, their columns and units.",
    "runs": "List the runs in the warehouse.",
    "modules": "List the modules of a run.",
    "check": "Check that the data is sound and agrees with XLA's own numbers.",
    "diff": "Say what changed between two runs, and why.",
    "report": "Say whether a run is worse than its base, and whether that is allowed.",
    "triage": "List findings, or decide about one.",
    "rm": "Forget runs, and what only they used.",
    "prune": "Delete the details of old runs, keep their metrics.",
    "compact": "Write the warehouse anew, without what is unused in it.",
    "backup": "Copy the warehouse, consistently.",
    "migrate": "Bring a warehouse of an older hlodb up to date.",
}
"""Every command, with its one line of help; `hlodb/commands/NAME.py` holds `command`.

They are loaded by name, when needed: `hlodb --help` loads none of them.
"""

INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

_NO_MEMORY = (
    "memory ran out: give it more, or try fewer --jobs. What is stored is whole, and"
    " ingesting again completes it"
)


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            # For mistakes only.
            from hlodb.text import nearest

            hint = nearest(cmd_name, COMMANDS) or "; `hlodb --help` lists them"
            raise UsageError(f"there is no command {cmd_name!r}{hint}")
        found: click.Command = import_module(f"hlodb.commands.{cmd_name}").command
        return found

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="The warehouse is --db FILE, else $HLODB_DB, else hlodb.duckdb here.",
)
@click.version_option(__version__, message="hlodb %(version)s")
def cli() -> None:
    """XLA compiler dumps of many runs as one DuckDB warehouse."""


def run() -> NoReturn:
    """Be the whole process: carry out its arguments, and end it with their code."""
    # Numpy is not asked for linear algebra, and idle threads for it spin at first.
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give the exit code of the process."""
    logging.lastResort = Narrator(logging.WARNING)
    try:
        code = cli.main(arguments, prog_name="hlodb", standalone_mode=False)
        sys.stdout.flush()
    except HlodbError as error:
        return _complain(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except ReaderGone:
        return BROKEN_PIPE
    except MemoryError:
        return _complain(_NO_MEMORY, INTERNAL_ERROR)
    except Exception as error:
        # As DuckDB tells of Ctrl-C in the midst of a query.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _complain("interrupted", INTERRUPTED)
        return _complain_of_bug(error)
    return code if isinstance(code, int) else 0


def _complain(message: str, exit_code: int) -> int:
    narrate(*message.split("\n"))
    return exit_code


def _complain_of_bug(error: Exception) -> int:
    # A night that failed can't be had again: what happened is kept.
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
    return _complain(f"{message}\n{where}", INTERNAL_ERROR)
