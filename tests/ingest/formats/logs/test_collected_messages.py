"""Messages from public sources: each report is what the message itself says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from tests.conftest import DATA
from tests.ingest.formats.logs.told import messages, reports_of

MESSAGES = {
    message["name"]: message
    for path in sorted((DATA / "oom_collected").glob("*.toml"))
    for message in messages(path)
}
LINES = [line for told in MESSAGES.values() for line in told["text"].splitlines()]
NOISE = "".join(f"step {step} of epoch 3: loss 9.125\n" for step in range(10_000))


@pytest.mark.parametrize("name", MESSAGES)
def test_what_a_collected_message_says(name: str) -> None:
    message = MESSAGES[name]
    log = parse_oom_log(message["text"])
    assert log.reports == reports_of(message)
    assert log.rejects == []


@pytest.mark.parametrize("name", MESSAGES)
def test_a_collected_message_in_a_long_log(name: str) -> None:
    """Of a long log only lines around words of a shortage are read."""
    message = MESSAGES[name]
    log = parse_oom_log(f"{NOISE}{message['text']}\n{NOISE}")
    assert [replace(report, line=report.line - 10_000) for report in log.reports] == (
        reports_of(message)
    )


@given(st.lists(st.sampled_from(LINES), max_size=20), st.integers(0, 200))
def test_lines_of_messages_in_any_order(lines: list[str], cut: int) -> None:
    log = parse_oom_log("\n".join([*lines, *(line[:cut] for line in lines)]))
    assert all(1 <= number <= 2 * len(lines) for number in log.lines)
    assert log.reports == sorted(log.reports, key=lambda report: report.line)
