"""What an HloInstructionProto says beyond shape and operands → attributes as printed.

Each opcode prints its own fields, in its own order, and leaves out what has its
default (XLA `hlo_instructions.cc`). The attributes that have a column of their own are
not among these: channel_id, replica_groups, fusion kind, custom_call_target, sharding,
backend_config, called computations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hlodb.ingest.formats import proto_calling, proto_computing, proto_rearranging
from hlodb.ingest.formats.hlo_pb2 import HloInstructionProto

Printer = Callable[[HloInstructionProto, bytes], Iterable[str]]
"""From an instruction and the shape of its first operand to its attributes."""

_PRINTERS: dict[str, Printer] = {
    **proto_rearranging.PRINTERS,
    **proto_computing.PRINTERS,
    **proto_calling.PRINTERS,
}


def opcode_attributes(
    instruction: HloInstructionProto, opcode: str, first_shape: bytes
) -> Iterable[str]:
    """Give the attributes that only this opcode prints, in order.

    `first_shape` is the shape of the first operand; it may be empty but for opcodes
    whose attributes depend on it (compare, collective-permute).
    """
    printer = _PRINTERS.get(opcode)
    return printer(instruction, first_shape) if printer else ()
