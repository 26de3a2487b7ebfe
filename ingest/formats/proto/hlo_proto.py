"""HloProto and HloModuleProto → the records that the text parsers give.

    bytes → message → computations in print order → module
                    → graph → dataflow → live ranges → assignment

Equal to the text in every field that both forms carry. In the message alone: literals
that the text elides, stack frames before 2025-12.
In the text alone: lines, `allow_spmd_sharding_propagation_…` and
`alias_passthrough_params` of the header, partition and replica counts of modules
without a device assignment, the printed total and peak, pages, `from instruction`
texts, and the order in which the uses of a value are listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from hlodb.ingest.formats.proto.assignment import read_assignment
from hlodb.ingest.formats.proto.broken_messages import Parts, read_message
from hlodb.ingest.formats.proto.dataflow import build_graph
from hlodb.ingest.formats.proto.hlo_pb2 import (
    BufferAllocationProto,
    BufferAssignmentProto,
    HeapSimulatorTrace,
    HloComputationProto,
    HloModuleProto,
    HloProto,
)
from hlodb.ingest.formats.proto.literals import ELIDED
from hlodb.ingest.formats.proto.module import (
    OrderedComputation,
    entry_id,
    in_print_order,
    read_module,
)
from hlodb.ingest.formats.proto.wire import varint
from hlodb.ingest.records import BufferAssignment, HloModule, Reject, Tally

_MODULE = Parts(HloModuleProto, {3: Parts(HloComputationProto, {}, 430)}, 90)
_ASSIGNMENT = Parts(
    BufferAssignmentProto,
    {3: Parts(BufferAllocationProto, {}), 4: Parts(HeapSimulatorTrace, {})},
    85,
)
_HLO = Parts(HloProto, {1: _MODULE, 3: _ASSIGNMENT}, 1)
_FIRST_FIELD = 0x0A
_FIRST_PRINTABLE = 0x20


class ElidedLiteral(NamedTuple):
    """A constant that the text elides: its place among the instructions, and a digest.

    `size_bytes` is the size of its message; `digest` tells constants apart.
    """

    instruction_id: int
    size_bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class ParsedProto:
    """The module and assignment of one message, and what was wrong with it."""

    module: HloModule | None
    assignment: BufferAssignment | None
    elided_literals: list[ElidedLiteral]
    rejects: list[Reject]


def parse_hlo_proto(data: bytes) -> ParsedProto:
    """Read an HloProto, or a bare HloModuleProto; never raises.

    Broken or truncated bytes give what is whole in them and a reject.
    """
    message, broken = _read_message(data)
    if not message.HasField("hlo_module") and not message.HasField("buffer_assignment"):
        return ParsedProto(None, None, [], broken or [_nothing(data)])
    module = message.hlo_module
    computations, misfits = in_print_order(module)
    hlo, unresolved = read_module(module, computations)
    rejects = Tally(broken)
    rejects += misfits
    rejects += unresolved
    assignment = None
    if message.HasField("buffer_assignment"):
        graph = build_graph(module, entry_id(module))
        assignment, lost = read_assignment(message.buffer_assignment, module, graph)
        rejects += lost
    return ParsedProto(hlo, assignment, _elided(computations, hlo), rejects)


def _read_message(data: bytes) -> tuple[HloProto, list[Reject]]:
    """Return the message in `data`, as far as it is whole."""
    if not _is_bare_module(data):
        return read_message(data, _HLO, "proto")
    module, rejects = read_message(data, _MODULE, "proto")
    return HloProto(hlo_module=module), rejects


def _is_bare_module(data: bytes) -> bool:
    """Return whether field 1 is a name; in an HloProto it is a module.

    A module begins with the tag of a field, and that is no printable character.
    """
    if data[:1] != bytes([_FIRST_FIELD]):
        return False
    _, start = varint(data, 1)
    return start < len(data) and data[start] >= _FIRST_PRINTABLE


def _nothing(data: bytes) -> Reject:
    message = f"{len(data)} bytes hold neither a module nor a buffer assignment"
    return Reject(0, 0, "proto", "no_module", message, "")


def _elided(
    computations: list[OrderedComputation], hlo: HloModule
) -> list[ElidedLiteral]:
    messages = (i for computation in computations for i in computation.instructions)
    return [
        ElidedLiteral(
            number,
            len(message.literal),
            blake2b(message.literal, digest_size=16).hexdigest(),
        )
        for number, (row, message) in enumerate(
            zip(hlo.instructions, messages, strict=True)
        )
        if row.literal == ELIDED and message.literal
    ]
