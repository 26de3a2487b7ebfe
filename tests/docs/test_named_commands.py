"""Commands, options, queries and parameters that pages name are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from hlodb.cli import cli
from hlodb.queries.catalogue import load_catalogue
from tests.conftest import REPOSITORY
from tests.docs.test_words import pages

BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`(hlodb [a-z][^`\n]*)`")
LINE = re.compile(r"^(?:\$ |    )?(hlodb [a-z].*)$", re.M)
INDENTED = re.compile(r"^    (hlodb [a-z].*)$", re.M)
QUERY = re.compile(r"[a-z]\w*[a-z0-9]")
AFTER = re.compile(r" [|&>;<]|   ")
CATALOGUE = load_catalogue()


def command_lines(page: str) -> Iterator[str]:
    """Yield what a page shows as a command of hlodb."""
    for block in BLOCK.findall(page):
        yield from LINE.findall(block)
    outside = BLOCK.sub("", page)
    yield from INLINE.findall(outside)
    yield from INDENTED.findall(outside)


def unknown(line: str) -> Iterator[str]:
    """Yield the words of a command line that hlodb does not know."""
    _, name, *words = AFTER.split(line)[0].split()
    context = click.Context(cli)
    if name not in cli.list_commands(context):
        yield name
        return
    command = cli.get_command(context, name)
    assert command is not None
    options = {o for p in command.params for o in p.opts} | {"--help"}
    yield from (w for w in words if w.startswith("--") and w not in options)
    is_canned = words and QUERY.fullmatch(words[0]) and "--queries" not in words
    if name == "query" and is_canned:
        if words[0] not in CATALOGUE:
            yield words[0]
            return
        known = {p.name for p in CATALOGUE[words[0]].parameters}
        yield from (w for w in re.findall(r" -p (\w+)=", line) if w not in known)


@pytest.mark.parametrize("page", [p for p in pages() if not p.startswith("bench/")])
def test_named_commands_are_there(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = {line: list(unknown(line)) for line in command_lines(text)}
    assert {line: words for line, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hlodb forget night-7", ["forget"]),
        ("hlodb report --basline night-7 > out", ["--basline"]),
        ("hlodb query peak_content -p run=a", ["peak_content"]),
        ("hlodb query peak_contents -p rum=a --wide", ["rum"]),
        ("hlodb query peak_contents -p run=a --wide | head", []),
    ],
)
def test_what_is_not_there_is_found(line: str, words: list[str]) -> None:
    assert list(unknown(line)) == words
