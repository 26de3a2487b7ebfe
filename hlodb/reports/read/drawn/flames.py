"""Sum up the memory of base and candidate along framework paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlodb.reports.read.differences import Buffer, Change, read_differences
from hlodb.reports.read.pairs import Drawn
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Frame:
    """A part of the model, and what all below it holds on either side.

    `name` is the end of its path; parts that hold nothing but one other are one frame
    with it. `children` come with what is largest on either side first.
    """

    name: str
    base_bytes: int
    candidate_bytes: int
    children: tuple[Frame, ...] = ()

    @property
    def delta_bytes(self) -> int:
        """Candidate minus base."""
        return self.candidate_bytes - self.base_bytes

    @property
    def status(self) -> str:
        """Return new, larger, gone, smaller or same."""
        if not self.delta_bytes:
            return "same"
        if not self.base_bytes:
            return "new"
        if not self.candidate_bytes:
            return "gone"
        return "larger" if self.delta_bytes > 0 else "smaller"

    def walk(self, path: str = "") -> Iterator[tuple[str, Frame]]:
        """Yield the frame and all below it, each with its whole path."""
        whole = f"{path}/{self.name}" if path else self.name
        yield whole, self
        for child in self.children:
            yield from child.walk(whole)


@dataclass(frozen=True, slots=True)
class FlamePair:
    """What fills the memory of a finding's base and candidate, by framework path.

    It adds up to what is reserved without the room that packing loses.
    """

    finding_id: str
    frames: tuple[Frame, ...]

    @property
    def base_bytes(self) -> int:
        """All of the base."""
        return sum(frame.base_bytes for frame in self.frames)

    @property
    def candidate_bytes(self) -> int:
        """All of the candidate."""
        return sum(frame.candidate_bytes for frame in self.frames)


PATHLESS = "(no op_name)"
_DEEPEST = 60
"""Parts of a path; what is deeper is one with the last, however deep calls nest."""


@dataclass(slots=True)
class _Sum:
    """Bytes of both sides at one part of a path, and below it."""

    base: int = 0
    candidate: int = 0
    below: dict[str, _Sum] = field(default_factory=dict)


def read_flames(connection: Connection, drawn: Iterable[Drawn]) -> list[FlamePair]:
    """Return what is drawn of pairs with details."""
    wanted = [
        (each, both) for each in drawn if (both := each.verdict.pair.both) is not None
    ]
    found = []
    differences = read_differences(connection, [both for _, both in wanted])
    for (each, _), of_colors in zip(wanted, differences, strict=True):
        color = each.verdict.color
        held = next((d.held for d in of_colors if d.color == color), ())
        if held:
            found.append(FlamePair(each.finding_id, frames_of(held)))
    return found


def frames_of(held: Sequence[Change]) -> tuple[Frame, ...]:
    """Return the frames of all that fills a memory space.

    Each side is summed up by its own paths, whatever its buffers are matched with.
    """
    root = _Sum()
    for each in held:
        if each.base_held_bytes:
            _add(root, each.base, base=each.base_held_bytes)
        if each.candidate_held_bytes:
            _add(root, each.candidate, candidate=each.candidate_held_bytes)
    return _frames(root.below)


def _add(at: _Sum, buffer: Buffer | None, base: int = 0, candidate: int = 0) -> None:
    """Add what a buffer holds to each part of its path."""
    path = (buffer.op_path if buffer else None) or PATHLESS
    for part in [part for part in path.split("/", _DEEPEST) if part] or [path]:
        at = at.below.setdefault(part, _Sum())
        at.base += base
        at.candidate += candidate


def _frames(sums: Mapping[str, _Sum]) -> tuple[Frame, ...]:
    frames = (_frame(name, each) for name, each in sums.items())
    return tuple(sorted(frames, key=_largest_first))


def _frame(name: str, each: _Sum) -> Frame:
    while len(each.below) == 1:
        ((part, only),) = each.below.items()
        if (only.base, only.candidate) != (each.base, each.candidate):
            break
        name, each = f"{name}/{part}", only
    return Frame(name, each.base, each.candidate, _frames(each.below))


def _largest_first(frame: Frame) -> tuple[int, str]:
    return -max(frame.base_bytes, frame.candidate_bytes), frame.name
