"""Ask an assistant the questions, and print a table of how it did.

    python -m bench.agents --agent CMD [--arm ARM]… [--runs 3] [--only GROUP]

CMD is a shell command that reads a task from its standard input, works in the current
folder, and prints its answer; the last line is `ANSWER: …`. Arms: `shell` has the dumps
alone, `cli` the command hlodb and a warehouse, `skill` also the skill, `mcp` the skill
and the server of tools, whose settings are in `mcp.json` of the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.agents.arithmetic import ROOT
from bench.agents.grading import answer_in, is_right
from bench.agents.questions import CPU, DONATION, EDITS, LOGS, SIZES, V5E, Question
from bench.agents.questions import questions as all_questions
from bench.agents.warehouse import RELEASES, REPORTS, make_warehouse

ARMS = ("shell", "cli", "skill", "mcp")
_SKILL = ROOT / "hlodb" / "skill"
_DB = "warehouse.duckdb"

TASK = """\
Answer one question about the memory of programs that XLA compiled.
{means}
Names of runs are as the question gives them. Give the figure exactly; if the data does
not allow an answer, the answer is unknown. End with one line: ANSWER: …

Question: {question}
"""
MEANS = {
    "shell": "The folder dumps has the dumps and logs, an archive or folder for a run.",
    "cli": f"The command hlodb is there; the runs are in the warehouse {_DB}.",
    "skill": f"The command hlodb is there; the runs are in the warehouse {_DB}. Read"
    " skills/hlodb/SKILL.md first.",
    "mcp": f"The tools of the server hlodb are there (mcp.json); the runs are in the"
    f" warehouse {_DB}. Read skills/hlodb/SKILL.md first.",
}


class Outcome(NamedTuple):
    """One attempt; calls and characters are None where nothing counts them."""

    arm: str
    question: str
    group: str
    is_right: bool
    answer: str | None
    calls: int | None
    characters: int | None
    seconds: float


def prepare(folder: Path, arm: str, db: Path | None) -> dict[str, str]:
    """Fill the folder of an arm, and return the environment of the assistant."""
    environment = {**os.environ, "AGENTS_LOG": str(folder / "calls.jsonl")}
    if arm == "shell":
        _copy_dumps(folder / "dumps")
        return environment
    assert db is not None
    shutil.copy(db, folder / _DB)
    tools = folder / "bin"
    tools.mkdir()
    program = f'#!/bin/sh\nexec {sys.executable} {ROOT}/bench/agents/counted.py "$@"\n'
    (tools / "hlodb").write_text(program)
    (tools / "hlodb").chmod(0o755)
    environment |= {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HLODB_DB": str(folder / _DB),
    }
    if arm in ("skill", "mcp"):
        shutil.copytree(_SKILL, folder / "skills" / "hlodb")
    if arm == "mcp":
        arguments = ["mcp", "--db", str(folder / _DB)]
        server = {"command": str(tools / "hlodb"), "args": arguments}
        settings = {"mcpServers": {"hlodb": server}}
        (folder / "mcp.json").write_text(json.dumps(settings, indent=1))
    return environment


def _copy_dumps(folder: Path) -> None:
    folder.mkdir()
    archives = [CPU.format(release) for release in RELEASES]
    archives += [V5E, *SIZES.values(), *EDITS.values()]
    archives += [DONATION.format(name) for name in ("base", "dropped")]
    archives += [f"{LOGS}/{name}.log" for name in REPORTS]
    for archive in archives:
        parts = Path(archive).parts
        shutil.copy(ROOT / archive, folder / "-".join(parts[-2:]))


def attempt(
    agent: str, arm: str, question: Question, db: Path | None, limit: float
) -> Outcome:
    """Let the assistant answer one question in a new folder."""
    with TemporaryDirectory(prefix="hlodb-agents-") as name:
        folder = Path(name)
        environment = prepare(folder, arm, db)
        task = TASK.format(means=MEANS[arm], question=question.text)
        start = time.monotonic()
        try:
            output = subprocess.run(
                agent,
                shell=True,
                cwd=folder,
                env=environment,
                input=task,
                stdout=subprocess.PIPE,
                text=True,
                timeout=limit,
            ).stdout
        except subprocess.TimeoutExpired:
            output = ""
        seconds = time.monotonic() - start
        log = folder / "calls.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
    counts = [json.loads(line)["characters"] for line in lines]
    answer = answer_in(output)
    return Outcome(
        arm,
        question.id,
        question.group,
        is_right(question.kind, question.truth(), answer),
        answer,
        None if arm == "shell" else len(counts),
        None if arm == "shell" else sum(counts),
        seconds,
    )


def table(outcomes: Sequence[Outcome], arms: Iterable[str]) -> str:
    """Return the score, and medians of the rest, of each arm as Markdown."""
    lines = [
        "| arm | right | of | calls | characters | seconds |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for arm in arms:
        own = [outcome for outcome in outcomes if outcome.arm == arm]
        calls = _median([o.calls for o in own if o.calls is not None])
        characters = _median([o.characters for o in own if o.characters is not None])
        seconds = _median([o.seconds for o in own])
        right = sum(outcome.is_right for outcome in own)
        lines.append(
            f"| {arm} | {right} | {len(own)} | {calls} | {characters} | {seconds} |"
        )
    return "\n".join(lines)


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):,.0f}" if values else "-"


def main() -> None:
    """Ask every question in every arm, and print a line for each and the table."""
    parser = argparse.ArgumentParser("python -m bench.agents", description=__doc__)
    parser.add_argument("--agent", required=True, metavar="CMD")
    parser.add_argument("--arm", action="append", choices=ARMS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", metavar="GROUP", help="a group, or an id")
    parser.add_argument("--seconds", type=float, default=900)
    given = parser.parse_args()
    arms = given.arm or ARMS
    asked = [q for q in all_questions() if given.only in (None, q.group, q.id)]
    outcomes = []
    with TemporaryDirectory(prefix="hlodb-agents-") as folder:
        db = Path(folder) / _DB
        if set(arms) != {"shell"}:
            make_warehouse(db)
        for arm in arms:
            for question in asked:
                for _ in range(given.runs):
                    outcome = attempt(given.agent, arm, question, db, given.seconds)
                    outcomes.append(outcome)
                    print(json.dumps(outcome._asdict()), flush=True)
    print(table(outcomes, arms))


if __name__ == "__main__":
    main()
