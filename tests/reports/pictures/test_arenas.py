"""Maps of arenas hold what the warehouse says of each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.drawn import arenas
from hlodb.reports.read.drawn.arenas import (
    MOST_VALUES,
    Arena,
    ArenaMap,
    Beside,
    MappedValue,
    PlacedValue,
)
from hlodb.schema.warehouse import connect
from tests.reports.arena_maps import (
    BASE,
    BASE_ARENA,
    CANDIDATE,
    CANDIDATE_ARENA,
    COPY,
    EXP,
    KEPT,
    MASK,
    MIB,
    VALUES,
)
from tests.reports.situations import night
from tests.reports.worlds import Buffer, Program, make

EVERYTHING = Settings(floor_bytes=0, floor_ratio=0.0)


def warehouse(
    folder: Path, base: Sequence[Buffer], candidate: Sequence[Buffer]
) -> Path:
    nights = (Program("jit_f", tuple(buffers)) for buffers in (base, candidate))
    worlds = (night(number, program) for number, program in enumerate(nights, 1))
    return make(folder / "hlodb.duckdb", *worlds)


def report_of(path: Path) -> Report:
    with connect(path) as connection:
        return build_report(connection, Request(), EVERYTHING)


@pytest.mark.slow
def test_a_map_says_where_every_value_lies_and_what_became_of_it(
    tmp_path: Path,
) -> None:
    report = report_of(warehouse(tmp_path, BASE, CANDIDATE))
    (finding,) = report.findings
    assert report.arenas == [
        ArenaMap(finding.id, BASE_ARENA, CANDIDATE_ARENA, VALUES),
    ]


@pytest.mark.slow
def test_what_moved_to_the_peak_is_told_from_what_stayed(tmp_path: Path) -> None:
    """At step 1 `exp` is live, but not `copy`; at step 7 both are."""
    later = replace(EXP, start=7, end=8, offset=3 * MIB)
    report = report_of(warehouse(tmp_path, BASE, (KEPT, later, COPY)))
    (drawn,) = report.arenas
    assert [(v.status, v.candidate) for v in drawn.values] == [
        ("at peak now", PlacedValue("copy", 2 * MIB, MIB, 6, 8)),
        ("same", PlacedValue("kept", 0, 2 * MIB, 0, 10)),
        ("same", PlacedValue("exp", 3 * MIB, MIB, 7, 8)),
    ]
    (tmp_path / "back").mkdir()
    report = report_of(warehouse(tmp_path / "back", (KEPT, later, COPY), BASE))
    statuses = [value.status for value in report.arenas[0].values]
    assert statuses == ["at peak before", "same", "same"]


@pytest.mark.slow
def test_small_values_are_left_out_unless_a_large_one_is_matched_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arenas, "MOST_VALUES", 2)
    small = replace(COPY, size=MIB // 4)
    large = replace(small, size=4 * MIB)
    report = report_of(warehouse(tmp_path, (KEPT, EXP, small), (KEPT, large)))
    (drawn,) = report.arenas
    assert [
        (v.status, v.base and v.base.size_bytes, v.candidate and v.candidate.size_bytes)
        for v in drawn.values
    ] == [
        ("larger", MIB // 4, 4 * MIB),
        ("gone", MIB, None),
        ("same", 2 * MIB, 2 * MIB),
    ]
    monkeypatch.setattr(arenas, "MOST_VALUES", 1)
    (drawn,) = report_of(tmp_path / "hlodb.duckdb").arenas
    assert [v.status for v in drawn.values] == ["same"]
    assert drawn.base and drawn.base.value_count == 3
    assert drawn.candidate and drawn.candidate.value_count == 2


@pytest.mark.slow
def test_a_space_that_one_side_uses_has_one_map(tmp_path: Path) -> None:
    other = replace(MASK, color=1, offset=0)
    report = report_of(warehouse(tmp_path, BASE, (*BASE, other)))
    (drawn,) = report.arenas
    assert drawn.base is None
    assert drawn.values == [MappedValue("new", None, PlacedValue("mask", 0, MIB, 4, 9))]


@pytest.mark.slow
def test_the_largest_of_several_arenas_is_drawn(tmp_path: Path) -> None:
    path = warehouse(tmp_path, BASE, CANDIDATE)
    with connect(path, read_only=False) as connection:
        connection.execute(
            "INSERT INTO allocations BY NAME SELECT module_id, 99 AS allocation_id,"
            " 64 AS size_bytes, color, kind FROM allocations"
        )
    (drawn,) = report_of(path).arenas
    assert drawn.base == replace(BASE_ARENA, arena_count=2)
    assert drawn.candidate == replace(CANDIDATE_ARENA, arena_count=2)


def test_beside_the_arena_lies_what_else_is_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arenas, "MOST_BESIDE", 2)
    others = (
        Buffer("weights", 3 * MIB, kind="parameter", parameter=0),
        Buffer("loss", 5 * MIB, kind="live_out", start=4),
        Buffer("step", 64, kind="parameter", parameter=1),
        Buffer("rate", 32, kind="parameter", parameter=2),
        Buffer("half", 8, kind="constant"),
        Buffer("in another space", MIB, kind="parameter", parameter=3, color=1),
    )
    path = warehouse(tmp_path, BASE, (*CANDIDATE, *others))
    drawn = next(each for each in report_of(path).arenas if each.base)
    assert drawn.base and drawn.candidate
    assert drawn.base.beside == ()
    assert drawn.candidate.beside == (
        Beside("constant", 1, 8),
        Beside("live_out", 1, 5 * MIB, "loss", 4),
        Beside("parameter", 1, 3 * MIB, "weights"),
        Beside("parameter", 2, 96),
    )
    with connect(path) as connection:
        (reserved,) = connection.execute(
            "SELECT reserved_bytes FROM memory_profile WHERE color = 0"
            " ORDER BY reserved_bytes DESC LIMIT 1"
        ).fetchone() or (None,)
    assert drawn.candidate.reserved_bytes == reserved == (6 + 8) * MIB + 96 + 8


@pytest.mark.slow
def test_a_pruned_run_has_no_map(tmp_path: Path) -> None:
    path = warehouse(tmp_path, BASE, CANDIDATE)
    with connect(path, read_only=False) as connection:
        connection.execute("DELETE FROM memory_timeline")
        connection.execute("DELETE FROM allocation_values")
    assert report_of(path).arenas == []


@pytest.mark.slow
def test_maps_of_real_dumps_hold_the_values_of_the_warehouse(
    diffs: list[Report], demo_warehouse: Path
) -> None:
    """Compared with the arenas of the module of the finding."""
    checked = 0
    with connect(demo_warehouse, read_only=True) as connection:
        for report in diffs:
            findings = {f.id: f for f in report.findings}
            for each in report.arenas:
                f = findings[each.finding_id]
                base = {v.base for v in each.values if v.base is not None}
                now = {v.candidate for v in each.values if v.candidate is not None}
                program = f.base_program or f.program
                known = arenas_of(connection, f.base_run or "", program, f.color)
                assert holds(known, each.base, base)
                known = arenas_of(connection, f.candidate_run, f.program, f.color)
                assert holds(known, each.candidate, now)
                checked += 1
    assert checked > 10


Known = tuple[Arena, set[PlacedValue]]


def holds(known: Sequence[Known], arena: Arena | None, drawn: set[PlacedValue]) -> bool:
    """Return whether a module has this arena and these as its largest values."""
    (values,) = (found for each, found in known if each == arena)
    left_out = values - drawn
    least = sorted((v.byte_steps for v in drawn), reverse=True)[:MOST_VALUES][-1]
    return drawn <= values and all(v.byte_steps <= least for v in left_out)


def arenas_of(
    connection: duckdb.DuckDBPyConnection, run: str, program: str, color: int
) -> list[Known]:
    """Return the arenas of all modules of a name, counted value by value."""
    modules = connection.execute(
        "SELECT DISTINCT module_id, allocation_id, size_bytes, max(to_step)"
        " FROM modules JOIN runs USING (run_id) JOIN memory_timeline USING (module_id)"
        " JOIN allocations USING (module_id, color)"
        " WHERE runs.name = ? AND program = ? AND color = ? AND kind = 'temp'"
        " GROUP BY module_id, allocation_id, size_bytes",
        [run, program, color],
    ).fetchall()
    found: list[Known] = []
    for module_id, allocation_id, size, last_step in modules:
        rows = connection.execute(
            "SELECT v.instruction || coalesce(v.shape_index, ''),"
            " p.offset_bytes, p.size_bytes, l.start_step, l.end_step"
            " FROM allocation_values AS p"
            " JOIN live_ranges AS l USING (module_id, value_id)"
            ' JOIN "values" AS v USING (module_id, value_id)'
            " WHERE module_id = ? AND allocation_id = ?",
            [module_id, allocation_id],
        ).fetchall()
        values = {PlacedValue(*row) for row in rows}
        assert len(values) == len(rows)
        found.append((_arena(values, size, last_step), values))
    return found


def _arena(values: set[PlacedValue], size: int, last_step: int) -> Arena:
    live = {step: live_at(values, step) for step in {v.start_step for v in values}}
    peak = min(live, key=lambda step: (-live[step], step))
    covered = sum(v.byte_steps for v in values)
    return Arena(1, size, live[peak], peak, last_step, len(values), covered)


def live_at(values: set[PlacedValue], step: int) -> int:
    """Return the bytes that a step needs; those that values share count once."""
    live, reach = 0, 0
    there = (v for v in values if v.start_step <= step <= v.end_step)
    for v in sorted(there, key=lambda v: v.offset_bytes):
        end = v.offset_bytes + v.size_bytes
        live += max(0, end - max(v.offset_bytes, reach))
        reach = max(reach, end)
    return live
