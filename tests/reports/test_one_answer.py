"""A report prints what queries answer: the same rows, in any DuckDB."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.gates import parse_settings
from hlodb.reports.read import read_runs
from hlodb.reports.render_json import render
from hlodb.reports.scene import Request
from hlodb.reports.settings import Settings
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS
from tests.queries.bare_duckdb import told_by_duckdb
from tests.reports.situations import LARGE, SITUATIONS
from tests.reports.worlds import make

Row = Mapping[str, Any]

FIELDS = {
    "program": "program",
    "base_program": "base_program",
    "rank": "rank",
    "module_number": "module_number",
    "color": "color",
    "space": "space_name",
    "change": "verdict",
    "rule": "rule",
    "base_bytes": "base_reserved_bytes",
    "candidate_bytes": "candidate_reserved_bytes",
    "delta_bytes": "delta_reserved_bytes",
    "noise_band_bytes": "noise_band_bytes",
}
"""Fields of a program in report.json, and the columns of peak_regressions."""


def told(
    path: Path, base: str, candidate: str, settings: Settings, kind: str
) -> Counter[tuple[Any, ...]]:
    """Return the programs of report.json."""
    with connect(path) as connection:
        request = Request(candidate=candidate, baseline=f"run:{base}", kind=kind)
        report = json.loads(render(build_report(connection, request, settings)))
    rows: Counter[tuple[Any, ...]] = Counter()
    for program in report["programs"]:
        # A report on a series knows which rise an improvement undoes.
        change = "improved" if program["change"] == "fixed" else program["change"]
        rows[tuple({**program, "change": change}[field] for field in FIELDS)] += 1
    return rows


def answered(rows: Iterable[Row]) -> Counter[tuple[Any, ...]]:
    """Return the rows of peak_regressions; some stand for several modules."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        key = tuple(row[column] for column in FIELDS.values())
        found[key] += row["module_count"]
    return found


def check(
    path: Path,
    pairs: Sequence[tuple[str, str]],
    settings: Settings,
    kind: str = "diff",
) -> int:
    """Compare the report on each pair of runs with what DuckDB's own binary says."""
    query = load_catalogue()["peak_regressions"]
    floors: dict[str, Value] = {
        "min_delta_bytes": settings.floor_bytes,
        "min_delta_ratio": settings.floor_ratio,
        "follow": kind == "report",
    }
    calls = [
        (query, {"base": base, "candidate": candidate, **floors})
        for base, candidate in pairs
    ]
    answers = told_by_duckdb(path, calls)
    for (base, candidate), rows in zip(pairs, answers, strict=True):
        report = told(path, base, candidate, settings, kind)
        assert answered(rows) == report, (base, candidate)
    return len(pairs)


def pairs_of(path: Path) -> list[tuple[str, str]]:
    with connect(path) as connection:
        return [*permutations([run.name for run in read_runs(connection)], 2)]


@pytest.mark.slow
def test_every_pair_of_the_demo(demo_warehouse: Path) -> None:
    assert check(demo_warehouse, pairs_of(demo_warehouse), Settings()) == 90


def test_a_series_of_the_demo(demo_warehouse: Path) -> None:
    """What the base lacks is compared with an earlier run, in both."""
    pairs = pairs_of(demo_warehouse)[::9]
    assert check(demo_warehouse, pairs, Settings(), "report") == 10


@pytest.mark.shared
@pytest.mark.slow
def test_every_pair_of_the_full_dumps(full_warehouse: Path) -> None:
    assert check(full_warehouse, pairs_of(full_warehouse), Settings()) > 200


KINDS = {"mixed", "missing_program", "noise_outside", "renamed_program", "two_spaces"}
"""Situations of different kinds: the others take minutes."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in KINDS else pytest.mark.slow)
        for name in SITUATIONS
        if name != LARGE
    ],
)
def test_every_pair_of_a_situation(name: str, tmp_path: Path) -> None:
    situation = SITUATIONS[name]
    path = make(tmp_path / "w.duckdb", *situation.worlds)
    settings = parse_settings(situation.settings)
    for kind in ("diff", "report"):
        check(path, pairs_of(path), settings, kind)


# --- A program that is called otherwise in the next release --------------------------

OLD, NEW = "jit_gpt_unrolled", "jit_gpt_v2"


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release 0.9.2 as run A; 0.10.2 as run B, with another name for one program."""
    folder = tmp_path_factory.mktemp("renamed")
    for release, run in (("0.9.2", "A"), ("0.10.2", "B")):
        with tarfile.open(DUMPS / "cpu" / f"jaxlib-{release}.tar.xz") as archive:
            archive.extractall(folder / run, filter="data")
    for file in [f for f in (folder / "B").rglob("*") if f.is_file()]:
        file.write_bytes(re.sub(OLD.encode(), NEW.encode(), file.read_bytes()))
        file.rename(file.with_name(file.name.replace(OLD, NEW)))
    path = folder / "w.duckdb"
    for run in ("A", "B"):
        ingest([str(folder / run)], path, request=RunRequest(name=run), jobs=1)
    return path


def rows_of(path: Path, query: str, **more: Any) -> list[Row]:
    with connect(path) as connection:
        asked = {"base": "A", "candidate": "B", **more}
        return list(run_query(connection, query, asked).dicts())


def test_a_renamed_program_is_followed_everywhere(renamed: Path) -> None:
    report = told(renamed, "A", "B", Settings(), "report")
    rows = {row["program"]: row for row in rows_of(renamed, "peak_regressions")}
    assert answered(rows.values()) == report
    assert {row["verdict"] for row in rows.values()} == {"worse", "same"}
    grown, cg = rows[NEW], rows["jit_cg"]
    shown = ("base_program", "verdict", "rule", "method", "delta_reserved_bytes")
    delta = grown["delta_reserved_bytes"]
    assert tuple(grown[name] for name in shown) == (
        OLD,
        "worse",
        "more_bytes",
        "source graph fingerprint",
        delta,
    )
    assert round(delta / 2**20, 2) == 2.11
    assert (cg["verdict"], cg["rule"]) == ("same", "below_floor")
    assert round(cg["delta_reserved_bytes"] / 2**10, 2) == 2.18
    parts = rows_of(renamed, "delta_waterfall", program=NEW)
    assert sum(row["delta_bytes"] for row in parts) == delta
    assert {row["total_delta_bytes"] for row in parts} == {delta}
    live = grown["candidate_live_peak_bytes"] - grown["base_live_peak_bytes"]
    buffers = rows_of(renamed, "buffer_diff", program=NEW, only_changes=False, top=None)
    assert sum(row["delta_peak_bytes"] for row in buffers) == live
    assert {row["status"] for row in buffers} > {"new", "gone"}
