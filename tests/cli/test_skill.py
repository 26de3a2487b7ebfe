"""The skill is complete, short, and where it is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.commands.skill import skill_files
from tests.conftest import REPOSITORY
from tests.docs.test_named_commands import command_lines, unknown

SKILL = REPOSITORY / "hlodb" / "skill"


def test_it_has_the_form_that_assistants_read() -> None:
    text = (SKILL / "SKILL.md").read_text("utf-8")
    _, front, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["name"] == "hlodb"
    assert 0 < len(fields["description"]) <= 1_024
    assert len(text.splitlines()) < 200
    named = set(re.findall(r"\]\((references/\w+\.md)\)", body))
    files = {path.relative_to(SKILL).as_posix() for path in skill_files()}
    assert named | {"SKILL.md"} == files


def test_its_commands_are_there() -> None:
    text = (SKILL / "SKILL.md").read_text("utf-8")
    found = {line: list(unknown(line)) for line in command_lines(text)}
    assert found
    assert {line: words for line, words in found.items() if words} == {}


def test_it_is_found_by_the_name_of_the_form() -> None:
    assert (REPOSITORY / "skills" / "hlodb").resolve() == SKILL


def test_it_is_installed_and_renewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "hlodb" / "notes.md"
    own.parent.mkdir()
    own.write_text("mine")
    (own.parent / "SKILL.md").write_text("old")
    assert main(["skill", "install", str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"hlodb: the skill is in {own.parent}\n"
    for file in skill_files():
        copied = own.parent / file.relative_to(SKILL)
        assert copied.read_bytes() == file.read_bytes()
    assert own.read_text() == "mine"


def test_it_never_writes_through_a_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.md"
    other.write_text("mine")
    (tmp_path / "hlodb").mkdir()
    (tmp_path / "hlodb" / "SKILL.md").symlink_to(other)
    assert main(["skill", "install", str(tmp_path)]) == 2
    assert "is a link" in capsys.readouterr().err
    assert other.read_text() == "mine"


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill", "show"]) == 0
    assert capsys.readouterr().out == (SKILL / "SKILL.md").read_text("utf-8")
