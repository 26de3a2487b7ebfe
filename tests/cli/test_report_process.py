"""`hlodb report` as a schedule calls it: a process of its own, on real dumps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from tests.cli.nights import held_open
from tests.conftest import DATA, REPOSITORY

DUMPS = DATA / "changes" / "donation"
NAME = "module_0000.jit_update.cpu_after_optimizations-buffer-assignment.txt"

FLOOR = '[floors]\nbytes = "1 KiB"\n'
ONLY_BUDGETS = "[gates]\nregression = false\ndonation_loss = false\n"
BUDGET = '[[budget]]\nprogram = "jit_update"\nspace = "host"\nbytes = "200 KiB"\n'
WAIVER = """
[[waiver]]
program = "jit_update"
owner = "training"
reason = "donated again with the next release"
until = 2099-01-01
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "hlodb", *arguments]


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HLODB")}
    path = os.pathsep.join([str(REPOSITORY), kept.get("PYTHONPATH", "")])
    return {**kept, "PYTHONPATH": path, "HLODB_LOCK_TIMEOUT": "0"}


def code_of(folder: Path, *arguments: str) -> int:
    call = command("report", *arguments)
    options = {"cwd": folder, "env": environment(), "capture_output": True}
    return subprocess.run(call, **options).returncode  # type: ignore[call-overload,no-any-return]


def take_in(folder: Path, dumps: Sequence[Path]) -> None:
    for number, dump in enumerate(dumps, 1):
        request = RunRequest(name=f"night-{number}")
        ingest([str(dump)], folder / "hlodb.duckdb", request=request, jobs=1)


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    take_in(tmp_path, [DUMPS / "base", DUMPS / "dropped"])
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "arguments", "code"),
    [
        ("", [], 0),
        (FLOOR, [], 1),
        (FLOOR + WAIVER, [], 0),
        (FLOOR + WAIVER, ["--today", "2099-01-01"], 1),
        (FLOOR, ["--baseline", "night-2"], 0),
        (ONLY_BUDGETS, [], 0),
        (ONLY_BUDGETS + BUDGET, [], 1),
        (ONLY_BUDGETS + BUDGET + WAIVER, [], 0),
        (BUDGET.replace("space", "place"), [], 2),
        ("", ["--baseline", "night-9"], 2),
        ("", ["--run", "night-1"], 0),
        ("", ["--series", "weekly"], 4),
    ],
)
def test_the_exit_code(
    nights: Path, settings: str, arguments: list[str], code: int
) -> None:
    (nights / "hlodb.toml").write_text(settings)
    assert code_of(nights, *arguments) == code


@pytest.mark.slow
def test_a_dump_that_was_cut_off(tmp_path: Path) -> None:
    shutil.copytree(DUMPS / "dropped", tmp_path / "cut")
    text = (DUMPS / "dropped" / NAME).read_text()
    (tmp_path / "cut" / NAME).write_text(text[: len(text) // 2])
    take_in(tmp_path, [DUMPS / "base", tmp_path / "cut"])
    assert code_of(tmp_path) == 3
    assert code_of(tmp_path, "--warn-only") == 0


def test_somebody_writes(nights: Path) -> None:
    with held_open(nights / "hlodb.duckdb"):
        assert code_of(nights) == 5


@pytest.mark.slow
def test_two_schedulers_at_once(nights: Path) -> None:
    (nights / "hlodb.toml").write_text(FLOOR)
    together = {**environment(), "HLODB_LOCK_TIMEOUT": "60"}
    pipe = subprocess.PIPE
    both = [
        subprocess.Popen(command("report"), cwd=nights, env=together, stdout=pipe)
        for _ in range(2)
    ]
    texts = {process.communicate()[0] for process in both}
    assert (len(texts), [process.returncode for process in both]) == (1, [1, 1])
    with duckdb.connect(str(nights / "hlodb.duckdb"), read_only=True) as connection:
        rows = connection.execute(
            "SELECT f.program, count(*) FROM findings AS f"
            " JOIN finding_events USING (finding_id) GROUP BY ALL"
        ).fetchall()
    assert rows == [("jit_update", 1)]
