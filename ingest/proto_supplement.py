"""What the proto of an assignment tells and its text doesn't, as texts of 2019 to 2021.

Until 2021-04 no text tells live ranges, until autumn 2019 none tells positions, uses
and which values are phis.
"""

from __future__ import annotations

from dataclasses import replace

from hlodb.ingest.formats.buffer_assignment import join_assignments
from hlodb.ingest.records import BufferAssignment


def supplement(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    """Give what `text` lacks and `proto` has, of values that both know."""
    ranges, flow = _ranges(text, proto), _flow(text, proto)
    return replace(ranges, values=flow.values, positions=flow.positions, uses=flow.uses)


def supplemented(text: BufferAssignment, more: BufferAssignment) -> BufferAssignment:
    """Give the text's assignment together with its supplement."""
    if more.live_ranges:
        # They come with the schedule whose steps they count.
        text = replace(text, schedule=[], schedule_end=None)
    if more.values:
        phis = {v.value_id: v.is_phi for v in more.values}
        values = [v._replace(is_phi=phis[v.value_id]) for v in text.values]
        text, more = replace(text, values=values), replace(more, values=[])
    return join_assignments([text, more])


def _ranges(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    known = {(value.instruction, value.shape_index or "{}") for value in text.values}
    ranges = [r for r in proto.live_ranges if (r.instruction, r.shape_index) in known]
    if text.live_ranges or not ranges:
        return BufferAssignment()
    return BufferAssignment(
        schedule=proto.schedule, schedule_end=proto.schedule_end, live_ranges=ranges
    )


def _flow(text: BufferAssignment, proto: BufferAssignment) -> BufferAssignment:
    """Give values with their positions and uses, where their numbers are the same."""
    known = {(v.value_id, v.instruction, v.shape_index) for v in text.values}
    values = [
        v for v in proto.values if (v.value_id, v.instruction, v.shape_index) in known
    ]
    if text.positions or len(values) < len(text.values):
        return BufferAssignment()
    numbers = {v.value_id for v in values}
    return BufferAssignment(
        values=values,
        positions=[p for p in proto.positions if p.value_id in numbers],
        uses=[u for u in proto.uses if u.value_id in numbers],
    )
