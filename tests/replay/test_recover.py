"""What replay takes from a dump: program, options, devices; and what it refuses."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.ingest.formats.proto.hlo_pb2 import HloProto
from hlodb.ingest.sources.discover import discover
from hlodb.replay.recover import Key, Program, Unrecoverable, recover
from tests.conftest import DATA

TEXT = (
    "HloModule jit_f, entry_computation_layout={(f32[8]{0})->f32[8]{0}}\n\nENTRY e {}\n"
)
AFTER = TEXT.replace("jit_f,", "jit_f, is_scheduled=true,")


def recovered(path: Path) -> tuple[list[Program], list[Unrecoverable]]:
    [source] = discover([str(path)])
    return recover(source)


def written(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def only(path: Path) -> Program:
    [program], lost = recovered(path)
    assert lost == []
    return program


def test_a_dump_of_jaxlib_0_12_gives_module_options_and_flags() -> None:
    archive = DATA / "newest" / "plain-cpu-jaxlib-0.12.0.1.tar.xz"
    with tarfile.open(archive) as tar:
        member = tar.extractfile("module_0000.jit_loop/module.mlir")
        assert member is not None
        module = member.read()
    assert only(archive) == Program(
        key=Key("", "", 0, "jit_loop", ""),
        place="module_0000.jit_loop",
        form="mlir",
        data=module,
        build_options={
            "use_shardy_partitioner": True,
            "allow_spmd_sharding_propagation_to_parameters": [False],
            "allow_spmd_sharding_propagation_to_output": [True, True],
            "memory_fitting_level": 2,
        },
        dump_flags=("--xla_dump_hlo_as_text",),
    )


def test_text_has_what_is_lost_on_the_way_to_mlir(tmp_path: Path) -> None:
    """Of the aliases only those of whole parameters can be marked again."""
    header = (
        "HloModule jit_f, input_output_alias={ {0}: (2, {}, may-alias), "
        "{1}: (0, {1}, may-alias) }, buffer_donor={ (1, {}) }, "
        "entry_computation_layout={(f32[8]{0})->(f32[8]{0}, f32[8]{0})}, "
        "allow_spmd_sharding_propagation_to_output={true,false}, replica_count=2, "
        'num_partitions=4, frontend_attributes={xla.sdy.meshes="{}"}\n'
    )
    text = header + "c = f32[99]{0} constant({...})\n"
    name = "module_0012.jit_f.before_optimizations.txt"
    assert only(written(tmp_path, {name: text})) == Program(
        key=Key("", "", 12, "jit_f", ""),
        place="module_0012.jit_f",
        form="txt",
        data=text.encode(),
        replicas=2,
        partitions=4,
        build_options={
            "use_shardy_partitioner": True,
            "allow_spmd_sharding_propagation_to_parameters": None,
            "allow_spmd_sharding_propagation_to_output": [True, False],
        },
        aliases=((0, 2),),
        donors=(1,),
        dump_flags=("--xla_dump_hlo_as_text",),
        notes=("the text leaves out the values of large constants",),
    )


def test_a_message_alone_is_enough(tmp_path: Path) -> None:
    message = HloProto()
    message.hlo_module.name = b"jit_f"
    message.hlo_module.device_assignment.replica_count = 1
    message.hlo_module.device_assignment.computation_count = 4
    name = "module_0001.jit_f.before_optimizations.hlo.pb"
    found = only(written(tmp_path, {name: message.SerializeToString()}))
    module = message.hlo_module.SerializeToString()
    assert (found.form, found.data, found.partitions) == ("pb", module, 4)
    assert found.dump_flags == ("--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto")


def test_inputs_by_time_belong_to_modules_in_their_order(tmp_path: Path) -> None:
    """JAX 0.7 to 0.9 named the folder of a module by the time of the compilation."""
    stem = "module_000{}.jit_f.before_optimizations.txt"
    files: dict[str, str | bytes] = {
        stem.format(1): TEXT,
        stem.format(3): TEXT,
        "jit_f_1795666870358/module.mlir": "first",
        "jit_f_1795666870853/module.mlir": "second",
    }
    programs, _ = recovered(written(tmp_path / "two", files))
    found = [(one.key.number, one.data) for one in programs]
    assert found == [(1, b"first"), (3, b"second")]
    del files["jit_f_1795666870358/module.mlir"]
    programs, _ = recovered(written(tmp_path / "one", files))
    assert [one.form for one in programs] == ["txt", "txt"]


TARGET = """\
tpu_topology_args {
  version: %s
  variant: "%s"
  chips_per_host_bounds { x: 2 y: 2 z: 1 }
  host_bounds { x: 2 y: 1 z: 1 }
}
"""


@pytest.mark.parametrize(
    ("version", "variant", "topology"),
    [
        ("TPU_VERSION_VIPERFISH", "lite", "v5e:4x2"),
        ("TPU_VERSION_VIPERFISH", "", "v5p:4x2x1"),
        ("TPU_VERSION_GHOSTLITE", "", "v6e:4x2"),
        ("TPU_VERSION_OF_TOMORROW", "", ""),
    ],
)
def test_the_slice_of_tpus_is_read(
    tmp_path: Path, version: str, variant: str, topology: str
) -> None:
    stem = "module_0000.jit_f.cl_933746096"
    files: dict[str, str | bytes] = {
        f"{stem}.before_optimizations.txt": TEXT,
        f"{stem}.target_arguments.txt": TARGET % (version, variant),
    }
    assert only(written(tmp_path, files)).topology == topology


def test_flags_that_name_files_are_left_out(tmp_path: Path) -> None:
    """A dump may come from somebody hostile; XLA would read or write these files."""
    options = """\
executable_build_options { num_replicas: 1 num_partitions: 2 }
env_option_overrides { key: "xla_cpu_x" value { string_field: "7" } }
env_option_overrides { key: "xla_dump_to" value { string_field: "x" } }
env_option_overrides { key: "xla_harmless" value { string_field: "/etc/x" } }
"""
    debug = """\
xla_cpu_enable_fast_min_max: false
xla_dump_to: "/home/user"
xla_gpu_kernel_cache_file: "x"
xla_allow_excess_precision: false
xla_backend_extra_options { key: "load" value: "x.so" }
xla_hlo_profile_path: "profile"
"""
    files: dict[str, str | bytes] = {
        "module_0000.jit_f.before_optimizations.txt": TEXT,
        "module_0000.jit_f.debug_options": debug,
        "module_0000.jit_f/module.mlir": "module",
        "module_0000.jit_f/compile_options.textproto": options,
    }
    found = only(written(tmp_path, files))
    assert found.partitions == 2
    assert found.flags == {"xla_allow_excess_precision": "false", "xla_cpu_x": "7"}
    assert found.notes == (
        "flag xla_backend_extra_options.load names a file and is left out",
        "flag xla_hlo_profile_path names a file and is left out",
    )


def test_new_dumps_stay_below_their_folder_and_apart(tmp_path: Path) -> None:
    archive = tmp_path / "dump.tar"
    names = ["rank_0/a b", "rank_0/a_b", "..%2f..x/c"]
    for number, name in enumerate(names):
        folder, _, module = name.partition("/")
        file = f"module_000{number % 2}.{module}.before_optimizations.txt"
        written(tmp_path / "d", {f"{folder}/{file}": TEXT})
    with tarfile.open(archive, "w") as tar:
        tar.add(tmp_path / "d", ".")
    programs, _ = recovered(archive)
    places = [one.place for one in programs]
    assert len(set(places)) == 3
    assert all(".." not in place.split("/") for place in places)
    assert all(not place.startswith("/") and " " not in place for place in places)


def test_what_is_compiled_already_cannot_be_compiled_again(tmp_path: Path) -> None:
    stem = "module_0001.jit_f.{}after_optimizations"
    files: dict[str, str | bytes] = {f"{stem.format('cpu_')}.txt": AFTER}
    key = Key("", "", 1, "jit_f", "")
    reason = (
        "the dump has neither its module.mlir nor its before_optimizations,"
        " which a compilation cache does not keep"
    )
    assert recovered(written(tmp_path, files)) == (
        [],
        [Unrecoverable(key, "module_0001.jit_f", reason)],
    )


def test_a_gpu_is_what_its_dump_says_of_it() -> None:
    programs, lost = recovered(DATA / "gpu" / "jaxlib-0.10.2.tar.xz")
    assert lost == []
    assert [one.key.name for one in programs] == ["jit_step", "jit_ring"]
    assert [one.partitions for one in programs] == [1, 8]
    step = programs[0]
    assert (step.form, step.topology) == ("txt", None)
    assert step.gpu is not None and "device_memory_size: 84942979072" in step.gpu
    assert step.flags["xla_gpu_autotune_level"] == "0"
    assert not any(name.startswith("xla_cpu_") for name in step.flags)


def test_gpus_that_are_not_described_are_refused() -> None:
    programs, lost = recovered(DATA / "gpu" / "jaxlib-0.5.3.tar.xz")
    reason = (
        "it was compiled for sm_9.0, and the dump has no gpu_target_config.pbtxt of an"
        " NVIDIA GPU, which replaces the device"
    )
    keys = [Key("", "", 1, "jit_step", ""), Key("", "", 5, "jit_ring", "")]
    assert programs == []
    assert lost == [
        Unrecoverable(key, f"module_{key.number:04d}.{key.name}", reason)
        for key in keys
    ]


def test_compilations_of_one_number_stay_apart(tmp_path: Path) -> None:
    """With --xla_dump_include_timestamp a second process dumps beside the first."""
    name = "{}.module_0001.jit_f.before_optimizations.txt"
    prefixes = ("1795666870358", "1795666999999", "rank_3")
    files: dict[str, str | bytes] = {name.format(one): TEXT for one in prefixes}
    programs, _ = recovered(written(tmp_path, files))
    assert [one.key for one in programs] == [
        Key("", prefix, 1, "jit_f", "") for prefix in prefixes
    ]
    places = [one.place for one in programs]
    assert places == [f"{prefix}.module_0001.jit_f" for prefix in prefixes]


def test_passes_are_dumped_again(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "module_0001.jit_f.before_optimizations.txt": TEXT,
        "module_0001.jit_f.0001.simplify.after_dce.before_cse.txt": TEXT,
    }
    found = only(written(tmp_path, files))
    assert found.dump_flags[-1] == "--xla_dump_hlo_pass_re=.*"
    assert replace(found, dump_flags=()).form == "txt"
