"""Since when programs differ, and what became of each step of a series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.reports.situations import MIB, WORK, night
from tests.reports.worlds import Program, make

NIGHTS = 8

SIZES: dict[str, list[int | None]] = {
    "jit_stands": [10, 10, 14, 14, 14, 14, 14, 14],
    "jit_undone": [10, 14, 14, 14, 10, 10, 10, 10],
    "jit_half_back": [10, 10, 20, 20, 15, 15, 15, 15],
    "jit_twice": [10, 12, 12, 16, 16, 16, 12, 12],
    "jit_slow": [200, 201, 202, 203, 204, 205, 206, 207],
    "jit_reshaped": [10, 10, 99, 99, 10, 14, 14, 14],
    "jit_gone": [10, 10, 10, 10, 10, None, None, None],
    "jit_back": [10, 10, None, None, 10, 10, 14, 14],
}
"""Mebibytes of each program, night by night; 99 is one of other shapes."""


def sized(name: str, mebibytes: int) -> Program:
    work = replace(WORK, size=mebibytes * MIB)
    program = Program(name, (work,), text=f"{name} {mebibytes}", source=name)
    if mebibytes == 99:
        return replace(program, shapes="(f32[16]{0})->f32[8]{0}", source="wide")
    return program


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    worlds = [
        night(
            number + 1,
            *(sized(n, s[number] or 0) for n, s in SIZES.items() if s[number]),
            commit=f"commit-{number + 1}",
        )
        for number in range(NIGHTS)
    ]
    return make(tmp_path_factory.mktemp("steps") / "w.duckdb", *worlds)


def shown(
    rows: Iterable[dict[str, Any]], names: tuple[str, ...]
) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_steps_and_what_became_of_them(nights: Path) -> None:
    with connect(nights) as connection:
        rows = run_query(connection, "memory_steps").dicts()
        twice = run_query(connection, "memory_steps", {"program": "jit_twice"})
    assert twice.dicts() == [row for row in rows if row["program"] == "jit_twice"]
    lasts = {row["program"]: row["last_reserved_bytes"] for row in rows}
    latest = {n: [s for s in SIZES[n] if s is not None][-1] * MIB for n in lasts}
    assert lasts == {**latest, "jit_gone": lasts["jit_gone"]}
    names = ("program", "base_run", "run", "verdict", "fate", "undone_run_id")
    sides = ("program", "base_run", "run", "base_reserved_bytes")
    more = ("candidate_reserved_bytes", "delta_reserved_bytes", "delta_live_peak_bytes")
    for program, base, run, before, after, *deltas in shown(rows, sides + more):
        sizes = [SIZES[program][int(name[-1]) - 1] for name in (base, run)]
        first, last = ((size or 0) * MIB for size in sizes)
        # A program that is gone has no size, and none to compare.
        assert (before, after or 0) == (first, last)
        assert [delta or 0 for delta in deltas] == [last - first if last else 0] * 2
    assert {row["noise_band_bytes"] for row in rows} == {0}
    assert sorted(shown(rows, names)) == [
        ("jit_back", "night-6", "night-7", "worse", "stands", None),
        ("jit_gone", "night-5", "night-6", "failed", "stands", None),
        ("jit_half_back", "night-2", "night-3", "worse", "undone", None),
        ("jit_half_back", "night-4", "night-5", "improved", None, None),
        ("jit_reshaped", "night-5", "night-6", "worse", "stands", None),
        ("jit_stands", "night-2", "night-3", "worse", "stands", None),
        ("jit_twice", "night-1", "night-2", "worse", "stands", None),
        ("jit_twice", "night-3", "night-4", "worse", "undone", None),
        ("jit_twice", "night-6", "night-7", "improved", None, 4),
        ("jit_undone", "night-1", "night-2", "worse", "undone", None),
        ("jit_undone", "night-4", "night-5", "improved", None, 2),
    ]


@pytest.mark.slow
def test_since_when_the_last_night_differs(nights: Path) -> None:
    """From the first night, and from the fourth."""
    names = ("program", "verdict", "first_run", "run_before", "undone_run")
    with connect(nights) as connection:
        found = {
            base: run_query(connection, "differences_since", {"base": base}).dicts()
            for base in ("night-1", "night-4")
        }
    assert sorted(shown(found["night-1"], names)) == [
        ("jit_back", "worse", "night-7", "night-6", None),
        ("jit_gone", "failed", "night-6", "night-5", None),
        ("jit_half_back", "worse", "night-3", "night-2", None),
        ("jit_reshaped", "worse", "night-6", "night-5", None),
        ("jit_slow", "worse", "night-5", "night-4", None),
        ("jit_stands", "worse", "night-3", "night-2", None),
        ("jit_twice", "worse", "night-2", "night-1", None),
    ]
    assert {row["program"]: row["first_commit"] for row in found["night-1"]}[
        "jit_stands"
    ] == "commit-3"
    assert sorted(shown(found["night-4"], names)) == [
        # It is taken for jit_gone under another name.
        ("jit_back", "worse", "night-7", "night-6", None),
        ("jit_half_back", "improved", "night-5", "night-4", None),
        # Its arguments have been others again since then.
        ("jit_reshaped", "changed", "night-5", "night-4", None),
        ("jit_slow", "worse", "night-7", "night-6", None),
        ("jit_twice", "improved", "night-7", "night-6", None),
        ("jit_undone", "improved", "night-5", "night-4", None),
    ]


def test_the_run_and_the_commit_of_a_difference_are_named(tmp_path: Path) -> None:
    """It grows in the second night; the third is as the second."""
    worlds = [
        night(number, sized("jit_f", size), commit=f"commit-{number}")
        for number, size in ((1, 10), (2, 14), (3, 14))
    ]
    asked = {"base": "night-1", "candidate": "night-3"}
    with connect(make(tmp_path / "w.duckdb", *worlds)) as connection:
        [row] = run_query(connection, "differences_since", {**asked}).dicts()
        again = run_query(connection, "differences_since", {"base": "night-2"})
    assert {name: value for name, value in row.items() if name != "rule"} == {
        **asked,
        "program": "jit_f",
        "base_program": None,
        "module_number": 1,
        "rank": None,
        "color": 0,
        "space_name": "host",
        "verdict": "worse",
        "delta_reserved_bytes": 4 * MIB,
        "first_run": "night-2",
        "run_before": "night-1",
        "undone_run": None,
        "commit_before": "commit-1",
        "first_commit": "commit-2",
    }
    assert again.rows == []
