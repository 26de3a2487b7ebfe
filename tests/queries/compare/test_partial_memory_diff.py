"""Bounds of programs that only have their HLO text, in two runs."""

from __future__ import annotations

from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect

TEXT = """HloModule {program}, is_scheduled=true

ENTRY main {{
  x = f32[{rows},512]{{1,0}} parameter(0)
  big = f32[{large},1024]{{1,0}} broadcast(x), dimensions={{0,1}}
  ROOT y = f32[{result}]{{0}} slice(big), slice={{[0:{result}]}}
}}
"""
KIB, MIB = 1024, 1024 * 1024

PROGRAMS = {
    # Rows of the argument, rows of the largest array, elements of the result.
    "base": {
        "jit_f": (512, 1024, 512),
        "jit_g": (512, 512, 512),
        "jit_gone": (1, 1, 1),
    },
    "candidate": {"jit_f": (512, 2048, 512), "jit_g": (256, 512, 256)},
}


def test_bounds_of_two_texts(tmp_path: Path) -> None:
    for run, programs in PROGRAMS.items():
        dump = tmp_path / run
        dump.mkdir()
        for program, (rows, large, result) in programs.items():
            sizes = {"rows": rows, "large": large, "result": result}
            text = TEXT.format(program=program, **sizes)
            (dump / f"{program}.after_optimizations.txt").write_text(text)
        request = RunRequest(name=run)
        ingest([str(dump)], tmp_path / "w.duckdb", request=request, jobs=1)
    asked: dict[str, Value] = {"base": "base", "candidate": "candidate"}
    with connect(tmp_path / "w.duckdb") as connection:
        found = run_query(connection, "partial_memory_diff", asked).rows
    runs, unknown = ("base", "candidate"), (None, None, None)
    assert found == [
        # An argument of 1 MiB beside an array of 4, then of 8 MiB.
        (*runs, "jit_f", "color_0", 5 * MIB, 9 * MIB, 4 * MIB, 0, 0, 4 * MIB, *unknown),
        # An argument of 1 MiB, then of half, beside an array of 2 MiB.
        (
            *(*runs, "jit_g", "color_0", 3 * MIB, 5 * MIB // 2, -MIB // 2),
            *(-MIB // 2, -KIB, 0, *unknown),
        ),
    ]
