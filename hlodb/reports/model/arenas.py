"""What a map of arenas is drawn from: which value lies where, and from when to when."""

from __future__ import annotations

from dataclasses import dataclass, field

ALONE = "live"
"""Values of a program that is compared with none."""

NOW, BEFORE = "at peak now", "at peak before"
"""Values of equal size that live at the peak of one side only."""

STATUSES = ("new", "larger", NOW, "gone", "smaller", BEFORE, "same", ALONE)
"""The fates of a value, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """What a value is: `role` is known of those at the peak.

    `line` is FILE:LINE where it is defined, or read where `is_read`; `readers` are the
    first of `reader_count` instructions that read it.
    """

    shape: str | None
    role: str | None
    line: str | None
    is_read: bool
    readers: tuple[str, ...]
    reader_count: int

    @property
    def element_type(self) -> str | None:
        """The type of its elements; None of a tuple."""
        name, bracket, _ = (self.shape or "").partition("[")
        return name if bracket and name.isalnum() else None


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value of an arena; it lives from `start_step` through `end_step`."""

    instruction: str
    offset_bytes: int
    size_bytes: int
    start_step: int
    end_step: int
    facts: ValueFacts | None = field(default=None, compare=False)

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
class Owner:
    """A program of a run."""

    run: str
    program: str


@dataclass(frozen=True, slots=True)
class ArenaMap:
    """The arenas of a finding's base and candidate, and the values that are drawn.

    Owners are what a value of each side is asked of; `is_alone` where the candidate is
    compared with nothing.
    An arena is null where a side has none, or nothing is known of when its values live.
    """

    finding_id: str
    base: Arena | None
    candidate: Arena | None
    values: list[MappedValue]
    is_alone: bool = False
    base_owner: Owner | None = field(default=None, compare=False)
    candidate_owner: Owner | None = field(default=None, compare=False)
