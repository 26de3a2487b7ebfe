"""Where two compilations part, and who is to look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.creation import create_schema
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.occurrences import store_modules
from tests.reports.made_buffers import insert

Opcodes = Mapping[str, int]


@dataclass(frozen=True)
class Compiled:
    """A compilation: its passes and their graphs, opcodes of source and result.

    An opcode may have a shape and a sharding behind it: `dot f32[8] {replicated}`.
    """

    passes: tuple[tuple[str, int], ...] = ()
    source: Opcodes = field(default_factory=lambda: {"dot": 10})
    result: Opcodes = field(default_factory=lambda: {"fusion": 10})
    source_graph: int | None = 1
    graph: int = 2
    exact: int = 3
    shapes: str = "f32[8]"
    aliases: int = 0


FUSED = {"fusion": 7, "add": 3}
A = Compiled()
OTHER = replace(A, graph=22, exact=33)
NEW_SOURCE = replace(OTHER, source_graph=99)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        create_schema(opened)
        yield opened


def parting(
    connection: duckdb.DuckDBPyConnection,
    base: Compiled,
    candidate: Compiled,
    part: str = "new",
    flags: tuple[str, str] | None = None,
) -> Mapping[str, Any]:
    """Return the row of `divergences`."""
    forms = count(1)
    for run_id, compiled in enumerate((base, candidate), 1):
        insert(connection, "runs", {"run_id": run_id, "name": f"run-{run_id}"})
        _store(connection, run_id, compiled, forms)
        if flags is not None:
            row = {"run_id": run_id, "name": "xla_memory", "value": flags[run_id - 1]}
            insert(connection, "compiler_flags", row)
    asked: dict[str, Any] = {
        "base_runs": [1],
        "base_places": [1],
        "candidate_runs": [2],
        "candidate_places": [1],
        "main_parts": [part],
    }
    (row,) = run_query(connection, "divergences", asked).dicts()
    return row


def _store(
    connection: duckdb.DuckDBPyConnection,
    run_id: int,
    compiled: Compiled,
    forms: Iterator[int],
) -> None:
    first, last = 100 * run_id, 100 * run_id + 99
    layout = f"{{({compiled.shapes}{{0}})->{compiled.shapes}{{0}}}}"
    plain = {
        "run_id": run_id,
        "module_number": 1,
        "part": 0,
        "name": "jit_f",
        "program": "jit_f",
        "program_key": 7,
        "platform": "cpu",
        "num_partitions": 4,
        "replica_count": 1,
        "entry_layout": layout,
        "first_line": 1,
        "has_assignment": False,
    }

    def snapshot(module_id: int, stage: str, graph: int, exact: int) -> dict[str, Any]:
        ids = {"module_id": module_id, "locations_id": module_id}
        prints = {"graph_fingerprint": graph, "exact_fingerprint": exact}
        return {**plain, **ids, "stage": stage, "path": f"{module_id}.txt", **prints}

    found = []
    if compiled.source_graph is not None:
        graph = compiled.source_graph
        found.append(snapshot(first, "before_optimizations", graph, graph))
        _store_opcodes(connection, first, compiled.source, forms)
    for step, (name, graph) in enumerate(compiled.passes, 1):
        passed = {"pipeline": "p", "pass_after": name, "pass_step": step}
        found.append({**snapshot(first + step, "pass", graph, graph), **passed})
    final = snapshot(last, "after_optimizations", compiled.graph, compiled.exact)
    found.append({**final, "has_assignment": True})
    _store_opcodes(connection, last, compiled.result, forms)
    store_modules(connection, found)
    for number in range(compiled.aliases):
        insert(
            connection,
            "aliases",
            {
                "module_id": first,
                "output_index": f"{{{number}}}",
                "parameter_number": number,
                "parameter_index": "{}",
                "kind": "may-alias",
            },
        )


def _store_opcodes(
    connection: duckdb.DuckDBPyConnection,
    module_id: int,
    opcodes: Opcodes,
    forms: Iterator[int],
) -> None:
    numbers = count(1)
    for text, times in opcodes.items():
        opcode, shape, sharding = (*text.split(), None, None)[:3]
        form = next(forms)
        row = {"form_id": form, "opcode": opcode, "shape": shape, "sharding": sharding}
        insert(connection, "store.instruction_forms", row)
        for number in (next(numbers) for _ in range(times)):
            insert(
                connection,
                "store.instructions",
                {
                    "module_id": module_id,
                    "instruction_id": number,
                    "computation_id": 0,
                    "name": f"i{number}",
                    "form_id": form,
                    "position": number,
                    "line_offset": number,
                },
            )


GATHERED = {"fusion": 9, "all-gather-start": 1}
SAME = {"dot f32[8]": 10}
CASES: dict[str, tuple[Compiled, Compiled, str, str]] = {
    "packed otherwise": (A, A, "new", "packing"),
    "another order": (A, replace(A, exact=4), "new", "scheduler"),
    "the same source": (A, replace(OTHER, result=FUSED), "new", "fusion"),
    "the same source, lifetimes": (A, OTHER, "lifetime", "scheduler"),
    "the same source, packing": (A, OTHER, "fragmentation", "packing"),
    "collectives": (A, replace(OTHER, result=GATHERED), "new", "partitioner"),
    "no source": (
        replace(A, source_graph=None),
        replace(OTHER, source_graph=None, result=FUSED),
        "new",
        "fusion",
    ),
    "another source": (
        A,
        replace(NEW_SOURCE, source={"dot": 5, "exp": 5}),
        "new",
        "program",
    ),
    "a source a little different": (
        replace(A, source={"dot": 98}),
        replace(NEW_SOURCE, source={"dot": 97, "exp": 1}, result=FUSED),
        "new",
        "fusion",
    ),
    "a source of the same shapes": (
        replace(A, source=SAME),
        replace(NEW_SOURCE, source=SAME, result=FUSED),
        "new",
        "fusion",
    ),
    "a source of other types": (
        replace(A, source=SAME),
        replace(NEW_SOURCE, source=SAME, result=FUSED, shapes="bf16[8]"),
        "new",
        "program",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CASES)
def test_whose_change_it_is(connection: duckdb.DuckDBPyConnection, what: str) -> None:
    base, candidate, part, blame = CASES[what]
    assert parting(connection, base, candidate, part)["blame"] == blame


REASONS = {
    "the compiled programs are the same, their buffers are placed otherwise": A,
    "the instructions are the same, their order or layouts differ": replace(A, exact=4),
    "the programs handed to XLA are the same": OTHER,
}


@pytest.mark.slow
@pytest.mark.parametrize("reason", REASONS)
def test_the_same_source_under_other_flags(
    connection: duckdb.DuckDBPyConnection, reason: str
) -> None:
    found = parting(connection, A, REASONS[reason], flags=("1", "2"))
    expected = ("environment", f"{reason}, compiler flags differ")
    assert (found["blame"], found["reason"]) == expected


def test_another_source_under_other_flags(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    other = replace(NEW_SOURCE, source={"dot": 5, "exp": 5})
    assert parting(connection, A, other, flags=("1", "2"))["blame"] == "program"


DOT, PLACED = "dot f32[8]", "add f32[8] {replicated}"
TOLD: dict[str, tuple[Compiled, Compiled, str]] = {
    "other types within": (
        replace(A, source={DOT: 10}),
        replace(NEW_SOURCE, result=FUSED, source={"dot bf16[8]": 6, "dot f32[8]": 4}),
        "the programs handed to XLA have the same operations (25 % with their shapes),"
        " the compiled ones are 54 % alike",
    ),
    "sharded otherwise": (
        replace(A, source={DOT: 9, PLACED: 1}),
        replace(
            NEW_SOURCE, source={DOT: 9, "add f32[8] {devices=[4]}": 1}, result=GATHERED
        ),
        "the programs handed to XLA have the same operations, the compiled ones are"
        " 82 % alike;"
        " the former are sharded otherwise",
    ),
    "one argument more, sharded like others": (
        replace(A, source={DOT: 98, PLACED: 1}),
        replace(NEW_SOURCE, source={DOT: 98, PLACED: 2}, shapes="f32[8],f32[8]"),
        "the programs handed to XLA are 99 % alike, the compiled ones 100 %",
    ),
    "recomputed, and sharded once more": (
        replace(A, source={"dot f32[8] {a}": 2, "exp": 1}),
        replace(NEW_SOURCE, source={"dot f32[8] {a}": 3, "exp": 2}),
        "the programs handed to XLA are 60 % alike, the compiled ones 100 %",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TOLD)
def test_what_the_framework_changed(
    connection: duckdb.DuckDBPyConnection, what: str
) -> None:
    base, candidate, reason = TOLD[what]
    found = parting(connection, base, candidate)
    assert (found["blame"], found["reason"]) == ("program", reason)


def test_a_donation_that_is_no_longer_declared(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    base, candidate = replace(A, aliases=2), replace(A, aliases=1)
    found = parting(connection, base, candidate, "alias")
    assert (found["blame"], found["reason"]) == (
        "program",
        "1 outputs may share the memory of a parameter, 2 before",
    )


def stages(
    connection: duckdb.DuckDBPyConnection,
    base: Sequence[tuple[str, int]],
    candidate: Sequence[tuple[str, int]],
) -> tuple[str | None, str | None, str]:
    """Return the last equal stage, the first other one, and the blame."""
    sides = (
        replace(A, source_graph=1, passes=tuple(base), graph=base[-1][1] + 100),
        replace(A, passes=tuple(candidate), graph=candidate[-1][1] + 100),
    )
    one, other = (replace(s, exact=s.graph) for s in sides)
    row = parting(connection, one, other)
    return row["last_equal_stage"], row["first_different_stage"], row["blame"]


DCE, CSE, FUSION = ("dce", 11), ("cse", 12), ("fusion", 13)


@pytest.mark.parametrize(
    ("base", "candidate", "expected"),
    [
        ([DCE, CSE], [DCE, CSE], ("after_optimizations", None, "packing")),
        (
            [("start", 11), ("spmd-partitioner", 12), FUSION],
            [("start", 11), ("spmd-partitioner", 8), ("fusion", 7)],
            ("p: after start", "p: after spmd-partitioner", "partitioner"),
        ),
        (
            # Passes that repeat, and meet again.
            [DCE, CSE, ("dce", 14), FUSION],
            [DCE, ("algsimp", 7), ("dce", 14), ("fusion", 5)],
            ("p: after dce", "p: after fusion", "fusion"),
        ),
        (
            [DCE, FUSION, ("cse", 14)],
            [DCE, ("cse", 15)],
            ("p: after dce", "p: after fusion (in the base only)", "fusion"),
        ),
        pytest.param(
            [DCE, ("cse", 15)],
            [DCE, FUSION, ("cse", 14)],
            ("p: after dce", "p: after fusion (in the candidate only)", "fusion"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_first_pass_that_differs(
    connection: duckdb.DuckDBPyConnection,
    base: list[tuple[str, int]],
    candidate: list[tuple[str, int]],
    expected: tuple[str | None, str | None, str],
) -> None:
    assert stages(connection, base, candidate) == expected


def test_opcodes_whose_number_changed(connection: duckdb.DuckDBPyConnection) -> None:
    forms = count(1)
    base, candidate = {"add": 1, "dot": 2, "exp": 3}, {"add": 5, "dot": 2, "sort": 1}
    _store_opcodes(connection, 1, base, forms)
    _store_opcodes(connection, 2, candidate, forms)
    asked: dict[str, Any] = {"base_ids": [1], "candidate_ids": [2]}
    rows = run_query(connection, "opcode_changes", asked).rows
    assert sorted(rows) == [(1, "add", 1, 5), (1, "exp", 3, 0), (1, "sort", 0, 1)]


@pytest.mark.slow
def test_what_is_put_into_the_host_of_one_device_is_no_other_sharding(
    tmp_path: Path,
) -> None:
    for name in ("kept", "moved"):
        dump = DATA / "offloaded" / f"{name}.tar.xz"
        ingest([str(dump)], tmp_path / "w.duckdb", request=RunRequest(name=name))
    with connect(tmp_path / "w.duckdb") as connection:
        request = Request(baseline="run:kept", candidate="moved", kind="diff")
        settings = Settings(floor_bytes=0, floor_ratio=0.0)
        report = build_report(connection, request, settings)
    reasons = {f.divergence.reason for f in report.findings if f.divergence}
    assert reasons == {
        "the programs handed to XLA are 87 % alike, the compiled ones 95 %"
    }


@pytest.mark.slow
def test_memory_that_a_kernel_has_for_itself_is_no_packing_of_the_compiler(
    tmp_path: Path,
) -> None:
    for mebibytes in (32, 48):
        dump = DATA / "kernels" / f"scoped-{mebibytes}.tar.xz"
        run = RunRequest(name=str(mebibytes), series="nightly")
        ingest([str(dump)], tmp_path / "w.duckdb", request=run, jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        request = Request(baseline="run:32", candidate="48", kind="diff")
        report = build_report(connection, request, Settings())
        judged = build_report(
            connection,
            Request(baseline="run:32", candidate="48"),
            Settings(fragmentation_ratio=0.01, regression=False),
        )
        calls = run_query(connection, "custom_call_inventory", {"run": "48"}).dicts()
        (space,) = run_query(connection, "frag_by_space", {"run": "48"}).dicts()
        parts = run_query(connection, "frag_breakdown", {"run": "48"}).dicts()
    (finding,) = report.findings
    assert (finding.space, finding.delta_bytes) == ("VMEM", 16 << 20)
    assert finding.cause is not None
    assert (finding.cause.blame, finding.cause.title) == (
        "program",
        "scoped memory of kernels: 32.00 → 48.00 MiB: fragmentation: more"
        " temporary memory than is ever live at once (+16.00 MiB)",
    )
    assert [row["max_scoped_bytes"] for row in calls] == [48 << 20]
    assert (space["fragmentation_bytes"], space["scoped_bytes"]) == (48 << 20, 48 << 20)
    assert [g.status for g in judged.gates if g.gate == "fragmentation"] == ["pass"]
    assert "fragmentation" not in {w.kind for w in judged.waste}
    # XLA puts what lives while the kernel runs behind what is its own.
    assert {row["part"]: row["part_bytes"] for row in parts} == {
        "scoped": 48 << 20,
        "live": 256 * 256 * 4,
    }
