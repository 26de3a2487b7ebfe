"""`first_divergence` pairs compilations and names where they part as reports do."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hlodb.ingest.ingest import ingest
from hlodb.queries.macros import install_macros
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.compilations import read_compilations
from hlodb.reports.divergence import divergence
from hlodb.reports.facts import Run
from hlodb.reports.match import match_modules
from hlodb.reports.model_findings import Divergence
from hlodb.reports.ranks import in_ranks_of
from hlodb.reports.read import read_modules, read_runs
from hlodb.reports.scene import Request
from hlodb.reports.settings import Settings
from hlodb.schema.creation import create_schema
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.occurrences import store_modules
from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection
Partings = dict[tuple[Any, ...], Divergence]
"""By rank, and name and number of both; the query gives no reasons."""

COARSE = ("framework", "compiler", "none")
"""Blames that a report tells more of, or that depend on the memory."""


def check(connection: Connection, base: Run, candidate: Run) -> Partings:
    """Hold the query against the report; give what the query says."""
    told = by_report(connection, base, candidate)
    found = by_query(connection, base, candidate)
    assert found == {
        key: replace(d, blame=found[key].blame)
        if key in found and found[key].blame in COARSE
        else d
        for key, d in told.items()
    }
    return found


def by_report(connection: Connection, base: Run, candidate: Run) -> Partings:
    read = read_modules(connection, [base, candidate])
    modules = in_ranks_of(read[candidate.run_id], read)
    compilations = read_compilations(
        connection, [m for run in modules.values() for m in run]
    )
    matches, _, _ = match_modules(
        modules[base.run_id], modules[candidate.run_id], nothing_is_alike
    )
    pairs = [(m.base, m.candidate) for m in matches]
    return {
        (rank, b.program, b.module_number, c.program, c.module_number): replace(
            found, reason=""
        )
        for b, c in pairs
        # The query shows the rank that either names.
        for rank in [b.own_rank if c.own_rank is None else c.own_rank]
        for found in [divergence(compilations[b], compilations[c], "", False)]
        if found.last_equal or found.first_different
    }


def nothing_is_alike(pairs: Sequence[object]) -> list[float]:
    """Guesses by opcodes are only the report's."""
    return [0.0 for _ in pairs]


def by_query(connection: Connection, base: Run, candidate: Run) -> Partings:
    runs = {"base": base.name, "candidate": candidate.name}
    result = run_query(connection, "first_divergence", runs)
    names = [column.name for column in result.columns]
    rows = [dict(zip(names, row, strict=True)) for row in result.rows]
    return {
        (
            row["rank"],
            row["base_program"] or row["program"],
            row["base_module_number"],
            row["program"],
            row["candidate_module_number"],
        ): Divergence(
            row["last_equal_stage"], row["first_different_stage"], row["blame"], ""
        )
        for row in rows
    }


# --- Real pairs ---------------------------------------------------------------------


def check_pairs(path: Path, names: str = "", apart: int = 9) -> list[Divergence]:
    """Check runs whose names begin so, each with those that are so far after it."""
    partings: list[Divergence] = []
    with connect(path) as connection:
        runs = [run for run in read_runs(connection) if run.name.startswith(names)]
        for at, base in enumerate(runs):
            for candidate in runs[at + 1 : at + 1 + apart]:
                partings += check(connection, base, candidate).values()
    return partings


def test_releases_and_the_two_after_them(demo_warehouse: Path) -> None:
    assert len(check_pairs(demo_warehouse, apart=2)) == 172


def test_programs_that_share_a_name(framework_warehouse: Path) -> None:
    assert len(check_pairs(framework_warehouse)) == 41


@pytest.mark.shared
def test_all_pairs_of_tpu_dumps(full_warehouse: Path) -> None:
    assert len(check_pairs(full_warehouse, "v5")) == 42


# A real dump of all passes, and the same as if a pass had done something else: from
# there on every addition is a subtraction.
RING = DATA / "passes" / "jit_ring.tar.xz"
LAYOUT = "HLO_passes_through_layout_assignment: after "
FUSION = "HLO_passes_after_layout_assignment: after fusion"
TURNS = {
    3: ("spmd-partitioner: after pipeline-start", "spmd-partitioner: after shardy-xla"),
    12: ("simplification: after pipeline-start", "simplification: after algsimp"),
    16: (
        "post_scatter_expansion_simplification: after pipeline-start",
        LAYOUT + "layout-assignment",
    ),
    24: ("after_layout_assignment: after pipeline-start", FUSION),
}
BLAMES = {3: "partitioner", 12: "optimisation", 16: "layout", 24: "fusion"}


def turned(ring: Path, folder: Path, step: int, without: bool = False) -> str:
    """Copy a dump as if the pass of that step had done otherwise, or nothing."""
    folder.mkdir()
    for path in ring.iterdir():
        number = path.name.split(".")[2]
        at = int(number) if number.isdigit() else 99 * ("after_opt" in path.name)
        text = path.read_text()
        text = text.replace(" add(", " subtract(") if at >= step else text
        if not (without and at == step):
            (folder / path.name).write_text(text)
    return str(folder)


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a warehouse of the dump, of every turn, and of one without its pass."""
    folder = tmp_path_factory.mktemp("rings")
    ring = folder / "ring"
    with tarfile.open(RING) as archive:
        archive.extractall(ring, filter="data")
    paths = [turned(ring, folder / f"turn-{step}", step) for step in TURNS]
    paths.append(turned(ring, folder / "without-24", 24, without=True))
    ingest([str(ring), *paths], folder / "rings.duckdb")
    return folder / "rings.duckdb"


def parting_of_rings(path: Path, base: str, candidate: str) -> Divergence:
    with connect(path) as connection:
        runs = {run.name: run for run in read_runs(connection)}
        (found,) = check(connection, runs[base], runs[candidate]).values()
    return found


@pytest.mark.parametrize("step", TURNS)
def test_a_pass_that_does_something_else(rings: Path, step: int) -> None:
    expected = Divergence(*TURNS[step], BLAMES[step], "")
    assert parting_of_rings(rings, "ring", f"turn-{step}") == expected
    assert parting_of_rings(rings, f"turn-{step}", "ring") == expected


def test_a_pass_that_only_one_side_ran(rings: Path) -> None:
    last, first = TURNS[24]
    base_only = Divergence(last, f"{first} (in the base only)", "fusion", "")
    assert parting_of_rings(rings, "ring", "without-24") == base_only
    candidate_only = replace(
        base_only, first_different=first + " (in the candidate only)"
    )
    assert parting_of_rings(rings, "without-24", "ring") == candidate_only


def test_a_donation_is_the_framework_s_though_no_graph_tells_of_it(
    tmp_path: Path,
) -> None:
    dumps = [str(DATA / "changes" / "donation" / name) for name in ("base", "dropped")]
    ingest(dumps, tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        base, candidate = read_runs(connection)
        (found,) = check(connection, base, candidate).values()
    assert found == Divergence("after_optimizations", None, "framework", "")


def test_the_report_itself_names_the_same(demo_warehouse: Path) -> None:
    request = Request("jaxlib-0.5.3", "run:jaxlib-0.4.35", kind="diff")
    with connect(demo_warehouse) as connection:
        report = build_report(connection, request, Settings(floor_bytes=0))
        runs = {run.name: run for run in read_runs(connection)}
        partings = by_query(connection, runs["jaxlib-0.4.35"], runs["jaxlib-0.5.3"])
    named = {(key[3], key[4]): parting for key, parting in partings.items()}
    explained = [f for f in report.findings if f.divergence is not None]
    assert len(explained) > 5
    for f in explained:
        assert f.divergence is not None
        query = named[f.program, f.module_number]
        assert f.divergence.last_equal == query.last_equal
        assert f.divergence.first_different == query.first_different


# --- Made-up pairs ------------------------------------------------------------------


@pytest.fixture(scope="module")
def empty() -> Iterator[Connection]:
    with duckdb.connect() as connection:
        create_schema(connection)
        install_macros(connection)
        yield connection


FINGERPRINTS = st.tuples(st.integers(1, 4), st.integers(0, 1))
PASSES = st.tuples(st.sampled_from(("dce", "cse", "fusion")), FINGERPRINTS)
COMPILATIONS = st.fixed_dictionaries(
    {
        "program": st.sampled_from("ab"),
        "shapes": st.sampled_from(("(f32[8]{0})", "(f32[8]{1})", "(f32[16]{0})")),
        "rank": st.sampled_from((None, None, 0)),
        "source": st.none() | FINGERPRINTS,
        "passes": st.lists(PASSES, max_size=5),
        "final": st.none() | FINGERPRINTS,
    }
)
RUNS = st.tuples(*[st.lists(COMPILATIONS, min_size=1, max_size=5)] * 2)


def rows_of(run_id: int, number: int, compilation: dict[str, Any]) -> Iterator[Any]:
    c = compilation
    snapshots = [
        ("before_optimizations", None, c["source"]),
        *(("pass", name, prints) for name, prints in c["passes"]),
        ("after_optimizations", None, c["final"]),
    ]
    for step, (stage, name, prints) in enumerate(snapshots):
        if prints is None:
            continue
        graph, order = prints
        yield {
            "run_id": run_id,
            "module_id": run_id * 1000 + number * 10 + step,
            "module_number": number,
            "rank": c["rank"],
            "path": f"{number:02}.{step}.{stage}",
            "part": 0,
            "program": c["program"],
            "stage": stage,
            "pipeline": "p" if name else None,
            "pass_after": name,
            "pass_step": step if name else None,
            "entry_layout": c["shapes"],
            "program_key": len(c["shapes"]),
            "graph_fingerprint": graph,
            "exact_fingerprint": 10 * graph + order,
            "has_assignment": stage == "after_optimizations",
        }


@examples
@given(runs=RUNS)
def test_any_two_runs(
    empty: Connection, runs: tuple[list[dict[str, Any]], ...]
) -> None:
    rows = [
        row
        for run_id, compilations in enumerate(runs, 1)
        for number, compilation in enumerate(compilations, 1)
        for row in rows_of(run_id, number, compilation)
    ]
    assume(rows)
    with empty.cursor() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO runs (run_id, name) VALUES (1, 'a'), (2, 'b')")
        store_modules(connection, rows)
        base, candidate = read_runs(connection)
        check(connection, base, candidate)
        connection.execute("ROLLBACK")
