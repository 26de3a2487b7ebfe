"""Where two compilations part, and who is to look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.compilations import Compilation, Snapshot, Traits, op_mix
from hlodb.reports.divergence import Parting, divergence, first_difference
from hlodb.reports.model_findings import Count, Divergence
from hlodb.reports.scene import Request
from hlodb.reports.settings import Settings
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.reports.matching import module


def snapshot(stage: str, graph: int, after: str | None = None) -> Snapshot:
    return Snapshot(stage, "p" if after else None, after, None, graph, graph)


def compilation(
    snapshots: Sequence[Snapshot] = (),
    opcodes: dict[str, int] | None = None,
    source: dict[str, int] | None = None,
    aliases: int = 0,
    typed: dict[str, int] | None = None,
    shardings: int | None = None,
    sharding_kinds: int | None = None,
    scoped: int = 0,
    **more: Any,
) -> Compilation:
    return Compilation(
        module(**more),
        snapshots,
        source or {"dot": 10},
        opcodes or {"fusion": 10},
        Traits(0, 0, aliases, shardings, sharding_kinds, scoped),
        typed or {},
    )


OTHER: dict[str, Any] = {"exact_fingerprint": 1, "graph_fingerprint": 2}
FUSED = {"fusion": 7, "add": 3}


def blame(base: Compilation, candidate: Compilation, part: str = "new") -> str:
    return divergence(base, candidate, part, flags_differ=False).blame


def test_the_first_pass_that_differs() -> None:
    def passes(*graphs: int) -> list[Snapshot]:
        names = ("start", "spmd-partitioner", "fusion")
        inner = [
            snapshot("pass", g, n) for g, n in zip(graphs[1:-1], names, strict=True)
        ]
        return [
            snapshot("before_optimizations", graphs[0]),
            *inner,
            snapshot("after_optimizations", graphs[-1]),
        ]

    found = divergence(
        compilation(passes(1, 2, 3, 4, 5)),
        compilation(passes(1, 2, 9, 8, 7), **OTHER),
        "new",
        flags_differ=False,
    )
    assert found == Divergence(
        "p: after start",
        "p: after spmd-partitioner",
        "partitioner",
        "what goes into that pass is the same",
    )


def named(*passes: tuple[str, int]) -> list[Snapshot]:
    return [snapshot("pass", graph, name) for name, graph in passes]


def parting(
    base: list[Snapshot], candidate: list[Snapshot]
) -> tuple[str | None, str | None]:
    found = first_difference(base, candidate)
    return (found.last_equal.name if found.last_equal else None, found.name)


def test_passes_that_repeat_and_meet_again() -> None:
    base = named(("dce", 1), ("cse", 2), ("dce", 3), ("fusion", 4))
    candidate = named(("dce", 1), ("algsimp", 7), ("dce", 3), ("fusion", 5))
    assert parting(base, base) == ("p: after fusion", None)
    assert parting(base, candidate) == ("p: after dce", "p: after fusion")


def test_a_pass_that_only_one_side_ran() -> None:
    base = named(("dce", 1), ("fusion", 2), ("cse", 3))
    without = named(("dce", 1), ("cse", 4))
    assert parting(base, without) == (
        "p: after dce",
        "p: after fusion (in the base only)",
    )
    assert parting(without, base) == (
        "p: after dce",
        "p: after fusion (in the candidate only)",
    )
    assert parting(base, base[:2]) == (
        "p: after fusion",
        "p: after cse (in the base only)",
    )


def test_nothing_that_can_be_compared() -> None:
    base = named(("dce", 1))
    assert parting(base, []) == (None, None)
    assert parting(base, named(("dce", 2))) == (None, "p: after dce")
    unknown = [s._replace(graph_fingerprint=None) for s in base]
    assert first_difference(base, unknown) == Parting(None, None, "")


def test_the_same_program_packed_otherwise() -> None:
    assert blame(compilation(), compilation()) == "packing"


def test_the_same_graph_in_another_order() -> None:
    assert blame(compilation(), compilation(exact_fingerprint=1)) == "scheduler"


def test_the_same_source() -> None:
    assert blame(compilation(), compilation(opcodes=FUSED, **OTHER)) == "fusion"
    assert blame(compilation(), compilation(**OTHER), "life") == "scheduler"
    assert blame(compilation(), compilation(**OTHER), "fragmentation") == "packing"
    gathered = {"fusion": 9, "all-gather-start": 1}
    assert blame(compilation(), compilation(opcodes=gathered, **OTHER)) == "partitioner"


def test_the_same_source_under_other_flags() -> None:
    reasons = {
        "the programs are the same, buffers are assigned otherwise": {},
        "the graphs are the same, order or layouts differ": {"exact_fingerprint": 1},
        "the source is the same": OTHER,
    }
    for reason, other in reasons.items():
        c = compilation(**other)
        found = divergence(compilation(), c, "new", flags_differ=True)
        assert (found.blame, found.reason) == (
            "environment",
            f"{reason}, compiler flags differ",
        )
    other_source = compilation(source={"dot": 5, "exp": 5}, source_graph=99, **OTHER)
    found = divergence(compilation(), other_source, "new", flags_differ=True)
    assert found.blame == "framework"


def test_another_source() -> None:
    other = compilation(source={"dot": 5, "exp": 5}, source_graph=99, **OTHER)
    assert blame(compilation(), other) == "framework"
    slightly = {"dot": 97, "exp": 1}
    other = compilation(opcodes=FUSED, source=slightly, source_graph=99, **OTHER)
    assert blame(compilation(source={"dot": 98}), other) == "fusion"


def test_a_source_of_other_shapes_or_types_is_not_of_the_compiler() -> None:
    """However alike its opcodes are, and whatever the compiler makes of it."""
    typed = {"dot f32[8]": 10}
    base = compilation(source_shapes="(f32[8])", typed=typed)
    more: dict[str, Any] = {"opcodes": FUSED, "source_graph": 99, **OTHER}
    same = compilation(**more, source_shapes="(f32[8])", typed=typed)
    assert blame(base, same) == "fusion"
    retyped = compilation(**more, source_shapes="(bf16[8])", typed=typed)
    assert blame(base, retyped) == "framework"
    inner = compilation(
        **more, source_shapes="(f32[8])", typed={"dot bf16[8]": 6, "dot f32[8]": 4}
    )
    assert divergence(base, inner, "new", flags_differ=False) == Divergence(
        None,
        None,
        "framework",
        "the sources are 100 % alike (25 % with their shapes), the results 54 %",
    )


def test_a_source_that_is_sharded_otherwise_is_not_of_the_compiler() -> None:
    gathered = {"fusion": 9, "all-gather-start": 1}
    more: dict[str, Any] = {"opcodes": gathered, "source_graph": 99, **OTHER}
    assert blame(compilation(shardings=1), compilation(shardings=1, **more)) == (
        "partitioner"
    )
    found = divergence(
        compilation(shardings=1),
        compilation(shardings=2, **more),
        "new",
        flags_differ=False,
    )
    assert (found.blame, found.reason) == (
        "framework",
        "the sources are 100 % alike, the results 82 %; the sources are sharded"
        " otherwise",
    )


def test_one_more_argument_that_is_sharded_like_others_is_no_other_sharding() -> None:
    more: dict[str, Any] = {"source_graph": 99, "source_shapes": "(f32[8],f32[8])"}
    found = divergence(
        compilation(shardings=1, sharding_kinds=3),
        compilation(shardings=2, sharding_kinds=3, **more, **OTHER),
        "new",
        flags_differ=False,
    )
    assert (found.blame, found.reason) == (
        "framework",
        "the sources are 100 % alike, the results 100 %",
    )


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
    assert reasons == {"the sources are 87 % alike, the results 95 %"}


def test_what_is_recomputed_is_sharded_once_more_and_not_otherwise() -> None:
    base = compilation(shardings=1, sharding_kinds=3, source={"dot": 2, "exp": 1})
    source = {"dot": 3, "exp": 2}
    remat: dict[str, Any] = {"shardings": 2, "source": source, "source_graph": 99}
    candidate = compilation(sharding_kinds=3, **remat, **OTHER)
    found = divergence(base, candidate, "new", flags_differ=False)
    assert (found.blame, found.reason) == (
        "framework",
        "the sources are 60 % alike, the results 100 %",
    )


def test_a_donation_that_is_no_longer_declared() -> None:
    found = divergence(
        compilation(aliases=2), compilation(aliases=1), "alias", flags_differ=False
    )
    assert (found.blame, found.reason) == (
        "framework",
        "1 outputs may share the memory of a parameter, 2 before",
    )


def test_the_op_mix_lists_what_changed_most() -> None:
    base, candidate = {"add": 1, "dot": 2, "exp": 3}, {"add": 5, "dot": 2, "sort": 1}
    assert op_mix(base, candidate, 2) == [Count("add", 1, 5), Count("exp", 3, 0)]


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
        "framework",
        "a kernel has 48.00 MiB for itself, 32.00 MiB before: packing: temporary"
        " memory that is never live at once (+16.00 MiB)",
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
