"""Figures of memory_analysis() of two runs, program by program."""

from __future__ import annotations

import duckdb

from hlodb.queries.run import run_query
from tests.occurrences import store_modules
from tests.queries.stored import add

SAID = {
    # Arguments, results, aliases and temporaries of each program.
    "base": [
        ("jit_same", 100, 40, 10, 7),
        ("jit_step", 100, 40, 30, 7),
        ("jit__lambda", 8, 8, 0, 1),
        ("jit__lambda", 16, 16, 0, 2),
        ("jit_gone", 1, 1, 0, 1),
    ],
    "candidate": [
        ("jit_same", 100, 40, 10, 7),
        ("jit_step", 150, 60, 0, 17),
        ("jit__lambda", 16, 16, 0, 5),
        ("jit__lambda", 32, 32, 0, 4),
        ("jit_new", 1, 1, 0, 1),
    ],
}


def test_programs_of_one_name_are_paired_by_their_arrays(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    """The lambda of 16 bytes is the same program; of 8 and of 32 are the others."""
    assigned: list[dict[str, object]] = []
    for run_id, (run, programs) in enumerate(SAID.items(), 1):
        add(warehouse, "runs", run_id=run_id, name=run)
        for ordinal, (name, arguments, results, aliases, temps) in enumerate(programs):
            add(
                warehouse,
                "memory_analysis",
                run_id=run_id,
                path="memory_analysis.json",
                ordinal=ordinal,
                module_name=name,
                argument_bytes=arguments,
                output_bytes=results,
                alias_bytes=aliases,
                temp_bytes=temps,
            )
        for name in ("jit_same", "jit_step")[:run_id]:
            facts = {"run_id": run_id, "path": name, "part": 0, "name": name}
            facts |= {"module_id": len(assigned) + 1, "program": name}
            assigned.append({**facts, "has_assignment": True})
    store_modules(warehouse, assigned)
    asked = {"base": "base", "candidate": "candidate"}
    runs = ("base", "candidate")
    assert run_query(warehouse, "memory_analysis_diff", {**asked}).rows == [
        # 100 + 40 + 7 - 30 = 117 and 150 + 60 + 17 = 227.
        (*runs, "jit_step", False, 117, 227, 110, 50, 20, -30, 10),
        # 8 + 8 + 1 = 17 and 32 + 32 + 4 = 68.
        (*runs, "jit__lambda", False, 17, 68, 51, 24, 24, 0, 3),
        # 16 + 16 + 2 = 34 and 16 + 16 + 5 = 37.
        (*runs, "jit__lambda", False, 34, 37, 3, 0, 0, 0, 3),
        (*runs, "jit_same", True, 137, 137, 0, 0, 0, 0, 0),
    ]
