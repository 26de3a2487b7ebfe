"""Programs that share a name: what they were compiled from tells them apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import write
from tests.reports.situations import MIB, WORK, night
from tests.reports.worlds import Program, make

OPCODES = ("sine", "cosine", "negate")


def module(line: int, size: int = 8, opcode: str = "sine") -> bytes:
    """Return a module of one operation, written at this line of the source."""
    metadata = (
        f'metadata={{op_name="f" source_file="/home/me/a.py" source_line={line}}}'
    )
    return (
        "HloModule jit__lambda, entry_computation_layout="
        f"{{(f32[{size}]{{0}})->f32[{size}]{{0}}}}\n\nENTRY %main {{\n"
        f"  %x = f32[{size}]{{0}} parameter(0)\n"
        f"  ROOT %y = f32[{size}]{{0}} {opcode}(%x), {metadata}\n}}\n"
    ).encode()


def groups(tmp_path: Path, *modules: bytes) -> list[tuple[object, ...]]:
    files = {
        f"module_{number:04}.jit__lambda.cpu_after_optimizations.txt": text
        for number, text in enumerate(modules, 1)
    }
    ingest([str(write(tmp_path / "dump", files))], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = run_query(connection, "recompile_groups").dicts()
    shown = "module_number", "module_count", "varying_arguments"
    return [tuple(row[name] for name in shown) for row in rows]


def test_lambdas_of_three_lines_are_three_functions(tmp_path: Path) -> None:
    three = [
        module(line, 8 * line, opcode) for line, opcode in enumerate(OPCODES, start=3)
    ]
    assert groups(tmp_path, *three) == []


def test_a_lambda_compiled_again_is_one_function(tmp_path: Path) -> None:
    """The first for two sizes, the second for three; the last is none of them."""
    modules = [
        *(module(3), module(4), module(3, 16), module(4, 16), module(4, 32)),
        module(9, 64, "cosine"),
    ]
    assert groups(tmp_path, *modules) == [
        (2, 3, "0: f32[16], f32[32], f32[8]"),
        (1, 2, "0: f32[16], f32[8]"),
    ]


def lambdas(*sizes: int) -> list[Program]:
    """Return unrelated programs of one name, with temporaries of these MiB."""
    return [
        Program(
            "jit__lambda",
            (replace(WORK, size=size * MIB),),
            shapes=f"(f32[{place}]{{0}})->f32[8]{{0}}",
            source=f"source {place}",
            text=f"{place} {size}",
        )
        for place, size in enumerate(sizes, 1)
    ]


def test_a_regression_behind_a_greater_program_of_its_name_shows(
    tmp_path: Path,
) -> None:
    nights = night(1, *lambdas(64, 4, 2)), night(2, *lambdas(64, 8, 2))
    with connect(make(tmp_path / "w.duckdb", *nights)) as connection:
        rows = run_query(connection, "peak_history").dicts()
        segments = run_query(connection, "history_segments").dicts()
    shown = "program", "number", "run", "reserved_bytes", "delta_reserved_bytes"
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("jit__lambda", number, f"night-{place}", size * MIB, delta)
        for number, sizes in enumerate(((64, 64), (4, 8), (2, 2)), 1)
        for place, size, delta in (
            (1, sizes[0], None),
            (2, sizes[1], (sizes[1] - sizes[0]) * MIB),
        )
    ]
    told = "number", "first_run", "run_count", "delta_reserved_bytes"
    assert [tuple(row[name] for name in told) for row in segments] == [
        (1, "night-1", 2, None),
        (2, "night-1", 1, None),
        (2, "night-2", 1, 4 * MIB),
        (3, "night-1", 2, None),
    ]


def test_a_renamed_program_has_one_history(tmp_path: Path) -> None:
    before, after = (
        Program(name, (replace(WORK, size=size * MIB),), text="same", source="same")
        for name, size in (("jit_step", 4), ("jit_train_step", 6))
    )
    with connect(
        make(tmp_path / "w.duckdb", night(1, before), night(2, after))
    ) as connection:
        for asked in ("jit_step", "jit_train_step"):
            rows = run_query(connection, "peak_history", {"program": asked}).dicts()
            shown = "program", "run", "delta_reserved_bytes"
            assert [tuple(row[name] for name in shown) for row in rows] == [
                ("jit_train_step", "night-1", None),
                ("jit_train_step", "night-2", 2 * MIB),
            ]
