"""The rule by which a report finds its base is one sentence, wherever it is said."""

from __future__ import annotations

import click

from hlodb.cli import cli
from tests.conftest import REPOSITORY
from tests.docs.test_words import pages

SENTENCE = (
    "The base is the first of these among the earlier runs that are comparable and"
    " sound: the run at the commit that the candidate's label `fork_point` names; if"
    " the candidate's label `branch` is not main, the latest run of main; the latest"
    " run labelled"
    " `accepted=true`; the latest run."
)

LINK = "concepts.md#what-a-report-compares"
"""A page that leads to the sentence need not repeat it."""


def test_help_and_pages_say_the_same() -> None:
    command = cli.get_command(click.Context(cli), "report")
    assert command is not None
    texts = {"help": command.help or ""}
    texts |= {name: (REPOSITORY / name).read_text("utf-8") for name in pages()}
    texts = {name: text for name, text in texts.items() if LINK not in text}
    said = {name: " ".join(text.split()) for name, text in texts.items()}
    of_the_rule = {name for name, text in said.items() if "accepted=true" in text}
    queries = {name for name in of_the_rule if "/queries/" in name}
    assert {name for name, text in said.items() if SENTENCE in text} == (
        of_the_rule - queries
    )
    assert {"help", "docs/concepts.md", "docs/reference/report.md"} <= of_the_rule
