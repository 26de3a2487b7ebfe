"""A report prints what queries answer: the same rows, in any DuckDB."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.catalogue import load_catalogue
from hlodb.queries.macros import install_macros
from hlodb.queries.query import Query
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.compare.read import read_runs
from hlodb.reports.compare.scene import Request
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.render.json import render
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
}
"""Fields of the divergence of a finding, and the columns of first_divergence."""


def report_json(
    path: Path, base: str, candidate: str, settings: Settings, kind: str
) -> dict[str, Any]:
    with connect(path) as connection:
        request = Request(candidate=candidate, baseline=f"run:{base}", kind=kind)
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
        report = told(report_json(path, base, candidate, settings, kind))
        assert answered(rows) == report, (base, candidate)
    return len(pairs)


EXPLAINED = {
    "delta_waterfall": ("parts", PART),
    "buffer_diff": ("buffers", BUFFER),
    "first_divergence": ("divergence", DIVERGENCE),
}


def check_explanations(
    path: Path, pairs: Sequence[tuple[str, str]], settings: Settings
) -> int:
    """Compare the findings on each pair of runs with what DuckDB's own binary says.

    Return how many rows were compared.
    """
    catalogue = load_catalogue()
    asked = [(pair, query) for pair in pairs for query in EXPLAINED]
    calls: list[tuple[Query, dict[str, Value]]] = []
    for (base, candidate), query in asked:
        more: dict[str, Value] = {"top": None} if query == "buffer_diff" else {}
        given = {"base": base, "candidate": candidate, "follow": False, **more}
        calls.append((catalogue[query], given))
    answers = dict(zip(asked, told_by_duckdb(path, calls), strict=True))
    compared = 0
    for pair in pairs:
        report = report_json(path, *pair, settings, "diff")
        explained = [f for f in report["findings"] if f["divergence"] or f["parts"]]
        for query, (field, columns) in EXPLAINED.items():
            rows = of_report(explained, field, columns)
            assert rows == of_query(answers[pair, query], columns, rows), (pair, query)
            compared += rows.total()
    return compared


def of_report(
    findings: Iterable[Row], field: str, columns: Mapping[str, str]
) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for finding in findings:
        shown = finding[field] if isinstance(finding[field], list) else [finding[field]]
        for each in filter(None, shown):
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
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        number = {"module_number": row.get("candidate_module_number")}
        module = tuple({**number, **row}[name] for name in MODULE)
        if module in modules:
            found[(*module, *(row[name] for name in columns.values()))] += 1
    return found


EVERY_BUFFER = Settings(floor_bytes=0, floor_ratio=0.0, top=1_000_000)


def test_explanations_of_pairs_of_the_demo(demo_warehouse: Path) -> None:
    pairs = pairs_of(demo_warehouse)[::7]
    assert check_explanations(demo_warehouse, pairs, EVERY_BUFFER) > 1_000


@pytest.mark.shared
def test_explanations_of_pairs_of_the_full_dumps(full_warehouse: Path) -> None:
    pairs = pairs_of(full_warehouse)[::11]
    assert check_explanations(full_warehouse, pairs, EVERY_BUFFER) > 1_000


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
    check_explanations(path, pairs_of(path), EVERY_BUFFER)


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


def test_a_renamed_program_is_explained_alike(renamed: Path) -> None:
    assert check_explanations(renamed, [("A", "B"), ("B", "A")], EVERY_BUFFER) > 800
