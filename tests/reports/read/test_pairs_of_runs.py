"""All pairs of real runs: waterfalls close, A and A are the same, B and A mirror."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.facts import (
    Module,
    Profiles,
    Run,
    read_modules,
    read_profiles,
    read_runs,
)
from hlodb.reports.read.pairs import Pair, read_verdicts_of
from hlodb.reports.read.programs import ProgramRow
from hlodb.rules import rule_rows
from hlodb.schema.warehouse import connect
from tests.reports.made_buffers import (
    MIRRORED,
    Row,
    changes_between,
    opposite_sums,
    part_sums,
)
from tests.reports.matching import Match, match_modules

EXACT = Settings(floor_bytes=0, floor_ratio=0.0, top=3)
EVERY = {"min_delta_bytes": 0, "min_delta_ratio": 0.0, "managed_ratio": 0.0}
HELPERS = {program for _, program in rule_rows("library_programs")}
OPPOSITE = {"worse": "improved", "improved": "worse", "new": "failed", "failed": "new"}

Rows = set[tuple[object, ...]]
Connection = duckdb.DuckDBPyConnection


# --- The whole report ---------------------------------------------------------------


def diff(path: Path, base: str, candidate: str) -> Report:
    with connect(path) as connection:
        request = Request(candidate=candidate, baseline=f"run:{base}", kind="diff")
        return build_report(connection, request, EXACT)


def rows(report: Report) -> Rows:
    """Return its programs: JAX's helpers may be new, and are never missing."""
    return {
        (*_program(row), row.change, row.delta_bytes)
        for row in report.programs
        if row.change != "new" or row.program not in HELPERS
    }


def mirrored(report: Report) -> Rows:
    return {
        (
            *_program(row),
            OPPOSITE.get(row.change, row.change),
            None if row.delta_bytes is None else -row.delta_bytes,
        )
        for row in report.programs
        if row.change != "new" or row.program not in HELPERS
    }


def _program(row: ProgramRow) -> tuple[object, ...]:
    """Name a row by both programs, in an order that doesn't depend on the side."""
    names = sorted({row.program, row.base_program or row.program})
    sizes = sorted([row.base_bytes or 0, row.candidate_bytes or 0])
    return (*names, row.rank, row.color, *sizes)


def parts(report: Report, sign: int) -> Rows:
    names = MIRRORED if sign < 0 else {}
    return {
        (f.color, p.kind, names.get(p.part, p.part), sign * p.delta_bytes)
        for f in report.findings
        for p in f.parts
    }


def names_of(path: Path) -> list[str]:
    with connect(path) as connection:
        return [run.name for run in read_runs(connection)]


@pytest.mark.slow
def test_a_run_is_the_same_as_itself(demo_warehouse: Path) -> None:
    for name in names_of(demo_warehouse):
        report = diff(demo_warehouse, name, name)
        assert {row.change for row in report.programs} == {"same"}
        assert {row.rule for row in report.programs} == {"identical_artefact"}
        assert (report.findings, report.exit_code) == ([], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ("jaxlib-0.4.13", "jaxlib-0.4.20"),
        ("jaxlib-0.4.35", "jaxlib-0.5.3"),
        ("jaxlib-0.10.2", "v5e-jax-0.10.2"),
    ],
)
def test_a_report_mirrors(demo_warehouse: Path, base: str, candidate: str) -> None:
    there = diff(demo_warehouse, base, candidate)
    back = diff(demo_warehouse, candidate, base)
    assert mirrored(there) == rows(back)
    assert parts(there, -1) == parts(back, 1)
    for finding in (*there.findings, *back.findings):
        assert finding.residual_bytes == 0
        assert sum(p.delta_bytes for p in finding.parts) == (
            finding.delta_bytes if finding.parts else 0
        )


# --- All pairs of runs, every program of them --------------------------------------


class World(NamedTuple):
    connection: Connection
    runs: list[Run]
    modules: dict[int, list[Module]]
    profiles: Profiles


def read_world(connection: Connection, *prefixes: str) -> World:
    """Return the runs whose names begin so."""
    runs = [run for run in read_runs(connection) if run.name.startswith(prefixes)]
    modules = read_modules(connection, runs)
    every = (module for found in modules.values() for module in found)
    return World(connection, runs, modules, read_profiles(connection, every))


def matched(world: World, base: Run, candidate: Run) -> list[Match]:
    found, _, _ = match_modules(world.connection, world.modules, base, candidate)
    return [m for m in found if m.base.has_assignment and m.candidate.has_assignment]


def falls(world: World, matches: list[Match]) -> list[dict[int, list[Row]]]:
    pairs = [(m.base.module_id, m.candidate.module_id) for m in matches]
    return changes_between(world.connection, pairs)


def swapped(match: Match) -> Match:
    return match._replace(base=match.candidate, candidate=match.base)


def changes(world: World, matches: Sequence[Match]) -> list[list[tuple[int, str]]]:
    """Return memory space and change of every match."""
    pairs = [Pair(m.base, m.candidate, None, "matched") for m in matches]
    found: dict[int, list[tuple[int, str]]] = {id(pair): [] for pair in pairs}
    for v in read_verdicts_of(world.connection, pairs, world.profiles, (), EVERY):
        found[id(v.pair)].append((v.color, v.change))
    return list(found.values())


def check_all_pairs(world: World) -> int:
    matches: list[Match] = []
    for base, candidate in combinations(world.runs, 2):
        there = matched(world, base, candidate)
        back = matched(world, candidate, base)
        assert {(m.base, m.candidate) for m in there} == {
            (m.candidate, m.base) for m in back
        }
        matches += there
    backwards = [swapped(match) for match in matches]
    for there_falls, back_falls in zip(
        falls(world, matches), falls(world, backwards), strict=True
    ):
        assert there_falls.keys() == back_falls.keys()
        for color, forth in there_falls.items():
            back_fall = back_falls[color]
            residuals = {row["residual_bytes"] for row in (*forth, *back_fall)}
            assert residuals == {0}
            assert part_sums(back_fall) == opposite_sums(forth)
    assert changes(world, backwards) == [
        [(color, OPPOSITE.get(change, change)) for color, change in found]
        for found in changes(world, matches)
    ]
    return len(matches)


@pytest.mark.slow
def test_all_pairs_of_releases(demo_warehouse: Path) -> None:
    with connect(demo_warehouse) as connection:
        assert check_all_pairs(read_world(connection, "")) == 442


@pytest.mark.shared
@pytest.mark.slow
def test_all_pairs_of_tpu_dumps(full_warehouse: Path) -> None:
    """And of those with protos."""
    with connect(full_warehouse) as connection:
        world = read_world(connection, "v5", "tpu-", "cpu-")
        assert len(world.runs) == 7
        assert check_all_pairs(world) > 100
