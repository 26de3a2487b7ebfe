"""HloModuleProto → the record that the text parser gives for the same module.

The text says nothing that the message doesn't, but for a few entries of the header.

Computations are printed depth first: the callees of an instruction before those of the
next one, each computation after what it calls (`MakeComputationPostOrder`). The walk
follows the order in which instructions were added, and so do their numbers: sorted by
number, the instructions of a computation stand as XLA holds them. They are printed in
the order of the schedule where there is one, else in XLA's post-order, which is how the
message lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlodb.ingest.formats.proto.dimensions import number_list
from hlodb.ingest.formats.proto.hlo_pb2 import (
    HloComputationProto,
    HloInstructionProto,
    HloModuleProto,
    StackFrameIndexProto,
)
from hlodb.ingest.formats.proto.instruction import (
    Scope,
    frontend_attributes_text,
    json_or_string,
    read_instruction,
)
from hlodb.ingest.formats.proto.metadata import text_of
from hlodb.ingest.formats.proto.shapes import join_counted, shape_text
from hlodb.ingest.records import (
    Computation,
    Frame,
    HloModule,
    Instruction,
    Reject,
    Tally,
)


@dataclass(frozen=True, slots=True)
class OrderedComputation:
    """A computation with its instructions in print order."""

    message: HloComputationProto
    instructions: Sequence[HloInstructionProto]


def computations_in_print_order(module: HloModuleProto) -> list[HloComputationProto]:
    """Return the computations callees first, as the text has them; each one once."""
    by_id = {c.id: c for c in module.computations}
    callees = {number: _callees(c) for number, c in by_id.items()}
    called = {n for calls in callees.values() for call in calls for n in call}
    seen: set[int] = set()
    order: list[int] = []
    roots = [number for number in by_id if number not in called]
    # In a sound module every computation is reached; a cycle is entered anywhere.
    for root in [*roots, *by_id]:
        if root not in seen:
            seen.add(root)
            _visit(root, callees, seen, order)
    return [by_id[number] for number in order]


def _callees(computation: HloComputationProto) -> list[Sequence[int]]:
    """Return the callees of each calling instruction, in order of addition."""
    calling = [i for i in computation.instructions if i.called_computation_ids]
    calling.sort(key=lambda instruction: instruction.id)
    return [tuple(i.called_computation_ids) for i in calling]


def _visit(
    root: int,
    callees: dict[int, list[Sequence[int]]],
    seen: set[int],
    order: list[int],
) -> None:
    """Append `root` and what it calls to `order`, without recursion."""
    stack = [(root, iter(callees[root]))]
    while stack:
        number, calls = stack[-1]
        called = next(calls, None)
        if called is None:
            stack.pop()
            order.append(number)
            continue
        # The first one called is the first to be visited.
        for callee in reversed(called):
            if callee in callees and callee not in seen:
                seen.add(callee)
                stack.append((callee, iter(callees[callee])))


def in_print_order(
    module: HloModuleProto,
) -> tuple[list[OrderedComputation], list[Reject]]:
    """Return computations and instructions as printed, and schedules that don't fit."""
    sequences = module.schedule.sequences
    found: list[OrderedComputation] = []
    rejects: Tally[Reject] = Tally()
    for computation in computations_in_print_order(module):
        if computation.id not in sequences:
            found.append(OrderedComputation(computation, computation.instructions))
            continue
        by_id = {i.id: i for i in computation.instructions}
        order = dict.fromkeys(sequences[computation.id].instruction_ids)
        listed = [by_id[number] for number in order if number in by_id]
        if len(listed) < max(len(by_id), len(order)):
            listed += [i for number, i in by_id.items() if number not in order]
            rejects.append(_misfit(computation, len(order), len(by_id)))
        found.append(OrderedComputation(computation, listed))
    return found, rejects


def _misfit(computation: HloComputationProto, scheduled: int, count: int) -> Reject:
    message = (
        f"a computation of {count} instructions has a schedule of {scheduled}; "
        "instructions outside the schedule come last"
    )
    name = text_of(computation.name)
    return Reject(0, 0, "schedule", "incomplete", message, name)


_ALIAS_KINDS = {1: "may-alias", 2: "must-alias"}


def header(module: HloModuleProto) -> dict[str, str]:
    """Return the header as in the text, as far as the message holds it.

    `num_partitions` and `replica_count` come from the device assignment, which not
    every release writes; `allow_spmd_sharding_propagation_…` and
    `alias_passthrough_params` belong to the configuration and are in no message.
    """
    found: dict[str, str] = {}
    if module.HasField("schedule") and module.schedule.sequences:
        found["is_scheduled"] = "true"
    if text := _aliases(module):
        found["input_output_alias"] = text
    if text := _donors(module):
        found["buffer_donor"] = text
    if module.HasField("host_program_shape"):
        found["entry_computation_layout"] = _entry_layout(module)
    devices = module.device_assignment
    if devices.replica_count > 1:
        found["replica_count"] = str(devices.replica_count)
    if devices.computation_count > 1:
        found["num_partitions"] = str(devices.computation_count)
    hints = frontend_attributes_text(module.frontend_attributes)
    if hints:
        found["frontend_attributes"] = hints
    if module.backend_config:
        found["backend_config"] = json_or_string(module.backend_config)
    return found


def _aliases(module: HloModuleProto) -> str:
    entries = ", ".join(
        f"{number_list(e.output_shape_index)}: ({e.parameter_number}, "
        f"{number_list(e.parameter_shape_index)}"
        + (f", {_ALIAS_KINDS[e.kind]})" if e.kind in _ALIAS_KINDS else ")")
        for e in module.input_output_alias.entries
    )
    return f"{{ {entries} }}" if entries else ""


def _donors(module: HloModuleProto) -> str:
    entries = ", ".join(
        f"({e.parameter_number}, {number_list(e.parameter_shape_index)})"
        for e in module.buffer_donor.entries
    )
    return f"{{ {entries} }}" if entries else ""


def _entry_layout(module: HloModuleProto) -> str:
    shape = module.host_program_shape
    parameters = join_counted(map(shape_text, shape.parameters))
    return f"{{({parameters})->{shape_text(shape.result)}}}"


def frames(index: StackFrameIndexProto) -> tuple[Frame, ...]:
    """Return the stack frames; all numbers count from 1, and parent 0 means none."""
    files = list(map(text_of, index.file_names))
    functions = list(map(text_of, index.function_names))
    places = index.file_locations

    def name(table: Sequence[str], number: int) -> str:
        return table[number - 1] if 0 < number <= len(table) else ""

    found = []
    empty = StackFrameIndexProto.FileLocation()
    for number, frame in enumerate(index.stack_frames, 1):
        place_id = frame.file_location_id
        place = places[place_id - 1] if 0 < place_id <= len(places) else empty
        found.append(
            Frame(
                number,
                frame.parent_frame_id if frame.parent_frame_id > 0 else None,
                name(functions, place.function_name_id),
                name(files, place.file_name_id),
                place.line,
                place.column,
            )
        )
    return tuple(found)


_MAIN_THREAD = "main"


def read_module(
    module: HloModuleProto, computations: Sequence[OrderedComputation]
) -> tuple[HloModule, list[Reject]]:
    """Return the module's record; a reference to nothing is kept by its number."""
    computation_names = {c.message.id: text_of(c.message.name) for c in computations}
    rows: list[Instruction] = []
    found: list[Computation] = []
    rejects: Tally[Reject] = Tally()
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
                text_of(message.backend_config) or None,
            )
        )
    hlo = HloModule(
        text_of(module.name), header(module), tuple(found), rows, [0] * len(rows),
        frames(module.stack_frame_index), 0,
    )  # fmt: skip
    return hlo, rejects


def entry_id(module: HloModuleProto) -> int:
    """Return the number of the entry computation: by number, name, or the last one."""
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
