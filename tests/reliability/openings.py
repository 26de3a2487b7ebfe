"""Commands in one process, watched for a second descriptor of the warehouse.

Closing any descriptor of a file drops the locks that DuckDB holds on it, so while a
connection is open nothing may open the warehouse or its log again:
`python -m tests.reliability.openings FOLDER REPORT COMMANDS` writes a line to REPORT
for each time that happened, with where. COMMANDS is a JSON list of argument lists; the
warehouse is FOLDER/w.duckdb. Output is a JSON list of exit codes.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hlodb.cli import main
from hlodb.schema import limits


def descriptors(path: Path) -> int:
    """Return how many descriptors of `path` this process has."""
    count = 0
    with os.scandir("/proc/self/fd") as entries:
        for entry in entries:
            with suppress(OSError):  # The descriptor of the scan itself is gone by now.
                count += os.readlink(entry.path) == str(path)
    return count


def watch(database: Path, report: Path) -> None:
    """Write to `report` whenever the warehouse has, or is about to have, a second one.

    It holds for forked processes, too.
    """
    database = database.resolve()
    watched = {str(database), f"{database}.wal"}
    log = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(what: str) -> None:
        stack = "".join(traceback.format_stack(limit=12))
        os.write(log, f"{what} in {' '.join(sys.argv)}\n{stack}\n".encode())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        name = os.path.realpath(os.fsdecode(arguments[0]))
        if name in watched and descriptors(database):
            write(f"{name} is opened beside a connection")

    def counted(opened: Callable[..., Any]) -> Callable[..., Any]:
        def open_database(*values: Any, **options: Any) -> Any:
            connection = opened(*values, **options)
            if descriptors(database) > 1:
                write(f"{database} has a second descriptor")
            return connection

        return open_database

    sys.addaudithook(hook)
    opened = vars(limits)["open_database"]
    setattr(limits, "open_database", counted(opened))  # noqa: B010


def run(folder: Path, report: Path, commands: Sequence[Sequence[str]]) -> list[int]:
    """Run commands of the command line in this process; return their exit codes."""
    watch(folder / "w.duckdb", report)
    os.environ["HLODB_DB"] = str(folder / "w.duckdb")
    os.chdir(folder)
    return [main(command) for command in commands]


if __name__ == "__main__":
    sys.stdout, output = sys.stderr, sys.stdout
    codes = run(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
    print(json.dumps(codes), file=output)
