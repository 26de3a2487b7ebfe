"""Messages of every wording in every envelope: equal figures, or quoted as unknown."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import OomReport
from hlodb.ingest.formats.logs.wordings import FIRST_MARKS, MARKS, WORDINGS, Wording
from tests.ingest.formats.logs.made_messages import interleaved, made

COUNT = 200


def said(report: OomReport) -> OomReport:
    """Return a report without where it stands."""
    return replace(report, line=0, rank=None)


def read(text: str) -> list[OomReport]:
    return [said(report) for report in parse_oom_log(text).reports]


@pytest.mark.parametrize("number", range(COUNT))
def test_a_message_in_an_envelope(number: int) -> None:
    message = made(number)
    log = parse_oom_log(message.text)
    [expected] = read(message.plain)
    [report] = log.reports
    assert message.first <= report.line <= message.last
    assert report.rank == message.rank
    if report.form == "unknown":
        assert report.texts["message"] in message.text
    else:
        assert said(report) == expected
    assert log.rejects == []


def test_nearly_all_of_them_are_understood() -> None:
    reports = [parse_oom_log(made(number).text).reports for number in range(COUNT)]
    unknown = [
        number
        for number, found in enumerate(reports)
        if any(report.form == "unknown" for report in found)
    ]
    assert len(unknown) <= COUNT // 20, unknown


@pytest.mark.parametrize("number", range(40))
def test_ranks_that_write_in_turns(number: int) -> None:
    text, pairs = interleaved(number)
    reports = parse_oom_log(text).reports
    assert {report.rank: said(report) for report in reports} == {
        rank: read(plain)[0] for rank, plain in pairs
    }
    assert len(reports) == 2


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda w: f"{w.form}-{w.key}")
def test_a_wording_takes_its_sample(wording: Wording) -> None:
    """The sample is read by its own row, and marks let it through."""
    assert wording.key in wording.sample.lower()
    assert any(mark in wording.sample for mark in MARKS)
    assert any(mark in wording.sample for mark in FIRST_MARKS)
    [report] = read(wording.sample)
    assert report.form == wording.form
    assert wording.source


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda w: f"{w.form}-{w.key}")
def test_a_message_that_is_cut(wording: Wording) -> None:
    """Wherever it ends, no figure is read that the whole message does not hold."""
    [whole] = read(wording.sample)
    sizes = [*whole.sizes.values(), *(b.size_bytes or 0 for b in whole.buffers)]
    for at, (before, cut) in enumerate(pairwise(wording.sample), 1):
        # Digits that are cut are another number, and no wording can know it.
        if before.isdigit() and cut.isdigit():
            continue
        for report in read(f"{wording.sample[:at]}\n"):
            for found in report.sizes.values():
                # Where the exact size is cut off, the rounded one is left.
                assert any(abs(found - size) * 100 <= size for size in sizes)
