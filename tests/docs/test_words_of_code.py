"""Plain words in code: no phrase of a dialect of our own."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PHRASES = {
    "held against": "compared with",
    "told from": "distinguished from",
    "(?:is|are|was) told of": "is reported",
    "stands? twice": "duplicated",
    "ha(?:s|ve) for (?:itself|themselves)": "scoped memory",
    "nobody decided": "not triaged",
    "these there are": "`hlodb runs` lists the runs",
    "whose it is": "likely cause",
    "content numbers?": "surrogate key",
    "special memory": "memory space",
    "what only updates read": "optimiser state",
    "goes? into an output": "aliased with an output (donated)",
    "that is in already": "already ingested",
    "chosen runs?": "selected runs",
    "what only they used": "the data only they use",
    "what programs are called": "naming of compiled programs",
}
"""What not to write, and what to write instead."""

OPENINGS = {"Give", "Gives", "Tell", "Tells", "Say", "Says"}
"""Imperatives that say less than Return, Yield, Read or List."""

FOUND = re.compile("|".join(f"(?P<p{i}>{p})" for i, p in enumerate(PHRASES)), re.I)
_JOINT = re.compile(r"\s*\n\s*(?:#|--|//|>)?\s*|[\"']\s*\n\s*f?[\"']")


def joined(text: str) -> str:
    """Return a text on one line, comments and adjacent strings put together."""
    return " ".join(_JOINT.sub(" ", text).split())


def texts() -> Iterator[Path]:
    """Yield our own code and queries; no data and no gold results."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py", "*.sql", "*.toml", "*.yml", "*.sh"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in listed.rstrip("\0").split("\0"):
        path = ROOT / name
        is_data = "/data/" in name or "/gold" in name
        if path.exists() and not is_data and not path.name.startswith("test_words"):
            yield path


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_texts_use_the_terms_of_the_field() -> None:
    faults = []
    for path in texts():
        text = joined(path.read_text(encoding="utf-8"))
        for match in FOUND.finditer(text):
            better = [*PHRASES.values()][int((match.lastgroup or "p0")[1:])]
            name = path.relative_to(ROOT)
            faults.append(f"{name}: {match[0]!r}: write {better!r}")
    assert faults == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_docstrings_open_with_a_telling_verb() -> None:
    """Ruff's D401 takes any imperative."""
    faults = []
    for path in texts():
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    first = (ast.get_docstring(node) or " ").split(maxsplit=1)[:1]
                    if OPENINGS & {*first}:
                        faults.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert faults == []


def test_a_phrase_is_found_across_lines() -> None:
    text = joined('"it is held "\n    "against that"\n# rows stand\n# twice')
    assert [match[0] for match in FOUND.finditer(text)] == [
        "held against",
        "stand twice",
    ]
