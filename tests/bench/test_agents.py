"""Questions for assistants: each has a short scripted way to its answer."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.agents.__main__ import ARMS, attempt, table
from bench.agents.grading import answer_in, is_right
from bench.agents.questions import Question, Truth, questions
from bench.agents.warehouse import make_warehouse
from hlodb.mcp.protocol import Call, Fields
from hlodb.mcp.service import Answers
from hlodb.mcp.session import Session
from tests.conftest import Made

MOST_CALLS = 4
MOST_CHARACTERS = 12_000

QUESTIONS = {question.id: question for question in questions()}
SAMPLE = {
    next(q.id for q in questions() if q.group == g)
    for g in ("peak", "causes", "out of memory", "donation", "fit", "refusals")
}

Ask = Callable[[Question], tuple[Truth, int]]


@pytest.fixture(scope="module")
def db(made: Made) -> Path:
    return made("agents", make_warehouse)


@pytest.fixture(scope="module")
def scripted(db: Path) -> Ask:
    """Return the answer of a scripted path, and the characters that it reads."""
    service = Answers(Session(db))

    def ask(question: Question) -> tuple[Truth, int]:
        answers: list[Fields] = []
        for tool, arguments in question.path:
            call = Call()
            answers.append(service.call(tool, arguments, call))
            call.end()
        text = json.dumps(answers, ensure_ascii=False, default=str)
        return question.pick(answers), len(text)

    return ask


def test_the_questions_are_of_every_kind() -> None:
    assert Counter(question.group for question in questions()) == {
        "peak": 10,
        "causes": 8,
        "out of memory": 6,
        "fragmentation": 6,
        "donation": 4,
        "fit": 4,
        "refusals": 2,
    }
    assert len(QUESTIONS) == 40


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in SAMPLE else pytest.mark.slow)
        for name in QUESTIONS
    ],
)
def test_a_scripted_path_answers(scripted: Ask, name: str) -> None:
    question = QUESTIONS[name]
    found, characters = scripted(question)
    truth = question.truth()
    assert found == truth or (isinstance(truth, tuple) and found in truth)
    assert is_right(question.kind, truth, str(found))
    assert len(question.path) <= MOST_CALLS
    assert characters <= MOST_CHARACTERS


@pytest.mark.parametrize(
    ("kind", "truth", "answer", "right"),
    [
        ("number", 26839405, "26839405", True),
        ("number", 26839405, "26,839,405 bytes", True),
        ("number", 26839405, "**25.6 MiB**", True),
        ("number", 26839405, "26.84 MB", True),
        ("number", 26839405, "25 MiB", False),
        ("number", 26839405, "26839405 or 25600000", False),
        ("number", 26839405, "unknown", False),
        ("number", -4658625, "\u22124.44 MiB", True),
        ("number", -4658625, "4658625", False),
        ("number", 0, "0", True),
        ("name", "jit_cnn", "`jit_cnn`", True),
        ("name", "jit_cnn", "jit_cnn_2", False),
        ("line", "zoo.py:56", "/opt/programs/zoo.py:56", True),
        ("line", ("a.py:1", "a.py:2"), "a.py, line 2", True),
        ("line", "zoo.py:56", "zoo.py:5", False),
        ("line", "zoo.py:56", "line 56", False),
        ("unknown", "unknown", "unknown: the dump is cut", True),
        ("unknown", "unknown", "294912", False),
        ("number", 1, None, False),
    ],
)
def test_grades(kind: str, truth: Truth, answer: str | None, right: bool) -> None:
    assert is_right(kind, truth, answer) == right  # type: ignore[arg-type]


def test_the_last_answer_counts() -> None:
    assert answer_in("ANSWER: 1\nno:\n**ANSWER:** 2 MiB") == "2 MiB"
    assert answer_in("It is 5.") is None


AGENT = """
import json, subprocess, sys
task = sys.stdin.read()
columns = ["--columns", "space_name,reserved_bytes", "--format", "compact"]
done = subprocess.run(
    ["hlodb", "query", "peak_by_space", "-p", "run=jaxlib-0.5.3", "-p",
     "program=jit_cnn", *columns], stdout=subprocess.PIPE, check=True)
print("ANSWER:", json.loads(done.stdout)["rows"][0][1])
"""


def test_the_harness_counts_and_grades(db: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    question = QUESTIONS["peak-jaxlib-0.5.3-jit_cnn-host-reserved_bytes"]
    command = f"{sys.executable} {agent}"
    found = attempt(command, "skill", question, db, 300)
    assert (found.is_right, found.calls) == (True, 1)
    assert found.characters is not None and 0 < found.characters < 1_000
    silent = attempt("true", "shell", question, None, 300)
    assert (silent.is_right, silent.answer, silent.calls) == (False, None, None)
    lines = table([found, silent], ARMS).splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {a}" for a in ARMS]
