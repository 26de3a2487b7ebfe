"""Header and stack frames of an HloModuleProto, as the text has them."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.ingest.formats.hlo_pb2 import HloModuleProto, StackFrameIndexProto
from hlodb.ingest.formats.proto_common import frontend_attributes_text
from hlodb.ingest.formats.proto_dimensions import number_list
from hlodb.ingest.formats.proto_metadata import text_of
from hlodb.ingest.formats.proto_shapes import join_counted, shape_text
from hlodb.ingest.records import Frame

_ALIAS_KINDS = {1: "may-alias", 2: "must-alias"}


def header(module: HloModuleProto) -> dict[str, str]:
    """Give what the text's header would say, as far as the message knows it.

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
    """Give the stack frames; all numbers count from 1, and parent 0 means none."""
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
