"""Messages as people paste them: what each says, figure by figure.

The examples are rebuilt in neutral words after public reports of 2025 and 2026.
"""

from __future__ import annotations

import pytest

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.recognise.recognition import recognise
from tests.conftest import DATA
from tests.ingest.formats.logs.told import messages, reports_of, stats_of

FOLDER = DATA / "oom_messages"
EXPECTED = {message["file"]: message for message in messages(FOLDER / "expected.toml")}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_a_message_says(name: str) -> None:
    text = (FOLDER / name).read_text()
    log = parse_oom_log(text)
    assert log.reports == reports_of(EXPECTED[name])
    assert log.stats == stats_of(EXPECTED[name])
    assert log.rejects == []
    assert recognise(name, text.encode()).kind == "log"


def test_every_example_is_expected() -> None:
    names = {path.name for path in FOLDER.iterdir()}
    assert names == {*EXPECTED, "expected.toml"}
