"""Links between pages lead to files and headings that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)
HEADING = re.compile(r"^#+ (.+)$", re.M)


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [REPOSITORY / line for line in listed.stdout.splitlines()]
    return [path for path in paths if "gold" not in path.parts]


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    words = re.sub(r"[^\w\- ]", "", heading.lower().strip())
    return words.replace(" ", "-")


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for link in LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            broken.append(link)
        elif fragment:
            there = HEADING.findall(CODE.sub("", target.read_text(encoding="utf-8")))
            if fragment not in {anchor(heading) for heading in there}:
                broken.append(link)
    assert broken == []
