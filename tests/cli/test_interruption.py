"""Ctrl-C ends a command, also in the midst of a query that would take hours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENDLESS = (
    "SELECT count(*) FROM instructions AS a, instructions AS b, instructions AS c"
    " WHERE a.name < b.shape AND b.shape < c.name"
)
# The signal is sent once all is loaded, and then at any moment of the command. What
# runs in the background of a shell would ignore it.
SCRIPT = """
import os, signal, threading
from hlodb.cli import run
import hlodb.commands.sql
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
run()
"""
WRITING = f"""
import os, signal, threading
from hlodb.schema.warehouse import transaction
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
with transaction(os.environ["HLODB_DB"]) as connection:
    connection.execute("CREATE TABLE found AS {ENDLESS}")
"""


def interrupted(
    script: str, db: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "HLODB_DB": str(db)},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
def test_a_query(demo_warehouse: Path) -> None:
    done = interrupted(SCRIPT, demo_warehouse, "sql", ENDLESS)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "hlodb: interrupted\n"


@pytest.mark.slow
def test_a_transaction(demo_warehouse: Path) -> None:
    assert "KeyboardInterrupt" in interrupted(WRITING, demo_warehouse).stderr
