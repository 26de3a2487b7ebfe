"""Attributes that an instruction of any opcode may have: hints, statistics, origin.

XLA `hlo_instruction.cc`, `hlo_original_value.cc`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from google.protobuf.message import DecodeError

from hlodb.ingest.formats.hlo_pb2 import (
    FrontendAttributes,
    HloInstructionProto,
    OriginalValueProto,
    ResultAccuracy,
    StatisticsViz,
)
from hlodb.ingest.formats.proto_dimensions import number_list
from hlodb.ingest.formats.proto_metadata import escaped, text_of
from hlodb.ingest.formats.scan import remembered

_HIGHEST_ACCURACY = 1


def common_attributes(
    message: HloInstructionProto, name: Callable[[int], str]
) -> Iterable[str]:
    """Give what instructions of any opcode may print; `name` looks one up."""
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
    """Give `{name="value",other={"json": 1}}`, by name; None where there are none."""
    try:
        attributes = FrontendAttributes.FromString(data).map
    except DecodeError:
        return None
    parts = [
        f"{name}={_frontend_value(attributes[name])}" for name in sorted(attributes)
    ]
    return f"{{{','.join(parts)}}}" if parts else None


def _frontend_value(value: bytes) -> str:
    text = text_of(value)
    return text if _reads_as_json(text) else f'"{escaped(value)}"'


def _reads_as_json(text: str) -> bool:
    """Tell whether `text` is one `{…}`, strings within it skipped, as XLA does."""
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
    """Give where the parts of a shape come from: `{"a"}`, `({"a"}, {"b" {1}})`."""
    try:
        value = OriginalValueProto.FromString(data)
    except DecodeError:
        return None
    if value.is_synthetic_call:
        return "[synthetic_call]"
    leaves = {
        tuple(element.shape_index): _original_array(element)
        for element in value.elements
    }
    return _origin_tree(leaves) if leaves else None


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
