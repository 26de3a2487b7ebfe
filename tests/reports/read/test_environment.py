"""What else differs between two runs, and what of it may move memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.read.environment import EnvironmentChange, environment_changes
from hlodb.reports.read.facts import read_runs
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
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
        compiler="cl_1",
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
        compiler="cl_2",
        flags={
            "xla_tpu_scheduler_percent_shared_memory_limit": "100",
            "xla_gpu_autotune_memory": "2",
            "xla_dump_to": "/b",
        },
    )
    flag = "flag xla_tpu_scheduler_percent_shared_memory_limit"
    assert changes(tmp_path / "w.duckdb", base, candidate) == [
        EnvironmentChange(flag, "90", "100", True),
        EnvironmentChange("compiler_version", "cl_1", "cl_2", False),
        EnvironmentChange("device", "TPU v5e", "TPU v5p", False),
        EnvironmentChange("flag xla_gpu_autotune_memory", "1", "2", False),
        EnvironmentChange("flag xla_tpu_old_fusion", "true", None, False),
        EnvironmentChange("label batch", "8", "16", False),
    ]


def test_a_release_that_dumps_no_flags_differs_in_none(tmp_path: Path) -> None:
    worlds = World("a", flags={"xla_memory": "1"}), World("b")
    assert changes(tmp_path / "w.duckdb", *worlds) == []


def compiled(folder: Path, **files: str) -> str:
    """Return a night: one module, and files that list its flags."""
    shutil.copytree(DATA / "moved_lines" / "before", folder)
    for listed in folder.glob("*.debug_options"):
        listed.unlink()
    for kind, text in files.items():
        (folder / f"module_0008.jit_cg.{kind}").write_text(text)
    return str(folder)


def changes_of_dumps(tmp_path: Path, *dumps: str) -> list[EnvironmentChange]:
    for dump in dumps:
        ingest([dump], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        runs = {run.name: run for run in read_runs(connection)}
        return environment_changes(connection, *(runs[Path(d).name] for d in dumps))


@pytest.mark.slow
def test_a_flag_that_one_run_sets_is_default_in_the_other(tmp_path: Path) -> None:
    """debug_options lists what isn't default, and always where to dump."""
    few = 'xla_dump_to: "/b"\nxla_dump_hlo_as_text: true\n'
    set_too = (
        "xla_cpu_scheduler_type: CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED\n"
        'xla_disable_hlo_passes: "fusion"\n'
        "xla_cpu_enable_fast_math: true\n"
    )
    base = compiled(tmp_path / "a", debug_options=few)
    candidate = compiled(tmp_path / "b", debug_options=few + set_too)
    scheduler = "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
    assert changes_of_dumps(tmp_path, base, candidate) == [
        EnvironmentChange("flag xla_cpu_scheduler_type", None, scheduler, True),
        EnvironmentChange("flag xla_disable_hlo_passes", None, "fusion", True),
        EnvironmentChange("flag xla_cpu_enable_fast_math", None, "true", False),
    ]


@pytest.mark.slow
def test_a_flag_that_a_whole_list_lacks_is_of_another_release(tmp_path: Path) -> None:
    base = compiled(tmp_path / "a", flagfile="--xla_memory=1\n--xla_fusion=1\n")
    candidate = compiled(tmp_path / "b", flagfile="--xla_fusion=2\n")
    assert changes_of_dumps(tmp_path, base, candidate) == [
        EnvironmentChange("flag xla_fusion", "1", "2", True),
        EnvironmentChange("flag xla_memory", "1", None, False),
    ]


@pytest.mark.slow
def test_a_whole_list_and_one_of_what_is_set_share_some_flags(tmp_path: Path) -> None:
    base = compiled(tmp_path / "a", flagfile="--xla_memory=1\n--xla_fusion=1\n")
    candidate = compiled(tmp_path / "b", debug_options="xla_fusion: 2\n")
    assert changes_of_dumps(tmp_path, base, candidate) == [
        EnvironmentChange("flag xla_fusion", "1", "2", True)
    ]


def test_of_a_list_that_is_cut_off_only_what_is_there_differs(tmp_path: Path) -> None:
    """Its end is missing, and with it what the other run may have set, too."""
    whole = "--xla_memory=1\n--xla_fusion=1\n--xla_layout=123\n--xla_remat=1\n"
    start = "--xla_memory=1\n--xla_fusion=2\n--xla_layout=12"
    base = compiled(tmp_path / "a", flagfile=whole)
    candidate = compiled(tmp_path / "b", flagfile=start)
    changed = [EnvironmentChange("flag xla_fusion", "1", "2", True)]
    assert changes_of_dumps(tmp_path, base, candidate) == changed
    mirrored = [EnvironmentChange("flag xla_fusion", "2", "1", True)]
    assert changes_of_dumps(tmp_path, candidate, base) == mirrored


def test_a_renamed_flag_is_one_flag(tmp_path: Path) -> None:
    base = World(
        "a",
        platform="gpu",
        compiler="1",
        flags={
            "xla_gpu_enable_pipelined_all_gather": "true",
            "xla_gpu_enable_pipelined_all_reduce": "false",
            "xla_gpu_enable_pipelined_reduce_scatter": "true",
            "xla_cpu_use_mkl_dnn": "true",
        },
    )
    candidate = World(
        "b",
        platform="gpu",
        compiler="2",
        flags={
            "xla_gpu_pipeline_all_gather": "COLLECTIVE_PIPELINING_MODE_ON",
            "xla_gpu_pipeline_all_reduce": "COLLECTIVE_PIPELINING_MODE_DEFAULT",
            "xla_gpu_pipeline_reduce_scatter": "COLLECTIVE_PIPELINING_MODE_OFF",
            "xla_cpu_use_onednn": "false",
        },
    )
    assert changes(tmp_path / "w.duckdb", base, candidate) == [
        EnvironmentChange("compiler_version", "1", "2", False),
        EnvironmentChange("flag xla_cpu_use_onednn", "true", "false", False),
        EnvironmentChange(
            "flag xla_gpu_pipeline_reduce_scatter",
            "COLLECTIVE_PIPELINING_MODE_ON",
            "COLLECTIVE_PIPELINING_MODE_OFF",
            False,
        ),
    ]


def test_runs_of_one_release_keep_their_names(tmp_path: Path) -> None:
    name = "xla_gpu_enable_pipelined_all_gather"
    worlds = [World(run, flags={name: v}) for run, v in (("a", "true"), ("b", "false"))]
    assert changes(tmp_path / "w.duckdb", *worlds) == [
        EnvironmentChange(f"flag {name}", "true", "false", False)
    ]
