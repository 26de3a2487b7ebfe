"""What a program was compiled for: chip, memory, topology.

From `target_arguments.txt` (TPU) and `gpu_target_config.pbtxt`, both text protos.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from hlodb.ingest.formats.text_proto import (
    Field,
    int_at,
    parse_text_proto,
    text_at,
)
from hlodb.ingest.records import Reject

TPU_CHIPS: dict[tuple[str, str], str] = {
    ("TPU_VERSION_JELLYFISH", ""): "TPU v2",
    ("TPU_VERSION_DRAGONFISH", ""): "TPU v3",
    ("TPU_VERSION_PUFFERFISH", ""): "TPU v4",
    ("TPU_VERSION_VIPERFISH", ""): "TPU v5p",
    ("TPU_VERSION_VIPERFISH", "lite"): "TPU v5e",
    ("TPU_VERSION_GHOSTLITE", ""): "TPU v6e",
    # As libtpu 0.0.42 writes it. Each of the two chiplets is a device of its own, with
    # half of the published 192 GiB.
    ("TPU_VERSION_6acc60406", ""): "TPU7x",
    # What libtpu called VIPERFISH until jax 0.8.0.
    ("TPU_VERSION_2093c6a02", ""): "TPU v5p",
    ("TPU_VERSION_2093c6a02", "lite"): "TPU v5e",
}
"""(version, variant) in target_arguments → chip; others keep the dump's own words."""

TPU_CORES: dict[tuple[str, str], str] = {
    ("TPU v4", "default"): "TPU v4 (one core)",
}
"""(chip, chip_config_name) → device, where that is one of a chip's two cores.

The usual name of the other configuration is megacore: both cores are one device.
"""

GPU_PLATFORMS: dict[str, str] = {"CUDA": "gpu", "ROCM": "rocm"}
"""`platform_name` of a GpuTargetConfigProto → platform of a run."""


@dataclass(frozen=True, slots=True)
class Target:
    """Facts about the target; None where the file doesn't say.

    `platform`: tpu, gpu, rocm. `device`: `TPU v5e`, `NVIDIA H100 80GB HBM3`.
    `memory_bytes`: all memory of one device. `topology`: chips along x, y, z (`2x2x1`).
    """

    platform: str | None = None
    device: str | None = None
    memory_bytes: int | None = None
    topology: str | None = None
    rejects: list[Reject] = field(default_factory=list)


def parse_target(kind: str, text: str) -> Target:
    """Read the target from a file of this kind; other text protos say nothing of it."""
    proto = parse_text_proto(text)
    read = _READERS.get(kind)
    target = read(proto.fields) if read else Target()
    return replace(target, rejects=proto.rejects)


def _tpu_target(fields: Iterable[Field]) -> Target:
    version = text_at(fields, "tpu_topology_args.version")
    if version is None:
        return Target(topology=_tpu_topology(fields))
    variant = text_at(fields, "tpu_topology_args.variant") or ""
    words = f"{version} {variant}".strip()
    chip = TPU_CHIPS.get((version, variant), words)
    configured = text_at(fields, "tpu_topology_args.chip_config_name") or ""
    device = TPU_CORES.get((chip, configured), chip)
    return Target("tpu", device, topology=_tpu_topology(fields))


def _tpu_topology(fields: Iterable[Field]) -> str | None:
    """Chips along each axis: those of a host times the hosts."""
    bounds: list[int] = []
    for axis in "xyz":
        chips = int_at(fields, f"tpu_topology_args.chips_per_host_bounds.{axis}")
        hosts = int_at(fields, f"tpu_topology_args.host_bounds.{axis}")
        if chips is None:
            return None
        bounds.append(chips * (1 if hosts is None else hosts))
    return "x".join(str(bound) for bound in bounds)


def _gpu_target(fields: Iterable[Field]) -> Target:
    name = text_at(fields, "platform_name")
    return Target(
        GPU_PLATFORMS.get(name or "", name and name.lower()),
        text_at(fields, "device_description_str"),
        int_at(fields, "gpu_device_info.device_memory_size"),
    )


def _topology(fields: Iterable[Field]) -> Target:
    """Read a PjRtTopologyDescriptionProto; its binary part is the device's own."""
    name = text_at(fields, "platform_name")
    return Target(_PLATFORMS.get(name or "", name))


_PLATFORMS = {"cuda": "gpu"}
"""`platform_name` of PJRT → platform of a run."""

_READERS: dict[str, Callable[[Iterable[Field]], Target]] = {
    "target_arguments": _tpu_target,
    "gpu_target_config": _gpu_target,
    "topology": _topology,
}
