"""Reports say in plain words what their data has short names for."""

from __future__ import annotations

import re

import pytest

from tests.gold_reports import FOLDER

SHORT_NAMES = (
    r"\bhost\b(?!\" and bytes)",
    r"allocation_kind|live_out\b",
    r"\blifetime\b",
    r"packing-only|schedule-only",
    r"parts (?:add|free)",
    r"% alike",
    r"Noise band",
    r"\bmargin\b",
    r"as not comparable in",
)


@pytest.mark.parametrize("short", SHORT_NAMES)
def test_no_report_uses_the_short_names_of_its_data(short: str) -> None:
    # A terminal's last section explains the names that queries use.
    texts = {path: path.read_text() for path in FOLDER.glob("*/text.txt")}
    assert len(texts) > 20
    found = {
        path.parent.name: line
        for path, text in texts.items()
        for line in text.partition("\nWords\n")[0].splitlines()
        if re.search(short, line.split("$ hlodb")[0])
    }
    assert found == {}
