"""What reports on two dumps say could be freed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect
from hlodb.text import plain_bytes

CPU, TPU = "jaxlib-0.10.2", "v5e-jax-0.10.2"
Place = tuple[str, str | None, int, int, str]
"""Program, space, bytes held, bytes they would fall by, note."""

ALL = Settings(top=1000, floor_bytes=0)


def places(path: Path, run: str, kind: str) -> list[Place]:
    with connect(path) as connection:
        request = Request(run, run, kind="diff")
        found = build_report(connection, request, ALL).waste
    return [
        (w.program, w.space, w.waste_bytes, w.leverage_bytes, w.note)
        for w in found
        if w.kind == kind and w.leverage_bytes >= 2048
    ]


@pytest.mark.parametrize("run", [CPU, TPU])
def test_donations_are_those_of_the_remedy(demo_warehouse: Path, run: str) -> None:
    """Of all arguments that can be donated, by name, and what is reserved for them."""
    with connect(demo_warehouse) as connection:
        asked: dict[str, Value] = {"run": run, "color": 0, "top": None}
        remedies = run_query(connection, "remedies", asked).dicts()
    assert sorted(places(demo_warehouse, run, "donation")) == sorted(
        (
            row["program"],
            row["space_name"],
            row["saved_reserved_bytes"],
            row["saved_reserved_bytes"],
            f"donate {row['subject']}",
        )
        for row in remedies
        if row["rule_id"] == "donate" and row["saved_reserved_bytes"] >= 2048
    )


@pytest.mark.slow
def test_large_parameters_that_are_not_fully_sharded(demo_warehouse: Path) -> None:
    fewer = "not split over all partitions, such as"
    assert places(demo_warehouse, CPU, "replicated") == []
    assert places(demo_warehouse, TPU, "replicated") == [
        (
            "jit_gpt_scan_remat",
            None,
            23_592_960,
            17_694_720,
            f"12 parameters of 1 MiB or more {fewer} p['blocks']['down']",
        ),
        (
            "jit_gpt_unrolled",
            None,
            18_874_368,
            14_155_776,
            f"15 parameters of 1 MiB or more {fewer} p['emb']",
        ),
        (
            "jit_gpt_fsdp",
            None,
            12_582_912,
            6_291_456,
            f"3 parameters of 1 MiB or more {fewer} p['emb']",
        ),
        (
            "jit_mlp_step",
            None,
            7_405_568,
            5_554_176,
            f"2 parameters of 1 MiB or more {fewer} params[1][0]",
        ),
        ("jit_cg", None, 1_048_576, 786_432, f"1 parameter of 1 MiB or more {fewer} A"),
    ]


@pytest.mark.slow
def test_special_memory_that_is_idle_at_the_main_peak(demo_warehouse: Path) -> None:
    idle = [
        ("jit_gpt_fsdp", "VMEM", 49_249_280, 8_401_920),
        ("jit_mlp_step", "VMEM", 18_038_784, 5_632),
        ("jit_gpt_scan_remat", "VMEM", 28_317_696, 4_608),
        ("jit_gpt_fsdp", "host", 4_096, 4_096),
        ("jit_cg", "VMEM", 8_192, 2_048),
        ("jit_gpt_fsdp", "color_6", 2_048, 2_048),
    ]
    note = "not in use at the peak of HBM, whose temporaries could lie there"
    assert places(demo_warehouse, CPU, "idle") == []
    assert places(demo_warehouse, TPU, "idle") == [
        (*place, f"{plain_bytes(place[2])} {note}") for place in idle
    ]


@pytest.mark.slow
def test_places_are_those_of_the_candidate(demo_warehouse: Path) -> None:
    """The base may call its main memory otherwise."""
    with connect(demo_warehouse) as connection:
        request = Request(TPU, CPU, kind="diff")
        found = build_report(connection, request, ALL).waste
    assert {w.space for w in found if w.color == 0} == {"HBM"}
    (idle,) = [w for w in found if (w.kind, w.program) == ("idle", "jit_gpt_fsdp")][:1]
    assert (idle.space, idle.waste_bytes, idle.leverage_bytes, idle.note) == (
        "VMEM",
        49_249_280,
        8_401_920,
        "46.97 MiB not in use at the peak of HBM, whose temporaries could lie there",
    )
