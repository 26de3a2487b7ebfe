"""Words at the end of a report: those that it uses, and no others."""

from __future__ import annotations

from collections.abc import Callable

from hlodb.reports.document.blocks import Paragraph, texts
from hlodb.reports.document.report import outline_with_words
from hlodb.reports.judge.report import Report

Reported = Callable[[str], Report]


def test_only_words_that_occur_are_explained(reported: Reported) -> None:
    sections = outline_with_words(reported("improvement_only"), 20, has_warehouse=True)
    *others, words = sections
    assert words.title == "Words"
    explained = [
        block.text.partition(":")[0]
        for block in words.blocks
        if isinstance(block, Paragraph)
    ]
    assert explained == ["reserved", "live peak", "blame", "accounts for", "gone"]
    said = [text for each in others for block in each.blocks for text in texts(block)]
    assert all(any(word in text for text in said) for word in explained)


def test_a_buffer_without_a_partner_is_matched_by_nothing(reported: Reported) -> None:
    sections = outline_with_words(reported("one_regression"), 20, has_warehouse=True)
    [findings] = [each for each in sections if each.title == "Findings"]
    cells = [text for block in findings.blocks for text in texts(block)]
    assert "matched by" in cells
    assert "nothing" in cells
    assert "unmatched" not in cells
