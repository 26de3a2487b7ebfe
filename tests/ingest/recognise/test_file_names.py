"""Every name of the dump writers, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.recognise.recognition import Recognised, rank, recognise, unit_key

HLO = "HLO module text"
AFTER = "after_optimizations"


def stage_of(name: str) -> tuple[str | None, str | None, str | None, str | None]:
    found = recognise(name)
    return found.stage, found.platform_prefix, found.module_name, found.cl


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("module_0012.jit_f.before_optimizations.txt", (None, "jit_f", None)),
        ("module_0012.jit_f.cpu_before_optimizations.txt", ("cpu", "jit_f", None)),
        ("module_12345.f.before_optimizations.txt", (None, "f", None)),
        ("module_0012.before_optimizations.txt", (None, None, None)),
        ("before_optimizations.txt", (None, None, None)),
        ("module_0012.f.before_optimization.txt", (None, "f", None)),
        ("module_0357.f.cl_933.before_optimizations.txt", (None, "f", "933")),
        ("module_0357.cl_933.before_optimizations.txt", (None, None, "933")),
        ("module_0001.main.1234.before_optimizations.txt", (None, "main.1234", None)),
        (
            "module_0001.f.after_optimizations.g.before_optimizations.txt",
            (None, "f.after_optimizations.g", None),
        ),
    ],
)
def test_before_optimizations(
    name: str, expected: tuple[str | None, str | None, str | None]
) -> None:
    assert stage_of(name) == ("before_optimizations", *expected)


@pytest.mark.parametrize(
    ("token", "platform"),
    [
        ("after_optimizations", None),
        ("after_optimization", None),
        ("cpu_after_optimizations", "cpu"),
        ("sm_9.0_gpu_after_optimizations", "sm_9.0"),
        ("sm_9.0a_gpu_after_optimizations", "sm_9.0a"),
        ("sm_70_gpu_after_optimizations", "sm_70"),
        ("gfx90a_gpu_after_optimizations", "gfx90a"),
        ("_gpu_after_optimizations", "gpu"),
    ],
)
def test_platform_stands_before_the_stage(token: str, platform: str | None) -> None:
    dotted = "a_inference_executor_type_1116_.156"
    name = f"module_0012.{dotted}.{token}.txt"
    assert stage_of(name) == (AFTER, platform, dotted, None)


@pytest.mark.parametrize(
    "stage",
    [
        "after_spmd_partitioner",
        "before_config_assignment",
        "after_codegen",
        "after_codegen_after_hlo_sanitization",
        "after_optimizations_before_buffer_assignment",
        "after_optimizations_after_buffer_assignment",
    ],
)
def test_other_stages(stage: str) -> None:
    assert stage_of(f"module_0001.f.cl_1.{stage}.txt") == (stage, None, "f", "1")


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        (".txt", "hlo_text"),
        ("-buffer-assignment.txt", "buffer_assignment"),
        ("-buffer-assignment-values.txt", "buffer_assignment_values"),
        ("-live-range.txt", "live_range"),
        ("-memory-usage-report.txt", "memory_report"),
        ("-memory-usage-report.pb", "memory_report_proto"),
        ("-memory-usage-report.pb.gz", "memory_report_proto"),
        (".hlo.pb", "hlo_proto"),
        (".hlo.pb.gz", "hlo_proto"),
        (".riegeli", "hlo_riegeli"),
        (".dot", "ignored"),
        (".html", "ignored"),
        (".top_level.html", "ignored"),
        (".url", "ignored"),
        (".fdo_profile", "ignored"),
    ],
)
def test_artefacts_of_a_stage(suffix: str, kind: str) -> None:
    found = recognise(f"dir/1634000000000000.module_0007.f.after_optimizations{suffix}")
    assert (found.kind, found.stage, found.module_number) == (kind, AFTER, 7)
    assert (found.module_name, found.timestamp) == ("f", "1634000000000000")


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        (".debug_options", "debug_options"),
        (".flagfile", "flagfile"),
        (".hlo_module_config.txt", "module_config"),
        (".config.pbtxt", "module_config"),
        (".execution_options.txt", "execution_options"),
        (".target_arguments.txt", "target_arguments"),
        (".gpu_target_config.pbtxt", "gpu_target_config"),
        (".tpu_comp_env.txt", "tpu_comp_env"),
        (".metadata.textproto", "module_metadata"),
        (".basic_compiler_metadata.txt", "text_proto"),
        (".transfer_stats.txt", "text_proto"),
        (".sdc_metadata.txt", "text_proto"),
        (".autotune_results.pbtxt", "text_proto"),
        (".buffer_assignment", "buffer_assignment"),
        (".3.before.txt", "hlo_text"),
        (".3.after.txt", "hlo_text"),
        (".fused_computation.283.hlo", "ignored"),
        (".execution_0001.txt", "ignored"),
        (".execution_0001.pb", "ignored"),
        (".execution_options.pb", "ignored"),
        (".loop_add_fusion_3.mlir-trace.txt", "ignored"),
        (".thunk_sequence.txt", "ignored"),
        (".thunk_schedule", "ignored"),
        (".thunk_sequence_after_thunk_passes.txt", "ignored"),
        (".thunk_metadata.txt", "ignored"),
        (".thunk_metadata.pb", "ignored"),
        (".ptx", "ignored"),
        (".0.ptx", "ignored"),
        (".spv", "ignored"),
        (".triton_softmax.ttir", "ignored"),
        (".triton_softmax.before_validation.ttir", "ignored"),
        (".triton_softmax.ttir.txt", "ignored"),
        (".triton_softmax.before_validation.ttir.txt", "ignored"),
        (".triton_fusion_numerics_verifier_failed_1.txt", "ignored"),
        (".cudnn_fusion_3.json", "ignored"),
        (".priority_fusion_dump.txt", "ignored"),
        (".priority_fusion_dump.pb", "ignored"),
        (".comp_fusion.html", "ignored"),
        ("._fusion.pyz", "ignored"),
        (".ir-no-opt.ll", "ignored"),
        (".ir-with-opt.ll", "ignored"),
        (".ir-no-opt-noconst.ll", "ignored"),
        (".add_kernel.ir-no-opt.ll", "ignored"),
        (".o", "ignored"),
        (".obj-file.add_kernel.o", "ignored"),
        (".add_kernel-pre-optimization.mlir", "ignored"),
        (".add_kernel.mlir-passes.log", "ignored"),
    ],
)
def test_files_without_a_stage(suffix: str, kind: str) -> None:
    found = recognise(f"module_0007.f{suffix}")
    assert (found.kind, found.stage, found.module_number) == (kind, None, 7)


@pytest.mark.parametrize(
    ("suffix", "stage"),
    [
        ("execution_0001.hlo_snapshot.pb", AFTER),
        ("snapshot.3.pb", AFTER),
        ("snapshot.-501283989.pb", AFTER),
        ("execution_0001.hlo_unoptimized_snapshot.pb", "before_optimizations"),
        ("execution_0001.hlo_unoptimized_snapshot.txt", "before_optimizations"),
    ],
)
def test_snapshots_of_executions(suffix: str, stage: str) -> None:
    found = recognise(f"1634000000000000.module_0007.jit_f.{suffix}")
    kind = "hlo_text_proto" if suffix.endswith(".txt") else "hlo_snapshot"
    assert (found.kind, found.stage) == (kind, stage)
    assert (found.module_number, found.module_name) == (7, "jit_f")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("module_0042.metadata.textproto", "module_metadata"),
        ("module_jit_f.execution_0001.hlo_snapshot.pb", "hlo_snapshot"),
        ("jit_f.schedule.txt", "ignored"),
        ("jit_f.schedule.pb", "ignored"),
        ("gpu_command_buffer_0x7f1200.dot", "ignored"),
        ("lmhlo.module_0001.f.mlir", "ignored"),
        ("buffer_debug_log.module_0001.f.execution_0002.txt", "ignored"),
        ("module_0000.jit_f/compile_options.pb", "ignored"),
        ("module_0000.jit_f/topology.pb", "ignored"),
        ("module_0000.jit_f/compile_options.textproto", "compile_options"),
        ("module_0000.jit_f/topology.textproto.gz", "topology"),
        ("module_0000.jit_f.cpu_after_optimizations.riegeli", "hlo_riegeli"),
        ("plugins/profile/2026/host.xplane.riegeli", "xplane"),
        ("jit_step_1754/module.mlir", "ignored"),
        ("memory_analysis.json", "memory_analysis"),
        ("plugins/profile/2026/host.xplane.pb", "xplane"),
        ("model_hlo.pb", "hlo_proto"),
        ("000_04aa0d3336074bf8.txt", "unknown"),
        ("module_0012.txt", "unknown"),
        ("", "unknown"),
        (".gz", "unknown"),
        ("module_0001..txt", "unknown"),
    ],
)
def test_other_names(name: str, kind: str) -> None:
    assert recognise(name).kind == kind


def test_pass_between_two_passes() -> None:
    name = (
        "module_0043.main.1234.0043.after_layout_assignment"
        ".after_pipeline-start.before_after_layout_assignment.txt"
    )
    assert recognise(name) == Recognised(
        "hlo_text",
        HLO,
        stage="pass",
        module_number=43,
        module_name="main.1234",
        pipeline="after_layout_assignment",
        pass_after="pipeline-start",
        pass_before="after_layout_assignment",
        pass_step=43,
    )


def test_pass_from_inside() -> None:
    name = (
        "module_0000.f.cl_9.0054.copy-insertion"
        ".after_adding_copies_to_resolve_interference.hlo.pb.gz"
    )
    assert recognise(name) == Recognised(
        "hlo_proto",
        "HloProto",
        stage="pass",
        module_number=0,
        module_name="f",
        cl="9",
        pass_after="copy-insertion",
        pass_step=54,
        pass_text="after_adding_copies_to_resolve_interference",
    )


STEM = "d/module_0001.f.cpu_after_optimizations"
COMPANIONS = [
    f"{STEM}{suffix}"
    for suffix in (
        ".txt",
        "-buffer-assignment.txt",
        "-buffer-assignment-values.txt.gz",
        "-live-range.txt.xz",
        "-memory-usage-report.txt.zst",
        "-memory-usage-report.pb",
        ".hlo.pb",
        ".hlo.pb.gz",
    )
]


def test_companions_share_their_key() -> None:
    keys = {unit_key(path, recognise(path)) for path in COMPANIONS}
    assert len(keys) == 1
    assert keys.pop().file == ""


@pytest.mark.parametrize(
    "path",
    [
        "d/module_0001.f.before_optimizations.txt",
        "d/module_0002.f.cpu_after_optimizations.txt",
        "d/module_0001.g.cpu_after_optimizations.txt",
        "d/module_0001.f.cl_1.cpu_after_optimizations.txt",
        "e/module_0001.f.cpu_after_optimizations.txt",
        "d/1634000000000000.module_0001.f.cpu_after_optimizations.txt",
        "d/module_0001.f.0001.p.after_a.before_b.txt",
        "d/module_0001.f.cpu_after_optimizations.dot",
        "d/module_0001.f.debug_options",
    ],
)
def test_others_have_keys_of_their_own(path: str) -> None:
    first = unit_key(COMPANIONS[0], recognise(COMPANIONS[0]))
    assert unit_key(path, recognise(path)) != first


def test_renamed_companions_share_their_key() -> None:
    paths = ["run.txt", "run-buffer-assignment.txt", "run-live-range.txt", "run.hlo.pb"]
    assert len({unit_key(path, recognise(path)) for path in paths}) == 1


def test_key_does_not_depend_on_content() -> None:
    path = "run.txt"
    with_content = recognise(path, b"BufferAssignment:\n")
    assert with_content.kind == "buffer_assignment"
    assert unit_key(path, with_content) == unit_key(path, recognise(path))


def test_keys_sort_by_module_stage_and_step() -> None:
    names = [
        "module_0002.f.before_optimizations.txt",
        "module_0010.f.before_optimizations.txt",
        "module_0010.f.0002.p.after_a.before_b.txt",
        "module_0010.f.0010.p.after_b.before_c.txt",
        "module_0010.f.10000.p.after_c.before_d.txt",
        "module_0010.f.cpu_after_optimizations.txt",
        "module_0010.f.after_codegen.txt",
    ]
    shuffled = sorted(names, key=lambda name: name[::-1])
    assert sorted(shuffled, key=lambda n: unit_key(n, recognise(n))) == names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("rank_3/module_0001.f.before_optimizations.txt", 3),
        ("rank-12/a/b.txt", 12),
        ("dump.host2/f.txt", 2),
        ("process_1/rank_0/f.txt", 0),
        ("x/worker-7/module_0001.jit_rank_5.before_optimizations.txt", 7),
        ("RANK_4/f.txt", 4),
        ("rank3.module_0001.f.before_optimizations.txt", 3),
        ("hlo.proc_9.txt", 9),
        ("jit_f/trainer-7_4711/module_0001.f.before_optimizations.txt", 7),
        ("jit_f/t1v-n-abc-w-0_22/module_0001.f.before_optimizations.txt", 0),
        ("jit_f/node-3.cluster.local_22/f.txt", 3),
        ("module_0001.jit_rank_5.before_optimizations.txt", None),
        ("module_0001.jit_worker_5/host_22/f.txt", 22),
        ("jit_f/devbox_4711/f.txt", None),
        ("jit_f/devbox7_4711/f.txt", None),
        ("jit_f/ip-10-0-0-7_4711/f.txt", None),
        ("ranks_3/f.txt", None),
        ("3/f.txt", None),
        ("", None),
    ],
)
def test_rank(path: str, expected: int | None) -> None:
    assert rank(path) == expected


@given(st.text(st.characters(codec=None), max_size=300), st.binary(max_size=300))
def test_any_name_and_content_are_something(path: str, data: bytes) -> None:
    found = recognise(path, data)
    assert found.description
    assert unit_key(path, found) == unit_key(path, recognise(path))
    rank(path)


@pytest.mark.parametrize(
    "name",
    [
        "module_0001." + ".0001" * 20_000,
        "module_0001." + ".after_.before_" * 10_000,
        "triton_fusion_numerics_verifier_failed_." * 3_000 + "\n",
        "sm_1.1" * 20_000,
        "gfx" * 30_000,
        "rank_" * 20_000,
        "a-1" * 20_000 + "_1/f",
        "module_" * 20_000,
    ],
)
def test_long_hostile_names_take_no_time(name: str) -> None:
    assert recognise(name).description
    rank(name)


@pytest.mark.parametrize(
    ("ending", "kind"),
    [("", "executable"), ("-cache", "executable"), ("-atime", "ignored")],
)
def test_files_of_jax_s_compilation_cache(ending: str, kind: str) -> None:
    key = "2c5965f2b7a4ac0aea755a32877839d1a5ec8f5bb04954758fb7890d0a2eeba3"
    found = recognise(f"jax/jit_step-1-{key}{ending}")
    assert (found.kind, found.module_name) == (kind, "jit_step-1")
    assert recognise(f"jit_step-{key[1:]}{ending}").kind == "unknown"


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("run/module_0003.jit_f.cl_7/module.mlir", (3, "jit_f", "7")),
        ("module_0012.a.b/compile_options.textproto", (12, "a.b", None)),
        ("jit_step_1754/topology.textproto", (None, None, None)),
        ("module.mlir", (None, None, None)),
    ],
)
def test_a_folder_says_whose_options_they_are(
    path: str, module: tuple[int | None, str | None, str | None]
) -> None:
    found = recognise(path)
    assert (found.module_number, found.module_name, found.cl) == module
