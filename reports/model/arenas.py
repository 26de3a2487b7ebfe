"""What a map of arenas is drawn from: which value lies where, and from when to when."""

from __future__ import annotations

from dataclasses import dataclass

NOW, BEFORE = "at peak now", "at peak before"
"""Values of equal size that live at the peak of one side only."""

STATUSES = ("new", "larger", NOW, "gone", "smaller", BEFORE, "same")
"""The fates of a value, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value of an arena; it lives from `start_step` through `end_step`."""

    instruction: str
    offset_bytes: int
    size_bytes: int
    start_step: int
    end_step: int

    def lives_at(self, step: int) -> bool:
        """Return whether it is live at a step."""
        return self.start_step <= step <= self.end_step

    @property
    def byte_steps(self) -> int:
        """How much of the map it covers."""
        return self.size_bytes * (self.end_step - self.start_step + 1)


@dataclass(frozen=True, slots=True)
class MappedValue:
    """A value of base, candidate or both; `status` is one of STATUSES."""

    status: str
    base: PlacedValue | None
    candidate: PlacedValue | None


@dataclass(frozen=True, slots=True)
class Arena:
    """The largest temporary allocation of one module in one memory space.

    `live_bytes` of it are live at `peak_step`, the first step of the most temporary
    memory of that space; `arena_count` is how many arenas the space has. Its values of
    any size are `value_count`, and cover `byte_steps` of the map.
    """

    arena_count: int
    size_bytes: int
    live_bytes: int
    peak_step: int
    last_step: int
    value_count: int
    byte_steps: int


@dataclass(frozen=True, slots=True)
class ArenaMap:
    """The arenas of a finding's base and candidate, and the values that are drawn.

    An arena is null where a side has none, or nothing is known of when its values live.
    """

    finding_id: str
    base: Arena | None
    candidate: Arena | None
    values: list[MappedValue]
