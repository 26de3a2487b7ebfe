"""HloModuleProto → the record that the text parser gives for the same module.

The text says nothing that the message doesn't, but for a few entries of the header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlodb.ingest.formats.hlo_pb2 import HloComputationProto, HloModuleProto
from hlodb.ingest.formats.proto_header import frames, header
from hlodb.ingest.formats.proto_instruction import Scope, read_instruction
from hlodb.ingest.formats.proto_metadata import text_of
from hlodb.ingest.formats.proto_order import OrderedComputation
from hlodb.ingest.records import Computation, HloModule, Instruction, Reject

_MAIN_THREAD = "main"


def read_module(
    module: HloModuleProto, computations: Sequence[OrderedComputation]
) -> tuple[HloModule, list[Reject]]:
    """Give the module's record; a reference to nothing is kept by its number."""
    computation_names = {c.message.id: text_of(c.message.name) for c in computations}
    rows: list[Instruction] = []
    found: list[Computation] = []
    rejects: list[Reject] = []
    entry = entry_id(module)
    for computation in computations:
        message = computation.message
        start = len(rows)
        scope = _scope(computation, computation_names, module.payloads)
        root_id = message.root_id
        for instruction in computation.instructions:
            is_root = instruction.id == root_id
            rows.append(read_instruction(instruction, is_root, scope))
        rejects += _unresolved(text_of(message.name), scope.missing)
        found.append(
            Computation(
                text_of(message.name),
                message.id == entry,
                start,
                len(rows),
                _thread(message),
            )
        )
    hlo = HloModule(
        text_of(module.name), header(module), tuple(found), rows, [0] * len(rows),
        frames(module.stack_frame_index), 0,
    )  # fmt: skip
    return hlo, rejects


def entry_id(module: HloModuleProto) -> int:
    """Give the number of the entry computation: by number, by name, or the last one."""
    numbers = [c.id for c in module.computations]
    if module.entry_computation_id in numbers:
        return int(module.entry_computation_id)
    named = [
        c.id for c in module.computations if c.name == module.entry_computation_name
    ]
    return int((named or numbers or [0])[-1])


def _thread(message: HloComputationProto) -> str | None:
    thread = text_of(message.execution_thread)
    return None if thread in ("", _MAIN_THREAD) else thread


def _scope(
    computation: OrderedComputation,
    computation_names: Mapping[int, str],
    payloads: Sequence[bytes],
) -> Scope:
    messages = {i.id: i for i in computation.instructions}
    names = {number: text_of(i.name) for number, i in messages.items()}
    return Scope(messages, names, computation_names, payloads)


def _unresolved(name: str, missing: Sequence[int]) -> list[Reject]:
    if not missing:
        return []
    numbers = ", ".join(map(str, missing[:5]))
    message = f"{len(missing)} references to nothing: {numbers}"
    return [Reject(0, 0, "instructions", "unknown_reference", message, name)]
