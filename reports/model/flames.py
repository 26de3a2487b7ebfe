"""What memory by part of the model is drawn from: paths and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


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
