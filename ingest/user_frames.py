"""Which stack frame is the user's: the innermost outside the frameworks' own files.

The list of frameworks is data: framework_prefixes.csv, one path fragment a line.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files

from hlodb.ingest.records import Frame


@lru_cache(maxsize=1)
def _fragments() -> tuple[str, ...]:
    text = (files("hlodb.ingest") / "framework_prefixes.csv").read_text("utf-8")
    return tuple(row["pattern"] for row in csv.DictReader(text.splitlines()))


@lru_cache(maxsize=4096)
def is_framework_file(file_name: str) -> bool:
    """Tell whether a source file belongs to a framework rather than to the user."""
    return any(fragment in file_name for fragment in _fragments())


def user_frame_ids(frames: tuple[Frame, ...]) -> list[int]:
    """Give for each frame the innermost user frame from there outwards.

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
