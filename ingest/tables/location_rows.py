"""Where instructions stand in the source → rows, each thing once.

When source lines move, the numbering of a module's locations stays, and the list of
them or the stack frames change: the three are stored apart, by hashes of what they say.

The user's frame is the innermost outside the frameworks' own files, which the rules
framework_files tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hlodb.ingest.arrow import NO_ID, Columns, Ints
from hlodb.ingest.hashing import digest64, signed64
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import Frame, Location
from hlodb.rules import rule_rows


@lru_cache(maxsize=4096)
def is_framework_file(file_name: str) -> bool:
    """Return whether a source file belongs to a framework rather than to the user."""
    return any(part in file_name for part, _ in rule_rows("framework_files"))


def user_frame_ids(frames: tuple[Frame, ...]) -> list[int]:
    """Return for each frame the innermost user frame from there outwards.

    It is the frame itself where every frame outwards is the framework's, or where the
    parents form a loop.
    """
    by_id = {frame.stack_frame_id: frame for frame in frames}
    return [_user_frame(frame, by_id) for frame in frames]


def _user_frame(start: Frame, by_id: dict[int, Frame]) -> int:
    seen: set[int] = set()
    frame: Frame | None = start
    while frame is not None and frame.stack_frame_id not in seen:
        if not is_framework_file(frame.file_name):
            return frame.stack_frame_id
        seen.add(frame.stack_frame_id)
        frame = by_id.get(frame.parent_id) if frame.parent_id is not None else None
    return start.stack_frame_id


LOCATION_TABLES = {
    "store.location_sets": "locations_id",
    "store.location_numbers": "numbering_id",
    "store.location_lists": "list_id",
    "store.stack_frames": "frames_id",
}
"""Tables of source locations and their keys, all of them made by the content."""


class _LocatedRows(NamedTuple):
    """Where the instructions of a module stand in the source.

    The instructions `instruction_ids` have the locations `numbers`, which count from 0
    in order of appearance; `location_ids` says what these are.
    """

    instruction_ids: Ints
    numbers: Ints
    location_ids: Ints


class _LocationKeys(NamedTuple):
    """Hashes of where a module stands in the source, and of what makes that."""

    locations_id: int
    numbering_id: int
    list_id: int
    frames_id: int


def add_locations(
    distinct: Distinct,
    rows: Ints,
    frames: tuple[Frame, ...],
    tables: Mapping[str, Columns],
    is_new: Callable[[str, int], bool],
) -> int:
    """Add where `rows` stand in the source; give the hash of it, locations_id.

    `is_new` tells of a column of keys and a key whether its rows are still to be added.
    """
    located = _located_rows(distinct, rows)
    keys = _location_keys(distinct, located, frames)
    if is_new("locations_id", keys.locations_id):
        tables["store.location_sets"].add(1, **keys._asdict())
    if is_new("numbering_id", keys.numbering_id):
        tables["store.location_numbers"].add(
            len(located.numbers),
            numbering_id=keys.numbering_id,
            instruction_id=located.instruction_ids,
            location_number=located.numbers,
        )
    if is_new("list_id", keys.list_id):
        known = distinct.locations.values_by_number
        places = [known[number] for number in located.location_ids.tolist()]
        _add_list(tables["store.location_lists"], keys.list_id, places)
    if is_new("frames_id", keys.frames_id):
        _add_frames(tables["store.stack_frames"], keys.frames_id, frames)
    return keys.locations_id


def _add_list(
    table: Columns, list_id: int, locations: Sequence[Location | None]
) -> None:
    columns = list(zip(*filter(None, locations), strict=True)) or [()] * 6
    table.add(
        len(locations),
        list_id=list_id,
        location_number=np.arange(len(locations), dtype=np.int32),
        **dict(zip(Location._fields, columns, strict=True)),
    )


def _add_frames(table: Columns, frames_id: int, frames: tuple[Frame, ...]) -> None:
    columns = list(zip(*frames, strict=True)) or [()] * 6
    table.add(
        len(frames),
        frames_id=frames_id,
        user_frame_id=user_frame_ids(frames),
        **dict(zip(Frame._fields, columns, strict=True)),
    )


def _located_rows(distinct: Distinct, rows: Ints) -> _LocatedRows:
    """Return the locations of instructions; those without one are left out."""
    ids = distinct.location_ids(rows)
    located = np.flatnonzero(ids != NO_ID).astype(np.int32)
    kinds, first, which = np.unique(
        ids[located], return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return _LocatedRows(located, numbers[which], kinds[order])


def _location_keys(
    distinct: Distinct, located: _LocatedRows, frames: tuple[Frame, ...]
) -> _LocationKeys:
    parts = (
        located.instruction_ids.tobytes() + located.numbers.tobytes(),
        distinct.locations.keys_of(located.location_ids).tobytes(),
    )
    digests = [*map(digest64, parts), _frames_digest(frames)]
    return _LocationKeys(*map(signed64, [digest64(b"".join(digests)), *digests]))


@lru_cache(maxsize=64)
def _frames_digest(frames: tuple[Frame, ...]) -> bytes:
    return digest64(repr(frames))
