"""A report prints what queries answer: the same rows, in any DuckDB."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import install_macros
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.facts import read_runs
from hlodb.reports.render.json import render
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS
from tests.queries.bare_duckdb import Call, Rows, told_by_duckdb
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


MODULE = ("program", "base_program", "rank", "module_number", "color")

PART = {
    "part": "part",
    "kind": "kind",
    "delta_bytes": "delta_bytes",
    "buffer_count": "buffer_count",
}
"""Fields of a part of a finding, and the columns of delta_waterfall."""

BUFFER = {
    "part": "part",
    "kind": "kind",
    "delta_bytes": "delta_bytes",
    "base_instruction": "base_instruction",
    "candidate_instruction": "instruction",
    "op_path": "op_path",
    "base_shape": "base_shape",
    "candidate_shape": "shape",
    "base_bytes": "base_bytes",
    "candidate_bytes": "candidate_bytes",
    "source_file": "source_file",
    "source_line": "source_line",
    "attribution": "attribution",
    "match_method": "match_method",
    "match_confidence": "match_confidence",
    "note": "note",
}
"""Fields of a buffer of a finding, and the columns of buffer_diff."""

DIVERGENCE = {
    "last_equal": "last_equal_stage",
    "first_different": "first_different_stage",
    "blame": "blame",
    "reason": "reason",
    "share_ratio": "main_share_ratio",
}
"""Fields of divergence and cause of a finding, and the columns of first_divergence."""


def report_json(
    path: Path, base: str, candidate: str, settings: Settings, kind: str
) -> dict[str, Any]:
    """Return report.json without what only pictures and tables of series need."""
    with connect(path) as connection:
        # Plans are large and inputs small: a second thread only waits.
        connection.execute("SET threads = 1")
        request = Request(candidate, f"run:{base}", kind=kind, shown=frozenset())
        found = json.loads(render(build_report(connection, request, settings)))
    return dict(found)


def told(report: Mapping[str, Any]) -> Counter[tuple[Any, ...]]:
    """Return the programs of report.json."""
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


Pairs = Sequence[tuple[str, str]]

EVERY_BUFFER = Settings(
    floor_bytes=0, floor_ratio=0.0, top=1_000_000, managed_ratio=0.0
)

EXPLAINED = {
    "delta_waterfall": ("parts", PART),
    "buffer_diff": ("buffers", BUFFER),
    "first_divergence": ("divergence", DIVERGENCE),
}

SINCE = {
    "program": "program",
    "base_program": "base_program",
    "rank": "rank",
    "module_number": "module_number",
    "color": "color",
    "space": "space_name",
    "rule": "rule",
    "delta_bytes": "delta_reserved_bytes",
    "first_run": "first_run",
}
"""Fields of a finding of the candidate, and the columns of differences_since."""

STEP = {
    "program": "program",
    "rank": "rank",
    "module_number": "module_number",
    "color": "color",
    "space": "space_name",
    "change": "verdict",
    "rule": "rule",
    "base_run": "base_run",
    "candidate_run": "run",
    "base_bytes": "base_reserved_bytes",
    "candidate_bytes": "candidate_reserved_bytes",
    "delta_bytes": "delta_reserved_bytes",
    "delta_live_peak_bytes": "delta_live_peak_bytes",
}
"""Fields of a finding of the history, and the columns of memory_steps."""

AT_ONCE = 10
"""Pairs that one process of DuckDB is asked about: bounds memory, not results."""


def check(
    path: Path, pairs: Pairs, settings: Settings, kind: str = "diff", more: bool = False
) -> int:
    """Compare the report on each pair of runs with what DuckDB's own binary says.

    Programs with peak_regressions; with `more` the parts, buffers and divergence of
    each finding, too. Return how many rows were compared.
    """
    compared = 0
    for start in range(0, len(pairs), AT_ONCE):
        asked = pairs[start : start + AT_ONCE]
        calls = [call for p in asked for call in calls_of(p, settings, kind, more)]
        answers = iter(told_by_duckdb(path, calls))
        for pair in asked:
            report = report_json(path, *pair, settings, kind)
            assert answered(next(answers)) == told(report), pair
            compared += len(report["programs"])
            if more:
                compared += check_findings(report, answers, pair)
    return compared


def check_history(path: Path, pair: tuple[str, str], settings: Settings) -> int:
    """Compare since when the report on a pair says that programs differ, and steps.

    Return how many rows were compared.
    """
    base, candidate = pair
    floors = settings.judging()
    steps = {
        "candidate": candidate,
        "min_step_bytes": settings.step_bytes,
        "min_step_ratio": settings.step_ratio,
    }
    catalogue = load_catalogue()
    asked = {
        "differences_since": {"base": base, "candidate": candidate, **floors},
        "memory_steps": {**steps, **floors},
    }
    since, stepped = told_by_duckdb(path, [(catalogue[n], p) for n, p in asked.items()])
    report = report_json(path, base, candidate, settings, "report")
    found = [f for f in report["findings"] if f["scope"] == "candidate"]
    moved = [f for f in found if f["change"] != "same"]
    assert fields_of(moved, SINCE) == fields_of(since, SINCE.values())
    undone = [f for f in moved if f["change"] == "fixed"]
    improved = [r for r in since if r["undone_run"] and r["verdict"] == "improved"]
    assert fields_of(undone, SINCE) == fields_of(improved, SINCE.values())
    history = [f for f in report["findings"] if f["scope"] == "history"]
    assert fields_of(history, STEP) <= fields_of(stepped, STEP.values())
    fates = {
        "undone": [f for f in history if f["state"] == "undone"],
        "stands": [f for f in history if f["stands"]],
    }
    for fate, shown in fates.items():
        rows = [r for r in stepped if r["fate"] == fate]
        assert fields_of(shown, STEP) <= fields_of(rows, STEP.values())
    # The same difference as one of the candidate's is told once.
    told = {
        (f["program"], f["rank"], f["color"], f["first_run"])
        for f in report["findings"]
    }
    earlier = [r for r in stepped if r["verdict"] != "failed"]
    assert {(r["program"], r["rank"], r["color"], r["run"]) for r in earlier} <= told
    return len(since) + len(stepped)


def fields_of(rows: Iterable[Row], names: Iterable[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[name] for name in names) for row in rows)


def calls_of(
    pair: tuple[str, str], settings: Settings, kind: str, more: bool
) -> list[Call]:
    follow = kind == "report"
    given: dict[str, Value] = {"base": pair[0], "candidate": pair[1], "follow": follow}
    floors: dict[str, Value] = settings.judging()
    if kind == "diff":
        floors["managed_ratio"] = 0.0
    parameters = dict.fromkeys(EXPLAINED, given) if more else {}
    if more:
        parameters["buffer_diff"] = {**given, "top": None}
    asked = {"peak_regressions": {**given, **floors}, **parameters}
    catalogue = load_catalogue()
    return [(catalogue[name], values) for name, values in asked.items()]


def check_findings(
    report: Mapping[str, Any], answers: Iterator[Rows], pair: tuple[str, str]
) -> int:
    """Compare the findings of a report with rows of the queries in EXPLAINED."""
    compared = 0
    explained = [f for f in report["findings"] if f["divergence"] or f["parts"]]
    for query, (field, columns) in EXPLAINED.items():
        rows = of_report(explained, field, columns)
        assert rows == of_query(next(answers), columns, rows), (pair, query)
        compared += rows.total()
    return compared


def of_report(
    findings: Iterable[Row], field: str, columns: Mapping[str, str]
) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for finding in findings:
        shown = finding[field]
        if field == "divergence":
            # Without details a cause has no divergence.
            shown = [{**finding["cause"], **shown}] if shown else []
            # Where edits are the cause, the share is theirs, not the main part's.
            if finding["cause"]["effect"] is not None:
                shown = [{**each, "share_ratio": None} for each in shown]
        for each in shown:
            module = (finding[name] for name in MODULE)
            found[(*module, *(each[name] for name in columns))] += 1
    return found


def of_query(
    rows: Iterable[Row],
    columns: Mapping[str, str],
    shown: Collection[tuple[Any, ...]],
) -> Counter[tuple[Any, ...]]:
    """Return the rows of modules that have findings."""
    modules = {row[: len(MODULE)] for row in shown}
    other_share = {row[: len(MODULE)] for row in shown if row[-1] is None}
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        number = {"module_number": row.get("candidate_module_number")}
        module = tuple({**number, **row}[name] for name in MODULE)
        if module in modules:
            values = {field: row[name] for field, name in columns.items()}
            if "share_ratio" in values and module in other_share:
                values["share_ratio"] = None
            found[(*module, *map(rounded, values, values.values()))] += 1
    return found


def rounded(field: str, value: Any) -> Any:
    """Return a figure as exactly as reports print it."""
    digits = {"share_ratio": 4, "confidence": 2}.get(field)
    return value if digits is None or value is None else round(value, digits)


def pairs_of(path: Path) -> list[tuple[str, str]]:
    with connect(path) as connection:
        return [*permutations([run.name for run in read_runs(connection)], 2)]


PARTS = range(10)
"""All pairs in as many tests, which run side by side."""

NEIGHBOURS = ("jaxlib-0.9.2", "jaxlib-0.10.2")
DEVICES = ("jaxlib-0.10.2", "v5e-jax-0.10.2")


def test_a_pair_of_the_demo(demo_warehouse: Path) -> None:
    """Stand for every pair, which take minutes."""
    assert check(demo_warehouse, [NEIGHBOURS], Settings()) > 7


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_pair_of_the_demo(demo_warehouse: Path, part: int) -> None:
    pairs = pairs_of(demo_warehouse)
    assert len(pairs) == 90
    pairs = pairs[part :: len(PARTS)]
    assert check(demo_warehouse, pairs, Settings()) > 50
    assert check(demo_warehouse, pairs, EVERY_BUFFER, more=True) > 1_000


@pytest.mark.slow
def test_a_series_of_the_demo(demo_warehouse: Path) -> None:
    """What the base lacks is compared with an earlier run, in both."""
    assert check(demo_warehouse, [DEVICES], Settings(), "report") > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_series_of_the_demo(demo_warehouse: Path, part: int) -> None:
    pairs = pairs_of(demo_warehouse)[part :: len(PARTS)]
    assert check(demo_warehouse, pairs, Settings(), "report") > 50


@pytest.mark.slow
def test_every_history_of_the_demo(demo_warehouse: Path) -> None:
    with connect(demo_warehouse) as connection:
        names = [run.name for run in read_runs(connection)]
    pairs = [*pairwise(names)]
    assert sum(check_history(demo_warehouse, p, Settings()) for p in pairs) > 100


@pytest.mark.shared
@pytest.mark.slow
def test_pairs_of_the_full_dumps(full_warehouse: Path) -> None:
    """Stand for every pair: other chips, and snapshots of every pass."""
    pairs = [
        ("v5e-jax-0.10.2", "v5p-jax-0.10.2"),
        ("jaxlib-0.9.2", "passes/jaxlib-0.10.2"),
    ]
    assert check(full_warehouse, pairs, EVERY_BUFFER, more=True) > 800


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_pair_of_the_full_dumps(full_warehouse: Path, part: int) -> None:
    pairs = pairs_of(full_warehouse)
    assert len(pairs) > 200
    pairs = pairs[part :: len(PARTS)]
    assert check(full_warehouse, pairs, Settings()) > 100
    assert check(full_warehouse, pairs, EVERY_BUFFER, more=True) > 1_000


PAIRED = [n for n, s in SITUATIONS.items() if n != LARGE and len(s.worlds) > 1]
"""All situations but that of a run without a base."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRED)
def test_every_pair_of_a_situation(name: str, tmp_path: Path) -> None:
    situation = SITUATIONS[name]
    path = make(tmp_path / "w.duckdb", *situation.worlds)
    settings = parse_settings(situation.settings)
    for kind in ("diff", "report"):
        check(path, pairs_of(path), settings, kind)
    check(path, pairs_of(path), EVERY_BUFFER, more=True)
    *_, base, candidate = (world.name for world in situation.worlds)
    check_history(path, (base, candidate), settings)


# --- A program that is called otherwise in the next release --------------------------

OLD, NEW = "jit_gpt_unrolled", "jit_gpt_v2"


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release 0.9.2 as run A; 0.10.2 as run B, with another name for one program."""
    folder = tmp_path_factory.mktemp("renamed")
    for release, run in (("0.9.2", "A"), ("0.10.2", "B")):
        with tarfile.open(DUMPS / "cpu" / f"jaxlib-{release}.tar.xz") as archive:
            archive.extractall(folder / run)
    for file in [f for f in (folder / "B").rglob("*") if f.is_file()]:
        file.write_bytes(re.sub(OLD.encode(), NEW.encode(), file.read_bytes()))
        file.rename(file.with_name(file.name.replace(OLD, NEW)))
    path = folder / "w.duckdb"
    for run in ("A", "B"):
        ingest([str(folder / run)], path, request=RunRequest(name=run), jobs=1)
    with connect(path, read_only=False) as connection:
        install_macros(connection)
    return path


def rows_of(path: Path, query: str, **more: Any) -> list[Row]:
    with connect(path) as connection:
        asked = {"base": "A", "candidate": "B", **more}
        return list(run_query(connection, query, asked).dicts())


@pytest.mark.slow
def test_a_renamed_program_is_followed_everywhere(renamed: Path) -> None:
    report = told(report_json(renamed, "A", "B", Settings(), "report"))
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
    buffers = rows_of(renamed, "buffer_diff", program=NEW, top=None)
    assert sum(row["delta_bytes"] for row in buffers) == delta
    assert {row["part"] for row in buffers} > {"new", "gone"}
    assert {row["base_program"] for row in buffers} == {OLD}
    (parting,) = rows_of(renamed, "first_divergence", program=NEW)
    assert (parting["base_program"], parting["delta_reserved_bytes"]) == (OLD, delta)


@pytest.mark.slow
def test_a_renamed_program_is_explained_alike(renamed: Path) -> None:
    assert check(renamed, [("B", "A")], EVERY_BUFFER, more=True) > 400
