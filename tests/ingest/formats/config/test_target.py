"""Chips, memory and topologies, as the dump says them."""

from __future__ import annotations

import pytest

from hlodb.ingest.formats.config.target import Target, parse_target
from hlodb.ingest.sources.discover import discover
from tests.conftest import SHARED

TPU = """replica_count: 2
tpu_topology_args {
  version: TPU_VERSION_VIPERFISH
  variant: "lite"
  chips_per_host_bounds {
    x: 2
    y: 2
    z: 1
  }
  host_bounds {
    x: 4
    y: 2
    z: 1
  }
}
"""


def test_target_arguments() -> None:
    assert parse_target("target_arguments", TPU) == Target(
        platform="tpu", device="TPU v5e", topology="8x4x1"
    )


@pytest.mark.parametrize(
    ("words", "device"),
    [
        ("version: TPU_VERSION_VIPERFISH", "TPU v5p"),
        ('version: TPU_VERSION_VIPERFISH variant: "lite"', "TPU v5e"),
        (
            'version: TPU_VERSION_2093c6a02 variant: "lite"',
            "TPU v5e",
        ),
        ("version: TPU_VERSION_6acc60406", "TPU7x"),
        ('version: TPU_VERSION_PUFFERFISH chip_config_name: "megacore"', "TPU v4"),
        ("version: TPU_VERSION_PUFFERFISH", "TPU v4"),
        (
            'version: TPU_VERSION_PUFFERFISH chip_config_name: "default"',
            "TPU v4 (one core)",
        ),
        ('version: TPU_VERSION_VIPERFISH chip_config_name: "default"', "TPU v5p"),
        ("version: TPU_VERSION_NEW", "TPU_VERSION_NEW"),
    ],
)
def test_chips(words: str, device: str) -> None:
    found = parse_target("target_arguments", f"tpu_topology_args {{ {words} }}")
    assert (found.platform, found.device, found.topology) == ("tpu", device, None)


CUDA = """gpu_device_info {
  core_count: 132
  device_memory_size: 84942979072
  cuda_compute_capability {
    major: 9
  }
}
platform_name: "CUDA"
device_description_str: "NVIDIA H100 80GB HBM3"
"""
ROCM = """gpu_device_info {
  rocm_compute_capability {
    gcn_arch_name: "gfx942"
  }
}
platform_name: "ROCM"
device_description_str: "AMD MI300X"
"""


def test_gpu_target_config() -> None:
    assert parse_target("gpu_target_config", CUDA) == Target(
        platform="gpu",
        device="NVIDIA H100 80GB HBM3",
        memory_bytes=84_942_979_072,
    )
    assert parse_target("gpu_target_config", ROCM) == Target("rocm", "AMD MI300X")


def test_other_text_protos_say_nothing_but_what_is_wrong_with_them() -> None:
    options = "num_replicas: 2\nnum_partitions: 4\n"
    assert parse_target("execution_options", options) == Target()
    cut = parse_target("execution_options", f"{options}device_handles {{")
    assert [reject.message for reject in cut.rejects] == [
        "the text ends inside device_handles"
    ]


def test_broken_text_says_what_it_can() -> None:
    cut = parse_target("target_arguments", TPU[: TPU.index("  host_bounds")])
    assert (cut.device, cut.topology) == ("TPU v5e", "2x2x1")
    assert len(cut.rejects) == 1


@pytest.mark.shared
@pytest.mark.parametrize(
    ("archive", "device"),
    [
        ("v5e-jax-0.10.2", "TPU v5e"),
        ("v5e-jax-0.9.2", "TPU v5e"),
        ("v5p-jax-0.10.2", "TPU v5p"),
        ("v5e-jax-0.7.2", "TPU v5e"),
    ],
)
def test_real_targets(archive: str, device: str) -> None:
    [source] = discover([str(SHARED / "tpu" / f"{archive}.tar.xz")])
    targets = [
        parse_target("target_arguments", file.data.decode())
        for unit in source.units()
        for file in unit.files
        if file.recognised.kind == "target_arguments"
    ]
    assert {(t.platform, t.device, t.topology) for t in targets} == {
        ("tpu", device, "2x2x1")
    }
    assert [t.rejects for t in targets] == [[]] * 7
