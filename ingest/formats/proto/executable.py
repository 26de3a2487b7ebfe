"""Serialized executables: the module and buffer assignment that they carry.

JAX's persistent compilation cache holds one in each entry, and so does whatever
`jax.experimental.serialize_executable` or an ahead-of-time compiler wrote. Where the
HLO lies, seen in entries of jaxlib 0.4.30 to 0.10.2 and libtpu 0.0.42:

    entry      ::= SECONDS executable        4 bytes, big-endian: how long it compiled
    executable ::= prefix? ExecutableAndOptionsProto | prefix? part* (TPU)
    prefix     ::= LENGTH SerializedXlaExecutableMetadata     jaxlib 0.8 and later
    part       ::= LENGTH message

* CPU: field 1 of ExecutableAndOptionsProto is a CompilationResultProto
  (xla/service/cpu/executable.proto), with the HloModuleProtoWithConfig in field 1 and
  the BufferAssignmentProto in field 2.
* GPU: the same fields (GpuExecutableProto, xla/service/gpu/gpu_executable.proto); until
  2024 field 1 is the HloModuleProto. Newer ones may list their allocations in field 10
  instead, and come split into the records of a Riegeli file.
* TPU: field 6 of one of the parts is an HloProto. libtpu documents none of this.

Heap traces are left out by CPU executables of jaxlib 0.7 and later; nothing else that
becomes a row is. Pure functions over the wire format: machine code, most of the bytes,
is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from hlodb.ingest.formats.proto.riegeli import is_riegeli, split_message
from hlodb.ingest.formats.proto.wire import (
    BYTES,
    VARINT,
    encoded,
    is_module,
    payload_of,
    wire_fields,
)

_SECONDS = 4
_MODULE, _ASSIGNMENT, _OBJECT_KIND, _TPU_HLO, _ALLOCATIONS = 1, 2, 5, 6, 10
_ASSIGNMENT_OF_HLO, _ALLOCATIONS_OF_ASSIGNMENT, _REPEATED = 3, 3, 1
_MOST_PARTS = 16
_IFRT = b"pjrt_ifrt"
_IFRT_WITHIN = 64


class ExecutableHlo(NamedTuple):
    """An HloProto as bytes, and the platform that the executable was compiled for."""

    hlo: bytes
    platform: str


def begins_executable(head: bytes) -> bool:
    """Return whether bytes begin a serialized executable, as far as they show it."""
    body = _without_seconds(head)
    size, start = _length(body)
    if size > 0 and _IFRT in body[start : start + min(size, _IFRT_WITHIN)]:
        return True
    first = next(wire_fields(body), None)
    if first is None or (first.number, first.wire_type) != (_MODULE, BYTES):
        return False
    inner = body[first.payload : first.end]
    if is_riegeli(inner):
        return True
    return _is_configured(body) or _is_configured(inner)


def hlo_of_executable(data: bytes) -> ExecutableHlo | None:
    """Return the HLO of an executable or cache entry; None where it carries none."""
    body = _without_seconds(data)
    for message in _messages(body):
        found = _compilation(message) or _tpu_program(message)
        if found is not None:
            return found
    return None


def _without_seconds(data: bytes) -> bytes:
    # No message begins with a zero, and no compilation takes 194 days.
    return data[_SECONDS:] if data[:1] == b"\0" else data


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a sequence in which all but the last have their length."""
    for _ in range(_MOST_PARTS):
        size, start = _length(data)
        if not data or _is_whole(data) or not 0 < size <= len(data) - start:
            break
        yield data[start : start + size]
        data = data[start + size :]
    yield data


def _length(data: bytes) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[:9]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, place + 1
    return 0, 0


def _is_whole(data: bytes) -> bool:
    end = 0
    for field in wire_fields(data):
        end = field.end
    return end == len(data)


def _compilation(message: bytes) -> ExecutableHlo | None:
    """Find the module of a CPU or GPU executable, bare or with its options."""
    if _is_configured(message):
        return _result(message)
    inner = payload_of(message, _MODULE)
    if is_riegeli(inner):
        inner = split_message(inner)
        return _result(inner, "gpu")
    # An HloProto, which a snapshot holds, has no field 2.
    is_early = is_module(payload_of(inner, _MODULE)) and payload_of(inner, _ASSIGNMENT)
    return _result(inner) if is_early or _is_configured(inner) else None


def _result(message: bytes, platform: str = "") -> ExecutableHlo | None:
    first = payload_of(message, _MODULE)
    module = first if is_module(first) else payload_of(first, _MODULE)
    if not is_module(module):
        return None
    assignment = payload_of(message, _ASSIGNMENT) or _listed_allocations(message)
    hlo = encoded(1, module)
    if assignment:
        hlo += encoded(_ASSIGNMENT_OF_HLO, assignment)
    return ExecutableHlo(hlo, platform or _platform(message, first))


def _listed_allocations(message: bytes) -> bytes:
    """Return the allocations of a newer GPU executable as an assignment."""
    listed = payload_of(message, _ALLOCATIONS)
    return b"".join(
        encoded(_ALLOCATIONS_OF_ASSIGNMENT, listed[field.payload : field.end])
        for field in wire_fields(listed)
        if (field.number, field.wire_type) == (_REPEATED, BYTES)
    )


def _platform(message: bytes, first: bytes) -> str:
    """Return the platform: field 5 is an enumeration for CPUs, a message for GPUs."""
    kinds = {f.wire_type for f in wire_fields(message) if f.number == _OBJECT_KIND}
    if is_module(first) or BYTES in kinds:
        return "gpu"
    # Releases before 2024-09 name the function that is the entry instead.
    names_entry = payload_of(message, 3).replace(b".", b"").replace(b"_", b"").isalnum()
    return "cpu" if VARINT in kinds or names_entry else "gpu"


def _tpu_program(message: bytes) -> ExecutableHlo | None:
    hlo = payload_of(message, _TPU_HLO)
    if not is_module(payload_of(hlo, 1)):
        return None
    return ExecutableHlo(hlo, "tpu")


def _is_configured(message: bytes) -> bool:
    """Return whether field 1 is a module with its configuration and nothing else."""
    first = payload_of(message, _MODULE)
    fields = list(islice(wire_fields(first), 3))
    return [(f.number, f.wire_type) for f in fields] == [
        (1, BYTES),
        (2, BYTES),
    ] and is_module(payload_of(first, 1))
