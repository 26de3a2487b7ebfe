"""Programs that share a name: what they were compiled from tells them apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
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
    return [of_place(place, size) for place, size in enumerate(sizes, 1)]


def of_place(place: int, size: int, rank: int | None = None) -> Program:
    """Return the lambda of this place in the source."""
    return Program(
        "jit__lambda",
        (replace(WORK, size=size * MIB),),
        shapes=f"(f32[{place}]{{0}})->f32[8]{{0}}",
        source=f"source {place}",
        text=f"{place} {size}",
        rank=rank,
    )


def rows_of(
    path: Path, query: str, *shown: str, **asked: Value
) -> list[tuple[object, ...]]:
    """Return these columns of a query."""
    with connect(path) as connection:
        rows = run_query(connection, query, asked).dicts()
    return [tuple(row[name] for name in shown) for row in rows]


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
    kept = (
        "number", "first_run", "last_run", "run_count", "reserved_bytes",
        "delta_reserved_bytes", "live_peak_bytes", "delta_live_peak_bytes",
    )  # fmt: skip
    assert [tuple(row[name] for name in kept) for row in segments] == [
        (1, "night-1", "night-2", 2, 64 * MIB, None, 64 * MIB, None),
        (2, "night-1", "night-1", 1, 4 * MIB, None, 4 * MIB, None),
        (2, "night-2", "night-2", 1, 8 * MIB, 4 * MIB, 8 * MIB, 4 * MIB),
        (3, "night-1", "night-2", 2, 2 * MIB, None, 2 * MIB, None),
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


def test_an_edited_lambda_goes_on(tmp_path: Path) -> None:
    """It lies beside another of its name, and has other operations and more memory."""
    for run, opcode, size in (("night-1", "sine", 96), ("night-2", "cosine", 160)):
        files = {}
        for number, (text, bytes_of) in enumerate(
            ((module(3, 16, opcode), size), (module(4, 8, "negate"), 4096)), 1
        ):
            name = f"module_{number:04}.jit__lambda."
            files[name + "before_optimizations.txt"] = text
            files[name + "cpu_after_optimizations.txt"] = text
            files[name + "cpu_after_optimizations-buffer-assignment.txt"] = (
                f"BufferAssignment:\nallocation 0: size {bytes_of}, "
                "preallocated-temp:\n\nTotal bytes used: 0\n"
            ).encode()
        dump = write(tmp_path / run, files)
        request = RunRequest(name=run)
        ingest([str(dump)], tmp_path / "w.duckdb", request=request, jobs=1)
    shown = "number", "run", "reserved_bytes", "delta_reserved_bytes"
    assert rows_of(tmp_path / "w.duckdb", "peak_history", *shown) == [
        (1, "night-1", 96, None),
        (1, "night-2", 160, 64),
        (2, "night-1", 4096, None),
        (2, "night-2", 4096, 0),
    ]


def test_lambdas_that_grow_count_each(tmp_path: Path) -> None:
    """By 32 and 4 MiB; on the second rank the second grows by 2 MiB only."""
    nights = [
        night(
            number,
            *(of_place(place, size, 0) for place, size in enumerate(sizes, 1)),
            of_place(2, other, 1),
        )
        for number, sizes, other in ((1, (64, 4, 2), 4), (2, (96, 8, 2), 6))
    ]
    path = make(tmp_path / "w.duckdb", *nights)
    shown = "program_count", "module_count", "sum_delta_bytes", "max_delta_bytes"
    asked: dict[str, Value] = {"base": "night-1", "candidate": "night-2"}
    assert rows_of(path, "top_movers", *shown, **asked) == [(2, 3, 36 * MIB, 32 * MIB)]


def test_ranks_are_compared_by_equal_lambdas(tmp_path: Path) -> None:
    """The second rank lacks the greatest, and compiles others before."""
    ranks = [
        *(of_place(place, size, 0) for place, size in enumerate((64, 4, 2), 1)),
        *(of_place(place, size, 1) for place, size in ((3, 2), (2, 8))),
    ]
    path = make(tmp_path / "w.duckdb", night(1, *ranks))
    shown = (
        "module_number", "rank_count", "missing_count", "min_reserved_bytes",
        "max_reserved_bytes", "outlier_ranks",
    )  # fmt: skip
    assert rows_of(path, "rank_skew", *shown) == [
        (2, 2, 0, 4 * MIB, 8 * MIB, "1"),
        (1, 1, 1, 64 * MIB, 64 * MIB, "1"),
        (3, 2, 0, 2 * MIB, 2 * MIB, None),
    ]


def test_backends_are_compared_by_equal_lambdas(tmp_path: Path) -> None:
    """The second backend has not compiled the first one."""
    path = make(
        tmp_path / "w.duckdb",
        night(1, *lambdas(64, 4, 2)),
        night(2, of_place(3, 3), of_place(2, 16), platform="tpu"),
    )
    shown = "platform", "module_number", "reserved_bytes", "reserved_x"
    assert rows_of(path, "backend_compare", *shown) == [
        ("cpu", 3, 2 * MIB, 1.0),
        ("tpu", 1, 3 * MIB, 1.5),
        ("cpu", 2, 4 * MIB, 1.0),
        ("tpu", 2, 16 * MIB, 4.0),
    ]


def test_versions_explain_what_becomes_of_one_lambda(tmp_path: Path) -> None:
    """The greatest is only in the first run; the second grows in the later one."""
    path = make(
        tmp_path / "w.duckdb",
        night(1, *lambdas(64, 4, 2), compiler="1"),
        night(2, of_place(2, 8), of_place(3, 2), compiler="2"),
    )
    shown = "number", "axis", "value", "max_reserved_bytes", "explained_ratio"
    assert rows_of(path, "version_matrix", *shown) == [
        (2, "compiler_version", "1", 4 * MIB, 1.0),
        (2, "compiler_version", "2", 8 * MIB, 1.0),
    ]


def test_lambdas_of_one_run_are_no_nondeterminism(tmp_path: Path) -> None:
    path = make(
        tmp_path / "w.duckdb",
        night(1, *lambdas(64, 4, 2), compiler="1"),
        night(2, *lambdas(64, 8, 2), compiler="1"),
    )
    shown = "compile_count", "variant_count", "min_reserved_bytes"
    assert rows_of(path, "nondeterminism", *shown) == [
        (2, 2, 4 * MIB),
        (2, 1, 64 * MIB),
        (2, 1, 2 * MIB),
    ]


def text_only(line: int, size: int) -> bytes:
    """Return a scheduled module whose peak is not known."""
    return module(line, size).replace(b"_lambda,", b"_lambda, is_scheduled=true,")


def test_lambdas_without_a_peak_are_compared_by_their_arguments(
    tmp_path: Path,
) -> None:
    """The first is new, the others have other numbers now."""
    for run, sizes in (("base", (64, 256)), ("candidate", (16, 64, 256))):
        files = {
            f"module_{number:04}.jit__lambda.cpu_after_optimizations.txt": (
                text_only(number, size)
            )
            for number, size in enumerate(sizes, 1)
        }
        said = [
            {
                "module": "jit__lambda",
                "argument_size_in_bytes": 4 * size,
                "output_size_in_bytes": 4 * size,
                "temp_size_in_bytes": size,
                "alias_size_in_bytes": 0,
            }
            for size in sizes
        ]
        files["memory_analysis.json"] = json.dumps(said).encode()
        dump = write(tmp_path / run, files)
        request = RunRequest(name=run)
        ingest([str(dump)], tmp_path / "w.duckdb", request=request, jobs=1)
    asked: dict[str, Value] = {"base": "base", "candidate": "candidate"}
    for query, bytes_of in (
        ("partial_memory_diff", "base_least_bytes"),
        ("memory_analysis_diff", "base_needed_bytes"),
    ):
        other = bytes_of.replace("base", "candidate")
        rows = rows_of(tmp_path / "w.duckdb", query, bytes_of, other, **asked)
        assert len(rows) == 2
        assert all(base == candidate for base, candidate in rows)
