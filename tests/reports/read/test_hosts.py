"""Hosts that a dump tells apart by folders alone, of which one grew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

DUMPS = {"s": "base", "l": "doubled"}
HOSTS = ("left", "right")
EXACT = Settings(floor_bytes=0, floor_ratio=0.0)


class Case(NamedTuple):
    """Small or large by host, on two nights, and the host whose program grew."""

    first: str
    second: str
    grown: str


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(Case("ss", "ls", "left"), marks=pytest.mark.slow),
        pytest.param(Case("ss", "sl", "right"), marks=pytest.mark.slow),
        # Equal content goes first: the rest is compared with what was small.
        Case("sl", "ll", "right"),
    ],
)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(scope="module")
def report(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hosts")
    for night in ("first", "second"):
        for host, size in zip(HOSTS, getattr(case, night), strict=True):
            dump = DATA / "changes" / "tensor" / DUMPS[size]
            shutil.copytree(dump, folder / night / host)
        run = RunRequest(name=night, series="nightly")
        ingest([str(folder / night)], folder / "w.duckdb", request=run, jobs=1)
    with connect(folder / "w.duckdb") as connection:
        return build_report(connection, Request(baseline="first"), EXACT)


@pytest.mark.slow
def test_the_host_that_is_as_it_was_is_the_same(report: Report, case: Case) -> None:
    found = {p.path.split("/")[0]: p for p in report.programs}
    rows = {h: (p.change, p.state, p.rule, p.delta_bytes) for h, p in found.items()}
    same = ("same", "same", "identical_artefact", 0)
    worse = ("worse", "worse", "more_bytes", 16_384)
    assert rows == {h: worse if h == case.grown else same for h in HOSTS}
    assert report.counts == {"same": 1, "worse": 1}


@pytest.mark.slow
def test_the_history_is_of_the_host_that_grew(report: Report) -> None:
    (finding,) = report.findings
    assert finding.history == ["first 82251", "second 98635 ▲"]


@pytest.mark.slow
def test_junit_has_a_case_of_each_host(report: Report) -> None:
    cases = ET.fromstring(renderer("junit")(report).encode()).iter("testcase")
    judged = [c for c in cases if c.get("classname") == "hlodb.regression"]
    assert [case.find("failure") is not None for case in judged] == [True, False]


@pytest.mark.slow
def test_what_a_second_host_compiles_is_not_compiled_again(
    tmp_path: Path,
) -> None:
    for night, hosts in {"first": ("left",), "second": HOSTS}.items():
        for host in hosts:
            dump = DATA / "changes" / "tensor" / "base"
            shutil.copytree(dump, tmp_path / night / host)
        run = RunRequest(name=night, series="nightly")
        ingest([str(tmp_path / night)], tmp_path / "w.duckdb", request=run, jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        report = build_report(connection, Request(baseline="first"), EXACT)
    assert [h for h in report.health if h.kind == "recompiled"] == []
