"""Messages from public sources: each report is what the message itself says."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import OomBuffer, OomReport
from tests.conftest import DATA

FILES = sorted((DATA / "oom_collected").glob("*.toml"))
MESSAGES: dict[str, dict[str, Any]] = {
    message["name"]: message
    for path in FILES
    for message in tomllib.loads(path.read_text())["message"]
}
POWERS = "BKMGTPE"


def in_bytes(size: int | str) -> int:
    """Return the bytes of a size as the message prints it."""
    if isinstance(size, int):
        return size
    number = size.removesuffix("iB")
    power: int = 1 << 10 * POWERS.index(number[-1])
    return round(Decimal(number[:-1]) * power)


def expected_of(message: dict[str, Any]) -> list[OomReport]:
    return [
        OomReport(
            line=report["line"],
            form=report["form"],
            space_name=report.get("space"),
            sizes={k: in_bytes(v) for k, v in report.get("sizes", {}).items()},
            buffers=[
                OomBuffer(place, **{k: sized(k, v) for k, v in buffer.items()})
                for place, buffer in enumerate(report.get("buffer", []), 1)
            ],
            rank=report.get("rank"),
            texts=report.get("texts", {}),
        )
        for report in message.get("report", [])
    ]


def sized(name: str, said: Any) -> Any:
    return in_bytes(said) if name.endswith("_bytes") else said


@pytest.mark.parametrize("name", MESSAGES)
def test_what_a_collected_message_says(name: str) -> None:
    message = MESSAGES[name]
    log = parse_oom_log(message["text"])
    assert log.reports == expected_of(message)
    assert log.rejects == []


NOISE = "".join(f"step {step} of epoch 3: loss 9.125\n" for step in range(10_000))


@pytest.mark.parametrize("name", MESSAGES)
def test_a_collected_message_in_a_long_log(name: str) -> None:
    """Of a long log only lines around words of a shortage are read."""
    message = MESSAGES[name]
    log = parse_oom_log(f"{NOISE}{message['text']}\n{NOISE}")
    assert [replace(report, line=report.line - 10_000) for report in log.reports] == (
        expected_of(message)
    )
