"""A run without ranks and a run of one rank are of the same host."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.triage import record
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

EXACT = Settings(floor_bytes=0, floor_ratio=0.0)
FLOORS = {"min_delta_bytes": 0, "min_delta_ratio": 0.0}
CHANGES = DATA / "changes"
QUERIES = (
    "alias_changes",
    "buffer_diff",
    "delta_waterfall",
    "first_divergence",
    "peak_regressions",
)


def warehouse(folder: Path, *nights: tuple[str, str]) -> Path:
    """Ingest a night from each pair of a dump and the folder that it lies in."""
    db = folder / "w.duckdb"
    for number, (dump, place) in enumerate(nights, 1):
        shutil.copytree(CHANGES / dump, folder / f"night-{number}" / place)
        run = RunRequest(name=f"night-{number}", series="nightly")
        ingest([str(folder / f"night-{number}")], db, request=run, jobs=1)
    return db


def report_of(db: Path, candidate: str, baseline: str = "night-1") -> Report:
    with connect(db) as connection:
        request = Request(candidate=candidate, baseline=baseline)
        return build_report(connection, request, EXACT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "candidate", "rank"),
    [("", "rank_0", 0), ("", "host-3", 3), ("rank_0", "", None)],
)
def test_its_programs_are_compared(
    tmp_path: Path, base: str, candidate: str, rank: int | None
) -> None:
    nights = (("tensor/base", base), ("tensor/doubled", candidate))
    db = warehouse(tmp_path, *nights)
    (program,) = report_of(db, "night-2").programs
    assert (program.change, program.delta_bytes) == ("worse", 16_384)
    assert program.rank == rank
    with connect(db) as connection:
        rows = run_query(connection, "peak_regressions", FLOORS).dicts()
        (pair,) = run_query(connection, "matched_modules").dicts()
    assert [(r["delta_reserved_bytes"], r["rule"]) for r in rows] == [
        (16_384, "more_bytes")
    ]
    ranks = [int(place[-1]) if place else None for place in (base, candidate)]
    assert [pair["base_rank"], pair["candidate_rank"]] == ranks
    assert pair["rank"] == rank


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_queries_answer_as_without_the_rank(tmp_path: Path, query: str) -> None:
    def answer(folder: Path, place: str) -> list[dict[str, object]]:
        nights = (("donation/base", ""), ("donation/dropped", place))
        with connect(warehouse(folder, *nights)) as connection:
            rows = run_query(connection, query).dicts()
        return [{k: v for k, v in row.items() if k != "rank"} for row in rows]

    expected = answer(tmp_path / "plain", "")
    assert expected != []
    assert answer(tmp_path / "ranked", "rank_0") == expected


@pytest.mark.slow
def test_other_ranks_are_other_hosts(tmp_path: Path) -> None:
    nights = (("tensor/base", "rank_0"), ("tensor/doubled", "rank_1"))
    db = warehouse(tmp_path, *nights)
    changes = [p.change for p in report_of(db, "night-2").programs]
    assert sorted(changes) == ["failed", "new"]
    with connect(db) as connection:
        rows = run_query(connection, "matched_modules").dicts()
    assert sorted((r["base_rank"] or 0, r["candidate_rank"] or 0) for r in rows) == [
        (0, 0),
        (0, 1),
    ]


@pytest.mark.slow
def test_its_findings_keep_their_ids(tmp_path: Path) -> None:
    db = warehouse(
        tmp_path,
        ("tensor/base", ""),
        ("tensor/doubled", ""),
        ("tensor/doubled", "rank_0"),
    )
    (before,) = report_of(db, "night-2").findings
    (after,) = report_of(db, "night-3").findings
    assert (after.id, after.first_run) == (before.id, "night-2")


@pytest.mark.slow
def test_what_is_back_in_the_folder_of_a_rank_is_no_longer_missing(
    tmp_path: Path,
) -> None:
    kept, vanishing = CHANGES / "tensor/base", CHANGES / "donation/base"
    db = tmp_path / "w.duckdb"
    places = {"night-1": "", "night-2": "", "night-3": "rank_0"}
    for night, place in places.items():
        for dump in (kept, vanishing):
            if dump is kept or night != "night-2":
                folder = tmp_path / night / place
                shutil.copytree(dump, folder, dirs_exist_ok=True)
        run = RunRequest(name=night, series="nightly")
        ingest([str(tmp_path / night)], db, request=run, jobs=1)

    def events(candidate: str) -> list[tuple[str, str]]:
        record(db, report_of(db, candidate))
        with connect(db) as connection:
            return connection.execute(
                "SELECT f.program, arg_max(e.event, e.event_number)"
                " FROM findings AS f JOIN finding_events AS e USING (finding_id)"
                " WHERE f.change = 'failed' GROUP BY ALL"
            ).fetchall()

    assert {*events("night-2")} == {("jit_update", "seen")}
    assert {*events("night-3")} == {("jit_update", "undone")}
