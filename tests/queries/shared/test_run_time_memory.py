"""Fusions that take memory at run time, counted in the text of real dumps."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS
from tests.ingest.dumps import AFTER, write

RELEASES = ("0.9.2", "0.10.2")
_TARGET = re.compile(r'"kind":"__ynn_fusion"|custom_call_target="lapack_\w+"')

NEWER = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  ROOT %ynn_fusion = f32[8]{0} fusion(%a), kind=kCustom, calls=%fused, backend_config={"fusion_config":{"kind":"KIND"},"outer_dimension_partitions":[]}
}
"""  # noqa: E501


def printed(archive: Path) -> dict[str, int]:
    """Return how many such instructions the text of each program has, where any."""
    counts: Counter[str] = Counter()
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.name.endswith("cpu_after_optimizations.txt"):
                name = member.name.rpartition("/")[2]
                number = name.split(".")[0].removeprefix("module_")
                file = opened.extractfile(member)
                assert file is not None
                counts[number] += len(_TARGET.findall(file.read().decode()))
    return {number: count for number, count in counts.items() if count}


@pytest.mark.parametrize("release", RELEASES)
def test_every_program_with_such_fusions_has_a_caveat(
    gold_warehouse: Path, release: str
) -> None:
    run = f"jaxlib-{release}"
    archive = DUMPS / "cpu" / f"{run}.tar.xz"
    expected = printed(archive)
    assert expected
    with connect(gold_warehouse) as connection:
        held = {
            query: run_query(connection, query, {"run": run}).dicts()
            for query in ("headroom", "peak_by_space", "custom_call_inventory")
        }
    for query in ("headroom", "peak_by_space"):
        found = {
            f"{row['module_number']:04}": sum(
                map(int, re.findall(r"(\d+) calls?\)", row["caveat"]))
            )
            for row in held[query]
            if row["caveat"]
        }
        assert found == expected
    listed: Counter[str] = Counter()
    for row in held["custom_call_inventory"]:
        if row["takes_run_time_memory"]:
            listed[f"{row['module_number']:04}"] += row["call_count"]
    assert listed == expected


def caveat_of(kernel: str) -> str:
    return (
        f"working memory of {kernel} (a kernel of a CPU library, 1 call), whose size no"
        " dump states, is not included"
    )


@pytest.mark.parametrize(
    ("kind", "caveat"),
    [
        ("__ynn_fusion", caveat_of("ynn_fusion")),
        ("__onednn_fusion", caveat_of("onednn_fusion")),
        ("__triton_gemm", None),
    ],
)
def test_the_kind_of_a_fusion_decides(
    tmp_path: Path, kind: str, caveat: str | None
) -> None:
    text = NEWER.replace("KIND", kind)
    write(tmp_path / "dump", {f"{AFTER}.txt": text.encode()})
    ingest([str(tmp_path / "dump")], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        rows = connection.execute("SELECT caveat FROM run_time_memory()").fetchall()
        [listed] = run_query(connection, "custom_call_inventory", {}).dicts()
    assert rows == ([(caveat,)] if caveat else [])
    assert (listed["custom_call_target"], listed["opcode"]) == (kind, "fusion")
    assert listed["takes_run_time_memory"] == (caveat is not None)
