"""HloInstructionProto → the record that the text parser gives for the same one.

Attributes that an instruction of any opcode may have (hints, statistics, origin) come
from XLA `hlo_instruction.cc` and `hlo_original_value.cc`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.proto.attributes import opcode_attributes
from hlodb.ingest.formats.proto.dimensions import number_list
from hlodb.ingest.formats.proto.hlo_pb2 import (
    FrontendAttributes,
    HloInstructionProto,
    OriginalValueProto,
    Payload,
    ResultAccuracy,
    StatisticsViz,
)
from hlodb.ingest.formats.proto.literals import ELIDED, literal_text
from hlodb.ingest.formats.proto.metadata import (
    Metadata,
    escaped,
    read_metadata,
    text_of,
)
from hlodb.ingest.formats.proto.shapes import read_shape, shape_text
from hlodb.ingest.formats.proto.sharding import replica_groups_text, sharding_text
from hlodb.ingest.formats.scan import remembered
from hlodb.ingest.records import NO_ATTRIBUTES, Attributes, Call, Instruction

_HIGHEST_ACCURACY = 1


def common_attributes(
    message: HloInstructionProto, name: Callable[[int], str]
) -> Iterable[str]:
    """Yield attributes of instructions of any opcode; `name` looks one up."""
    if message.frontend_attributes:
        text = frontend_attributes_text(message.frontend_attributes)
        if text:
            yield f"frontend_attributes={text}"
    if message.control_predecessor_ids:
        before = (f"%{name(number)}" for number in message.control_predecessor_ids)
        yield f"control-predecessors={{{', '.join(before)}}}"
    if message.statistics_viz:
        yield from _statistics(message.statistics_viz)
    if message.result_accuracy:
        yield from _result_accuracy(message.result_accuracy)
    if message.original_value:
        origin = _origin(message.original_value)
        if origin:
            yield f"origin={{{origin}}}"


@remembered
def frontend_attributes_text(data: bytes) -> str | None:
    """Return `{name="value",other={"json": 1}}`, by name; None where there are none."""
    try:
        attributes = FrontendAttributes.FromString(data).map
    except DecodeError:
        return None
    parts = [
        f"{name}={json_or_string(attributes[name])}" for name in sorted(attributes)
    ]
    return f"{{{','.join(parts)}}}" if parts else None


def json_or_string(value: bytes) -> str:
    """Return a value as printed: as it is where it reads as JSON, else quoted."""
    text = text_of(value)
    return text if _reads_as_json(text) else f'"{escaped(value)}"'


def _reads_as_json(text: str) -> bool:
    """Return whether `text` is one `{…}`, strings within it skipped, as XLA does."""
    if not text.startswith("{"):
        return False
    depth = 0
    in_string = is_escaped = False
    for place, character in enumerate(text):
        if in_string:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return place == len(text) - 1
    return False


@lru_cache(maxsize=1 << 10)
def _statistics(data: bytes) -> tuple[str, ...]:
    try:
        shown = StatisticsViz.FromString(data)
    except DecodeError:
        return ()
    parts = [f"visualizing_index={shown.stat_index_to_visualize}"]
    parts += [f"{text_of(s.stat_name)}={s.stat_val:g}" for s in shown.statistics]
    return (f"statistics={{{','.join(parts)}}}",) if shown.statistics else ()


@lru_cache(maxsize=1 << 10)
def _result_accuracy(data: bytes) -> tuple[str, ...]:
    try:
        accuracy = ResultAccuracy.FromString(data)
    except DecodeError:
        return ()
    if accuracy.mode == _HIGHEST_ACCURACY:
        return ("result_accuracy={mode=highest}",)
    if not accuracy.HasField("tolerance"):
        return ()
    t = accuracy.tolerance
    inside = f"atol={t.atol:g},rtol={t.rtol:g},ulps={t.ulps}"
    return (f"result_accuracy={{tolerance={{{inside}}}}}",)


# --- Original values ---------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _origin(data: bytes) -> str | None:
    """Return the origins of the parts of a shape: `{"a"}`, `({"a"}, {"b" {1}})`."""
    try:
        value = OriginalValueProto.FromString(data)
    except DecodeError:
        return None
    if value.is_synthetic_call and not value.HasField("call_hierarchy"):
        return "[synthetic_call]"
    leaves = {
        tuple(element.shape_index): _original_array(element)
        for element in value.elements
    }
    if not value.HasField("call_hierarchy"):
        return _origin_tree(leaves) if leaves else None
    # Since jaxlib 0.12 the calls that led there, which may be all that is known.
    return f'{_origin_tree(leaves)},["{text_of(value.call_hierarchy)}"]'


def _original_array(element: OriginalValueProto.OriginalValueElementProto) -> str:
    if not element.HasField("original_array"):
        return "{}"
    array = element.original_array
    name = text_of(array.instruction_name)
    if not array.shape_index:
        return f'{{"{name}"}}'
    return f'{{"{name}" {number_list(array.shape_index)}}}'


def _origin_tree(leaves: Mapping[tuple[int, ...], str]) -> str:
    if () in leaves:
        return leaves[()]
    branches: dict[int, dict[tuple[int, ...], str]] = {}
    for index, text in leaves.items():
        branches.setdefault(index[0], {})[index[1:]] = text
    return f"({', '.join(_origin_tree(branches[n]) for n in sorted(branches))})"


_PRED = 1
_TO_APPLY = frozenset(
    (
        "all-reduce",
        "all-reduce-start",
        "call",
        "collective-reduce",
        "map",
        "reduce",
        "reduce-scatter",
        "reduce-window",
        "scan",
        "scatter",
        "sort",
    )
)
_COLLECTIVES = frozenset(
    (
        "all-gather",
        "all-gather-start",
        "all-reduce",
        "all-reduce-start",
        "all-to-all",
        "collective-broadcast",
        "collective-reduce",
        "ragged-all-to-all",
        "reduce-scatter",
    )
)
"""Opcodes that print `replica_groups`, be they empty."""

_CHANNELS = _COLLECTIVES | frozenset(
    (
        "collective-permute",
        "collective-permute-start",
        "recv",
        "recv-done",
        "send",
        "send-done",
    )
)
_CALLING = _TO_APPLY | frozenset(
    (
        "async-start",
        "conditional",
        "custom-call",
        "fusion",
        "select-and-scatter",
        "topk",
        "while",
    )
)
_BY_OPERAND = frozenset(
    ("collective-permute", "collective-permute-start", "compare", "conditional")
)
"""Opcodes whose attributes depend on the shape of the first operand."""

_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Scope:
    """What the instructions of one computation refer to by number.

    `missing` takes the numbers that stand for nothing; such an instruction or
    computation is called `unknown.7`.
    """

    messages: Mapping[int, HloInstructionProto]
    names: Mapping[int, str]
    computations: Mapping[int, str]
    payloads: Sequence[bytes]
    missing: list[int] = field(default_factory=list)

    def name(self, number: int) -> str:
        """Return an instruction's name."""
        return self.names.get(number) or self._unknown(number)

    def computation(self, number: int) -> str:
        """Return a computation's name."""
        return self.computations.get(number) or self._unknown(number)

    def _unknown(self, number: int) -> str:
        self.missing.append(number)
        return f"unknown.{number}"

    def first_shape(self, message: HloInstructionProto) -> bytes:
        """Return the shape of an instruction's first operand, nothing without one."""
        ids = message.operand_ids
        first = self.messages.get(ids[0]) if ids else None
        return first.shape if first is not None else b""

    def interned(self, data: bytes) -> bytes:
        """Return a payload: its own bytes, or some that several instructions share."""
        try:
            payload = Payload.FromString(data)
        except DecodeError:
            return b""
        if payload.HasField("value"):
            return bytes(payload.value)
        known = 0 <= payload.id < len(self.payloads)
        return self.payloads[payload.id] if known else b""


def read_instruction(
    message: HloInstructionProto, is_root: bool, scope: Scope
) -> Instruction:
    """Return the record of one instruction."""
    opcode = text_of(message.opcode)
    metadata = read_metadata(message.metadata)
    first_shape = scope.first_shape(message) if opcode in _BY_OPERAND else b""
    return Instruction(
        scope.names[message.id], opcode, shape_text(message.shape),
        tuple(map(scope.name, message.operand_ids)),
        is_root,
        _parameter_number(message) if opcode == "parameter" else None,
        _literal(message) if opcode == "constant" else None,
        _calls(message, opcode, first_shape, scope) if opcode in _CALLING else (),
        _attributes(message, opcode, first_shape, metadata, scope),
        metadata.location,
    )  # fmt: skip


def _attributes(
    message: HloInstructionProto,
    opcode: str,
    first_shape: bytes,
    metadata: Metadata,
    scope: Scope,
) -> Attributes:
    other = [
        *opcode_attributes(message, opcode, first_shape),
        *common_attributes(message, scope.name),
    ]
    if rest := metadata.rest(scope.payloads):
        other.append(rest)
    attributes = Attributes(
        metadata.op_name,
        metadata.op_type,
        sharding_text(message.sharding) if message.HasField("sharding") else None,
        text_of(message.fusion_kind) if opcode == "fusion" else None,
        text_of(message.custom_call_target) if opcode == "custom-call" else None,
        _channel_id(message) if opcode in _CHANNELS else None,
        replica_groups_text(message) if opcode in _COLLECTIVES else None,
        _backend_config(message, scope),
        ", ".join(other) or None,
    )
    return NO_ATTRIBUTES if attributes == NO_ATTRIBUTES else attributes


def _parameter_number(message: HloInstructionProto) -> int | None:
    number = message.parameter_number
    return int(number) if 0 <= number <= _MOST else None


def _literal(message: HloInstructionProto) -> str:
    return (literal_text(message.literal) if message.literal else None) or ELIDED


def _channel_id(message: HloInstructionProto) -> int | None:
    # Zero and below mean none; before 2019-12 a collective had an id of its own.
    if message.channel_id > 0:
        return int(message.channel_id)
    return int(message.all_reduce_id) if message.all_reduce_id > 0 else None


def _backend_config(message: HloInstructionProto, scope: Scope) -> str | None:
    config = message.backend_config
    if not config and message.HasField("backend_config_payload"):
        config = scope.interned(message.backend_config_payload)
    return text_of(config) if config else None


def _calls(
    message: HloInstructionProto, opcode: str, first_shape: bytes, scope: Scope
) -> tuple[Call, ...]:
    computations = tuple(map(scope.computation, message.called_computation_ids))
    if not computations:
        return ()
    if opcode == "while" and len(computations) == 2:
        # The proto has the body first, the text prints the condition first.
        return _one_each(("condition", "body"), reversed(computations))
    if opcode == "select-and-scatter":
        return _one_each(("select", "scatter"), computations)
    if opcode == "conditional":
        shape = read_shape(first_shape)
        if shape is not None and shape.element_type == _PRED:
            return _one_each(("true_computation", "false_computation"), computations)
        return (Call("branch_computations", computations),)
    if opcode == "custom-call":
        return (Call("called_computations", computations),)
    return (Call("to_apply" if opcode in _TO_APPLY else "calls", computations),)


def _one_each(roles: Iterable[str], computations: Iterable[str]) -> tuple[Call, ...]:
    return tuple(
        Call(role, (computation,))
        for role, computation in zip(roles, computations, strict=False)
    )
