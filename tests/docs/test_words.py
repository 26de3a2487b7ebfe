"""What people read is plain English: none of the phrases of our old dialect."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import click
import pytest

from hlodb.cli import cli
from hlodb.commands import schema
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.describe import described_tables
from tests.conftest import REPOSITORY

PHRASES = (
    r"(?:is|are|was|were|been|be|and) told\b",
    r"\btold (?:apart|from|of|by)\b",
    r"\bheld against\b",
    r"\bhold (?:\w+ )?against\b",
    r"\bstands? twice\b",
    r"\bha(?:s|ve) for (?:itself|themselves)\b",
    r"\bare called otherwise\b",
    r"\bwhat only updates read\b",
    r"\bwhose it is\b",
    r"\bnobody decided\b",
    r"\bnone 0\b",
    r"\bwhat only they used\b",
    r"\bcontent number",
    r"\bchosen (?:runs?|modules?|contents?)\b",
    r"\bgoes into an output\b",
    r"\bthese there are\b",
    r"\basks no clock\b",
    r"\bthat is in already\b",
    r"\bRent of\b",
)
"""Phrases of which each has a plainer one, as regular expressions."""

DIALECT = re.compile("|".join(PHRASES), re.IGNORECASE)
GENERATED = {"docs/reference/hostile-input.md"}


def pages() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(listed.stdout.splitlines()) - GENERATED
    return sorted(name for name in found if "gold" not in name)


def phrases_in(text: str) -> list[str]:
    """Return the phrases with the words around them."""
    joined = " ".join(text.split())
    return [
        joined[max(0, m.start() - 40) : m.end() + 20] for m in DIALECT.finditer(joined)
    ]


@pytest.mark.parametrize("page", pages())
def test_pages_are_plain(page: str) -> None:
    assert phrases_in((REPOSITORY / page).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", load_catalogue())
def test_queries_are_plain(name: str) -> None:
    query = load_catalogue()[name]
    texts = [query.title, query.question, query.definition, query.grain]
    texts += [query.empty or "", *(p.doc for p in query.parameters)]
    texts += [column.doc for column in query.columns]
    assert [found for text in texts for found in phrases_in(text)] == []


def test_comments_of_tables_are_plain() -> None:
    assert phrases_in(schema.schema_page(described_tables())) == []


def help_texts() -> Iterator[tuple[str, str]]:

    context = click.Context(cli, info_name="hlodb")
    yield "hlodb", cli.get_help(context)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command.get_help(click.Context(command, parent=context))


def test_help_is_plain() -> None:
    found = {name: phrases_in(text) for name, text in help_texts()}
    assert {name: hits for name, hits in found.items() if hits} == {}
