"""What a program was compiled for: chip, topology, partitions.

From `target_arguments.txt` (TPU), `gpu_target_config.pbtxt`, `execution_options.txt`
and the HloModuleConfigProto, all text protos.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hlodb.ingest.formats.text_proto import Field, int_at, parse_text_proto, text_at
from hlodb.ingest.records import Reject

TPU_CHIPS: dict[tuple[str, str], str] = {
    ("TPU_VERSION_JELLYFISH", ""): "TPU v2",
    ("TPU_VERSION_DRAGONFISH", ""): "TPU v3",
    ("TPU_VERSION_PUFFERFISH", ""): "TPU v4",
    ("TPU_VERSION_VIPERFISH", ""): "TPU v5p",
    ("TPU_VERSION_VIPERFISH", "lite"): "TPU v5e",
    ("TPU_VERSION_GHOSTLITE", ""): "TPU v6e",
    # What libtpu called VIPERFISH until jax 0.8.0.
    ("TPU_VERSION_2093c6a02", ""): "TPU v5p",
    ("TPU_VERSION_2093c6a02", "lite"): "TPU v5e",
}
"""(version, variant) in target_arguments → chip; others keep the dump's own words."""

GPU_PLATFORMS: dict[str, str] = {"CUDA": "gpu", "ROCM": "rocm"}
"""`platform_name` of a GpuTargetConfigProto → platform of a run."""


@dataclass(frozen=True, slots=True)
class Target:
    """Facts about the target; None where the file doesn't say.

    `platform`: tpu, gpu, rocm. `device`: `TPU v5e`, `NVIDIA H100 80GB HBM3`.
    `memory_bytes`: all memory of one device.
    `architecture`: `sm_9.0`, `gfx942`. `topology`: chips along x, y, z (`2x2x1`).
    """

    platform: str | None = None
    device: str | None = None
    memory_bytes: int | None = None
    architecture: str | None = None
    topology: str | None = None
    num_partitions: int | None = None
    replica_count: int | None = None
    rejects: list[Reject] = field(default_factory=list)
    lines_total: int = 0


def parse_target(kind: str, text: str) -> Target:
    """Read the target from a file of this kind; other kinds say nothing of it."""
    read = _READERS.get(kind)
    return read(text) if read else Target(lines_total=len(text.splitlines()))


def target_arguments(text: str) -> Target:
    """Read the TPU target: version and variant of the chip, bounds of the topology."""
    proto = parse_text_proto(text)
    version = text_at(proto.fields, "tpu_topology_args.version")
    variant = text_at(proto.fields, "tpu_topology_args.variant") or ""
    device = None
    if version is not None:
        words = f"{version} {variant}".strip()
        device = TPU_CHIPS.get((version, variant), words)
    return Target(
        platform="tpu" if version is not None else None,
        device=device,
        architecture=version,
        topology=_tpu_topology(proto.fields),
        replica_count=int_at(proto.fields, "replica_count"),
        rejects=proto.rejects,
        lines_total=proto.lines_total,
    )


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


def gpu_target_config(text: str) -> Target:
    """Read the GPU target: the device, its memory and its compute capability."""
    proto = parse_text_proto(text)
    name = text_at(proto.fields, "platform_name")
    return Target(
        platform=GPU_PLATFORMS.get(name or "", name and name.lower()),
        device=text_at(proto.fields, "device_description_str"),
        memory_bytes=int_at(proto.fields, "gpu_device_info.device_memory_size"),
        architecture=_gpu_architecture(proto.fields),
        rejects=proto.rejects,
        lines_total=proto.lines_total,
    )


def _gpu_architecture(fields: Iterable[Field]) -> str | None:
    where = "gpu_device_info"
    major = int_at(fields, f"{where}.cuda_compute_capability.major")
    if major is not None:
        # Zero is not printed.
        minor = int_at(fields, f"{where}.cuda_compute_capability.minor") or 0
        return f"sm_{major}.{minor}"
    return text_at(fields, f"{where}.rocm_compute_capability.gcn_arch_name")


def execution_options(text: str) -> Target:
    """Read partitions and replicas from ExecutionOptions."""
    proto = parse_text_proto(text)
    return Target(
        num_partitions=int_at(proto.fields, "num_partitions"),
        replica_count=int_at(proto.fields, "num_replicas"),
        rejects=proto.rejects,
        lines_total=proto.lines_total,
    )


def module_config(text: str) -> Target:
    """Read partitions and replicas from an HloModuleConfigProto."""
    proto = parse_text_proto(text)
    return Target(
        num_partitions=int_at(proto.fields, "num_partitions"),
        replica_count=int_at(proto.fields, "replica_count"),
        rejects=proto.rejects,
        lines_total=proto.lines_total,
    )


_READERS: dict[str, Callable[[str], Target]] = {
    "target_arguments": target_arguments,
    "gpu_target_config": gpu_target_config,
    "execution_options": execution_options,
    "module_config": module_config,
}
