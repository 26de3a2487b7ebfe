"""README and guides: every command runs, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.report_pictures import FOLDER, pictures
from docs.transcripts import (
    ROOT,
    commands,
    make_demo,
    pages,
    prepare,
    python_blocks,
    renewed,
    run_python,
)
from tests.conftest import Made

PAGES = pages()
MOST_WORDS = 14_000
_MEASURED = re.compile(r"<!-- (\w+) -->.*?<!-- /\1 -->", re.DOTALL)
"""A table that a long run writes."""
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def demo(made: Made) -> Path:
    return made("demo_series", make_demo)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_outputs_are_what_the_commands_print(
    page: Path, demo: Path, tmp_path: Path
) -> None:
    prepare(tmp_path, demo)
    text = page.read_text(encoding="utf-8")
    assert renewed(text, tmp_path) == text, f"{page.name} is stale: make docs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if python_blocks(page.read_text("utf-8"))],
    ids=lambda path: path.stem,
)
def test_python_runs(page: Path, demo: Path, tmp_path: Path) -> None:
    prepare(tmp_path, demo)
    for program in python_blocks(page.read_text(encoding="utf-8")):
        done = run_python(program, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_pictures_are_those_of_the_report(demo: Path) -> None:
    for name, text in pictures(demo):
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept == text, f"{name} is stale: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_shows_a_picture_or_real_output(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    has_output = any(command.shown for command in commands(text))
    assert has_output or "![" in text


def test_the_index_lists_every_guide() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    guides = {f"guides/{path.name}" for path in (DOCS / "guides").glob("*.md")}
    assert guides - set(re.findall(r"\]\(([^)]+)\)", index)) == set()


def test_targets_of_make_that_pages_name_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        named = re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text("utf-8"), re.M)
        assert set(named) <= targets, page.name


def test_docs_are_short_outside_the_reference() -> None:
    pages = [p for p in DOCS.rglob("*.md") if p.parts[len(DOCS.parts)] != "reference"]
    texts = {p.name: _MEASURED.sub("", p.read_text(encoding="utf-8")) for p in pages}
    words = {name: len(text.split()) for name, text in texts.items()}
    assert sum(words.values()) < MOST_WORDS, words
