"""Waivers of hlodb.toml that name a finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from hlodb.errors import UsageError
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings, Waiver
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from tests.reports.read.test_nights import sized
from tests.reports.situations import night
from tests.reports.worlds import make

Waive = Callable[[str], Report]
NAMES = [f"jit_{n}" for n in range(20)]
"""More than there are digits: some ids of findings begin alike."""


@pytest.fixture(scope="module")
def waive(tmp_path_factory: pytest.TempPathFactory) -> Waive:
    """Return the report on programs that grew where a finding is waived."""
    nights = [night(n, *(sized(40 + n, name) for name in NAMES)) for n in (1, 3)]
    path = make(tmp_path_factory.mktemp("waivers") / "w.duckdb", *nights)

    def report(finding: str) -> Report:
        waiver = Waiver("*", "us", "for now", date(2100, 1, 1), finding=finding)
        with connect(path) as connection:
            return build_report(connection, Request(), Settings(waivers=(waiver,)))

    return report


def alone(beginning: str, ids: list[str]) -> bool:
    return sum(each.startswith(beginning) for each in ids) == 1


@pytest.mark.slow
def test_the_beginning_of_an_id_is_enough(waive: Waive) -> None:
    ids = [f.id for f in waive("no such").findings]
    assert len(ids) == len(NAMES)
    own = next(ids[0][:n] for n in range(1, 13) if alone(ids[0][:n], ids))
    for beginning in (ids[0], own):
        report = waive(beginning)
        assert [g.finding_id for g in report.gates if g.status == "waived"] == [ids[0]]
        assert [w.status for w in report.waivers] == ["used"]


@pytest.mark.slow
def test_of_several_that_begin_so_none_is_waived(waive: Waive) -> None:
    ids = sorted(f.id for f in waive("no such").findings)
    first = next(i[0] for i in ids if sum(j[0] == i[0] for j in ids) > 1)
    meant = ", ".join(i for i in ids if i.startswith(first))
    with pytest.raises(UsageError) as error:
        waive(first)
    assert str(error.value) == (
        f"a waiver is of finding {first!r}, which begins {meant}: give more of it"
    )
