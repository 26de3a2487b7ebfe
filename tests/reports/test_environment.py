"""What else differs between two runs, and what of it may move memory."""

from __future__ import annotations

from pathlib import Path

from hlodb.reports.environment import environment_changes
from hlodb.reports.model import EnvironmentChange
from hlodb.reports.read import read_runs
from hlodb.schema.warehouse import connect
from tests.reports.worlds import World, make


def changes(path: Path, *worlds: World) -> list[EnvironmentChange]:
    make(path, *worlds)
    with connect(path) as connection:
        return environment_changes(connection, *read_runs(connection))


def test_facts_labels_and_flags(tmp_path: Path) -> None:
    base = World(
        "a",
        platform="tpu",
        device="TPU v5e",
        labels='{"batch": "8"}',
        flags={
            "xla_tpu_scheduler_percent_shared_memory_limit": "90",
            "xla_gpu_autotune_memory": "1",
            "xla_dump_to": "/a",
            "xla_tpu_old_fusion": "true",
        },
    )
    candidate = World(
        "b",
        platform="tpu",
        device="TPU v5p",
        labels='{"batch": "16"}',
        flags={
            "xla_tpu_scheduler_percent_shared_memory_limit": "100",
            "xla_gpu_autotune_memory": "2",
            "xla_dump_to": "/b",
        },
    )
    flag = "flag xla_tpu_scheduler_percent_shared_memory_limit"
    assert changes(tmp_path / "w.duckdb", base, candidate) == [
        EnvironmentChange(flag, "90", "100", True),
        EnvironmentChange("device", "TPU v5e", "TPU v5p", False),
        EnvironmentChange("flag xla_gpu_autotune_memory", "1", "2", False),
        EnvironmentChange("flag xla_tpu_old_fusion", "true", None, False),
        EnvironmentChange("label batch", "8", "16", False),
    ]


def test_a_release_that_dumps_no_flags_differs_in_none(tmp_path: Path) -> None:
    worlds = World("a", flags={"xla_memory": "1"}), World("b")
    assert changes(tmp_path / "w.duckdb", *worlds) == []
