"""Draw the memory by part of the model, base above candidate.

Across are bytes, alike in both; below each part of a framework path lie the parts that
it consists of. Order is that of the largest, so that most parts lie below one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from hlodb.reports.document.blocks import Table, table
from hlodb.reports.document.escape import html, middle_cut
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import WIDTH, Axis, across, byte_axis, element, label
from hlodb.reports.read.drawn.flames import FlamePair, Frame
from hlodb.text import plain_bytes, signed_bytes

MOST_DEEP = 8
"""What lies deeper is drawn as part of what lies above it."""

MOST_FRAMES = 200
"""How many frames of a side are drawn: a page is to stay small."""

MOST_ROWS = 100
_LEFT, _RIGHT = 12, WIDTH - 12
_KEYS, _HEAD, _ROW, _BELOW = 28, 26, 20, 46
"""Heights of the keys, of a side's name, of a row, and of the axis."""

_LETTER = 7
_LEAST_LETTERS = 8
"""What has room for fewer letters, and not for its whole name, has none."""

_LONGEST_NAME = 120
_STATUSES = ("new", "larger", "gone", "smaller", "same")


class _Placed(NamedTuple):
    """A frame of one side: from which byte, in which row, by its whole path."""

    path: str
    frame: Frame
    from_byte: int
    size: int
    depth: int


def draw_flames(pair: FlamePair, who: str) -> Picture:
    """Draw both sides of a finding about `who`."""
    sizes = [pair.base_bytes, pair.candidate_bytes]
    axis = byte_axis([0, *sizes], _LEFT, _RIGHT)
    drawing, top = "", float(_KEYS)
    sides: tuple[tuple[str, Callable[[Frame], int]], ...] = (
        ("base", lambda frame: frame.base_bytes),
        ("candidate", lambda frame: frame.candidate_bytes),
    )
    for (name, size_of), size in zip(sides, sizes, strict=True):
        placed = _shown(_place(pair.frames, size_of), axis)
        drawing += label(_LEFT, top + 18, f"{name}: {plain_bytes(size)}")
        drawing += "".join(_rectangle(p, axis, top + _HEAD) for p in placed)
        top += _HEAD + _ROW * (max((p.depth for p in placed), default=-1) + 1)
    # First, so that its lines lie behind the names.
    below = across(axis, f"memory ({axis.unit})", _KEYS + _HEAD, top)
    drawing = _keys(pair) + below + drawing
    return Picture(
        f"flames-{pair.finding_id}",
        "Which part of the model holds the memory",
        _sentence(pair, who),
        top + _BELOW,
        drawing,
        _figures(pair),
    )


def _place(
    frames: tuple[Frame, ...],
    size_of: Callable[[Frame], int],
    start: int = 0,
    depth: int = 0,
    path: str = "",
) -> Iterator[_Placed]:
    for frame in frames if depth < MOST_DEEP else ():
        if size := size_of(frame):
            whole = f"{path}/{frame.name}" if path else frame.name
            yield _Placed(whole, frame, start, size, depth)
            yield from _place(frame.children, size_of, start, depth + 1, whole)
            start += size


def _shown(placed: Iterable[_Placed], axis: Axis) -> list[_Placed]:
    """Return the frames wide enough to be seen, the largest; parents are larger."""
    seen = [p for p in placed if axis.at(p.size) - axis.at(0) >= 1]
    largest = sorted(seen, key=lambda p: (-p.size, p.depth))[:MOST_FRAMES]
    kept = {(p.from_byte, p.depth) for p in largest}
    return [p for p in seen if (p.from_byte, p.depth) in kept]


def _rectangle(placed: _Placed, axis: Axis, top: float) -> str:
    frame = placed.frame
    left = axis.at(placed.from_byte)
    width = axis.at(placed.from_byte + placed.size) - left
    y = top + _ROW * placed.depth
    drawn = element(
        "rect",
        element("title", html(_told(placed.path, frame))),
        x=left,
        y=y,
        width=width,
        height=_ROW - 1,
        class_=f"frame {frame.status}",
    )
    room = int((width - 6) / _LETTER)
    if room < min(len(frame.name), _LEAST_LETTERS):
        return drawn
    name = middle_cut(frame.name, room)
    return drawn + label(left + 4, y + 14, name, "label inside")


def _told(path: str, frame: Frame) -> str:
    """Return `larger by 2.00 MiB: net/up, 4.00 MiB → 6.00 MiB`."""
    change = f" by {plain_bytes(abs(frame.delta_bytes))}" if frame.delta_bytes else ""
    sizes = f"{plain_bytes(frame.base_bytes)} → {plain_bytes(frame.candidate_bytes)}"
    return f"{frame.status}{change}: {middle_cut(path, _LONGEST_NAME)}, {sizes}"


def _keys(pair: FlamePair) -> str:
    walked = (each for frame in pair.frames for _, each in frame.walk())
    there = {frame.status for frame in walked}
    drawn, x = [], float(_LEFT)
    for status in (status for status in _STATUSES if status in there):
        kind = f"frame {status}"
        drawn.append(element("rect", x=x, y=4, width=22, height=14, class_=kind))
        drawn.append(label(x + 28, 16, status))
        x += 44 + _LETTER * len(status)
    return "".join(drawn)


def _sentence(pair: FlamePair, who: str) -> str:
    """Return a sentence on the memory, and the part with most of the difference."""
    base, candidate = pair.base_bytes, pair.candidate_bytes
    text = f"{who} by part of the model: {plain_bytes(base)} → {plain_bytes(candidate)}"
    most = _most_of(pair)
    if most is None:
        return f"{text}."
    path, frame = most
    sizes = f"{plain_bytes(frame.base_bytes)} → {plain_bytes(frame.candidate_bytes)}"
    where = f"{middle_cut(path, _LONGEST_NAME)} ({sizes})"
    return f"{text}, most of the difference in {where}."


def _most_of(pair: FlamePair) -> tuple[str, Frame] | None:
    """Follow the difference down, as long as one part has more than half of it."""
    delta = pair.candidate_bytes - pair.base_bytes
    frames, path, found = pair.frames, "", None
    while delta and frames:
        sign = 1 if delta > 0 else -1
        most = max(frames, key=lambda frame: frame.delta_bytes * sign)
        if 2 * most.delta_bytes * sign <= delta * sign:
            break
        path = f"{path}/{most.name}" if path else most.name
        found, frames, delta = (path, most), most.children, most.delta_bytes
    return found


def _figures(pair: FlamePair) -> Table:
    """Return every part, what changed most first."""
    walked = [each for frame in pair.frames for each in frame.walk()]
    walked.sort(key=lambda each: -abs(each[1].delta_bytes))
    rows = [
        [
            middle_cut(path, _LONGEST_NAME),
            frame.status,
            plain_bytes(frame.base_bytes),
            plain_bytes(frame.candidate_bytes),
            signed_bytes(frame.delta_bytes),
        ]
        for path, frame in walked
    ]
    header = ["part of the model", "is", "base", "candidate", "change"]
    return table(header, rows, MOST_ROWS, numeric=(2, 3, 4))
