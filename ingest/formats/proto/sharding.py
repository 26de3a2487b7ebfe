"""OpSharding and replica groups → text: `{devices=[2,2]<=[4]}`, `{{0,1},{2,3}}`.

XLA `hlo_sharding.cc`, `tile_assignment.cc`, `named_sharding.cc`, `mesh_and_axis.cc`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.hlo_pb2 import (
    AxisRefProto,
    CollectiveDeviceListProto,
    HloInstructionProto,
    IotaReplicaGroupListProto,
    MeshAxesReplicaGroupListProto,
    MeshProto,
    NamedShardingProto,
    OpSharding,
    ReplicaGroup,
)
from hlodb.ingest.formats.proto.metadata import metadata_text, text_of
from hlodb.ingest.formats.proto.shapes import join_counted
from hlodb.ingest.formats.scan import remembered

_TUPLE, _OTHER, _MAXIMAL = 2, 3, 1
_PLAIN = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}
_SUBGROUPS = {0: "replicated", 1: "maximul", 4: "manual", 6: "unreduced"}
_REDUCTIONS = {1: "max", 2: "min"}
"""How unreduced parts are to be reduced, where it is no sum; since jaxlib 0.12."""

_GROUP_TYPES = {0: "shard_as", 1: "shard_like"}


@remembered
def sharding_text(data: bytes) -> str | None:
    """Return the sharding in `data` as printed; None where the bytes make none."""
    try:
        return _sharding(OpSharding.FromString(data))
    except DecodeError:
        return None


def _sharding(sharding: OpSharding) -> str:
    if sharding.HasField("named_sharding"):
        return _named_sharding(sharding.named_sharding)
    if sharding.type == _TUPLE:
        return f"{{{join_counted(map(_sharding, sharding.tuple_shardings))}}}"
    parts = [_kind(sharding), *_groups(sharding), *_metadata(sharding.metadata)]
    return f"{{{' '.join(parts)}}}"


def _kind(sharding: OpSharding) -> str:
    if sharding.type == _MAXIMAL:
        devices = sharding.tile_assignment_devices
        return f"maximal device={devices[0] if devices else 0}"
    if sharding.type != _OTHER:
        return _PLAIN.get(sharding.type, f"type{sharding.type}")
    text = f"devices={_tiles(sharding)}"
    if sharding.replicate_on_last_tile_dim:
        text += " last_tile_dim_replicate"
    if sharding.last_tile_dims:
        names = (_SUBGROUPS.get(t, "error_type.") for t in sharding.last_tile_dims)
        text += f" last_tile_dims={{{', '.join(names)}}}"
    return text


def _tiles(sharding: OpSharding) -> str:
    sizes = _numbers(sharding.tile_assignment_dimensions)
    if not sharding.iota_reshape_dims:
        return f"[{sizes}]{_numbers(sharding.tile_assignment_devices)}"
    return _iota(sizes, sharding.iota_reshape_dims, sharding.iota_transpose_perm)


def _iota(sizes: str, reshape: Sequence[int], transpose: Sequence[int]) -> str:
    text = f"[{sizes}]<=[{_numbers(reshape)}]"
    return f"{text}T({_numbers(transpose)})" if len(transpose) > 1 else text


def _groups(sharding: OpSharding) -> Iterable[str]:
    if sharding.is_shard_group:
        name = _GROUP_TYPES.get(sharding.shard_group_type, "shard_group")
        yield f"{name} {sharding.shard_group_id}"


def _metadata(items: Sequence[bytes]) -> Iterable[str]:
    if len(items) == 1:
        yield f"metadata={{{metadata_text(items[0])}}}"
    elif items:
        inside = ", ".join(f"{{{metadata_text(item)}}}" for item in items)
        yield f"metadata={{{inside}}}"


def _numbers(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


# --- Meshes and their axes ---------------------------------------------------


def _named_sharding(sharding: NamedShardingProto) -> str:
    mesh = sharding.mesh

    def axes(refs: Iterable[AxisRefProto]) -> str:
        return ", ".join(_axis(ref, mesh) for ref in refs)

    named = {
        name: axes(refs)
        for name in ("replicated", "unreduced", "manual")
        if (refs := getattr(sharding, f"{name}_axes"))
    }
    all_axes = ", ".join(f"'{text_of(axis.name)}'" for axis in mesh.axes)
    if sharding.dim_shardings or named not in ({}, {"manual": all_axes}):
        dimensions = ", ".join(_dimension(d, axes) for d in sharding.dim_shardings)
        parts = [_mesh(mesh), f"[{dimensions}]"]
        reductions = {"unreduced": _REDUCTIONS.get(sharding.reduction_op, "")}
        parts += (
            f"{name}={reductions.get(name, '')}{{{inside}}}"
            for name, inside in named.items()
        )
    else:
        parts = [_mesh(mesh), "manual" if named else "replicated"]
    if sharding.metadata:
        inside = ", ".join(f"{{{metadata_text(item)}}}" for item in sharding.metadata)
        parts.append(f"metadata={{{inside}}}")
    return f"{{{', '.join(parts)}}}"


def _dimension(
    dimension: NamedShardingProto.DimensionSharding,
    axes: Callable[[Iterable[AxisRefProto]], str],
) -> str:
    named = axes(dimension.axes)
    if dimension.is_closed:
        return f"{{{named}}}"
    return f"{{{named}, ?}}" if named else "{?}"


def _mesh(mesh: MeshProto) -> str:
    if not mesh.axes and len(mesh.device_ids) == 1:
        return f"maximal_mesh[device_id={mesh.device_ids[0]}]"
    named = ",".join(f"'{text_of(axis.name)}'={axis.size}" for axis in mesh.axes)
    text = f"mesh[{named}]"
    if mesh.device_ids:
        return f"{text}, device_ids=({_numbers(mesh.device_ids)})"
    if mesh.HasField("iota_transform"):
        iota = mesh.iota_transform
        order = f"[{_numbers(iota.reshape_dims)}]T({_numbers(iota.transpose_perm)})"
        return f"{text}, device_ids=({order})"
    return text


def _axis(ref: AxisRefProto, mesh: MeshProto) -> str:
    number = ref.mesh_axis_index
    known = 0 <= number < len(mesh.axes)
    name = text_of(mesh.axes[number].name) if known else str(number)
    if not ref.HasField("sub_axis_info"):
        return f"'{name}'"
    return f"'{name}':({ref.sub_axis_info.pre_size}){ref.sub_axis_info.size}"


# --- Replica groups ----------------------------------------------------------


def replica_groups_text(instruction: HloInstructionProto) -> str:
    """Return the devices of a collective as printed after `replica_groups=`."""
    try:
        if instruction.HasField("mesh_axes_replica_group_list"):
            return _mesh_groups(instruction.mesh_axes_replica_group_list)
        if instruction.HasField("iota_collective_device_list"):
            return _iota_groups(instruction.iota_collective_device_list)
        if instruction.HasField("collective_device_list"):
            return _device_list(instruction.collective_device_list)
    except DecodeError:
        return "{}"
    return _listed_groups(instruction.replica_groups)


@lru_cache(maxsize=1 << 12)
def _device_list(data: bytes) -> str:
    devices = CollectiveDeviceListProto.FromString(data)
    if devices.HasField("iota_replica_group_list"):
        return _iota_groups(devices.iota_replica_group_list)
    return _listed_groups(devices.replica_groups)


@lru_cache(maxsize=1 << 12)
def _iota_groups(data: bytes) -> str:
    groups = IotaReplicaGroupListProto.FromString(data)
    sizes = f"{groups.num_replica_groups},{groups.num_devices_per_group}"
    return _iota(sizes, groups.iota_reshape_dims, groups.iota_transpose_perm)


@lru_cache(maxsize=1 << 12)
def _mesh_groups(data: bytes) -> str:
    groups = MeshAxesReplicaGroupListProto.FromString(data)
    axes = ",".join(_axis(ref, groups.mesh) for ref in groups.axes)
    return f"{_mesh(groups.mesh)} {{{axes}}}"


def _listed_groups(groups: Iterable[ReplicaGroup]) -> str:
    listed = ",".join(f"{{{_numbers(group.replica_ids)}}}" for group in groups)
    return f"{{{listed}}}"
