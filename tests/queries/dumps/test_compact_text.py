"""Dumps of jaxlib 0.12.0, whose texts leave get-tuple-elements out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect


def test_every_line_is_understood(compact_warehouse: Path) -> None:
    with connect(compact_warehouse) as connection:
        files = connection.execute("SELECT status, lines_unclaimed FROM dump_files")
        assert Counter(files.fetchall()) == {("loaded", 0): 25, ("loaded", None): 9}
        assert connection.execute("FROM rejects").fetchall() == []


def test_all_checks_hold(compact_warehouse: Path) -> None:
    """Among others that text and proto say the same, and that uses are operands."""
    with connect(compact_warehouse) as connection:
        found = run_query(connection, "check_results", {}).rows
    assert {(status, faults) for _, status, *_, faults, _ in found} == {("ok", 0)}


def test_elements_have_the_names_and_steps_that_xla_gives_them(
    compact_warehouse: Path,
) -> None:
    """All of them were told: names are those of the protos, none stands alone."""
    with connect(compact_warehouse) as connection:
        found = connection.execute(
            """
            SELECT m.program, count(*), count(computation_id), count(schedule_step)
            FROM modules AS m JOIN instructions AS i USING (module_id)
            WHERE m.has_assignment
              AND (i.opcode IS NULL OR i.opcode = 'get-tuple-element')
            GROUP BY m.program ORDER BY m.program
            """
        ).fetchall()
        paths = connection.execute(
            """
            SELECT count(*) FROM modules AS m
            JOIN instructions AS i USING (module_id)
            JOIN operands AS p USING (module_id, instruction_id)
            JOIN instructions AS o
              ON o.module_id = p.module_id AND o.instruction_id = p.operand_id
            WHERE m.has_assignment AND starts_with(i.name, o.name || '_')
            """
        ).fetchall()
    assert found == [
        ("jit_cg", 13, 13, 13),
        ("jit_mlp_step", 14, 14, 14),
        ("jit_ring", 4, 4, 4),
    ]
    assert paths == [(0,)]


def test_without_an_assignment_an_element_is_called_by_its_path(
    compact_warehouse: Path,
) -> None:
    with connect(compact_warehouse) as connection:
        found = connection.execute(
            """
            SELECT m.stage, i.name, i.shape, i.attributes FROM modules AS m
            JOIN instructions AS i USING (module_id)
            JOIN computations AS c USING (module_id, computation_id)
            WHERE m.program = 'jit_cg' AND c.name = 'region_0.1'
              AND i.opcode = 'get-tuple-element'
            ORDER BY m.stage DESC, i.name
            """
        ).fetchall()
    assert found == [
        ("before_optimizations", "arg_tuple.1_0", "f32[512]{0}", "index=0"),
        ("before_optimizations", "arg_tuple.1_1", "f32[512]{0}", "index=1"),
        ("before_optimizations", "arg_tuple.1_2", "f32[512]{0}", "index=2"),
        ("before_optimizations", "arg_tuple.1_3", "f32[]", "index=3"),
        ("before_optimizations", "arg_tuple.1_4", "s32[]", "index=4"),
        ("before_optimizations", "arg_tuple.1_5", "f32[512,512]{1,0}", "index=5"),
        ("after_optimizations", "get-tuple-element.12", "f32[512]{0}", "index=0"),
        ("after_optimizations", "get-tuple-element.13", "f32[512]{0}", "index=1"),
        ("after_optimizations", "get-tuple-element.14", "f32[512]{0}", "index=2"),
        ("after_optimizations", "get-tuple-element.15", "f32[]", "index=3"),
        ("after_optimizations", "get-tuple-element.16", "s32[]", "index=4"),
        ("after_optimizations", "get-tuple-element.29", "f32[512,512]{1,0}", "index=5"),
    ]
