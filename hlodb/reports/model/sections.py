"""The sections of a report beside its findings, and what pictures are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


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


@dataclass(frozen=True, slots=True)
class RolePoint:
    """What a program's memory holds at its peak in one run of the series.

    The bytes of `roles`, which are live at the peak, and `not_live_bytes` add up to
    `bytes`. Both are null where `unknown` says why nobody knows them.
    """

    run: str
    bytes: int
    mark: str
    roles: dict[str, int] | None
    not_live_bytes: int | None
    unknown: str


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """A program's memory over the series by role, for a trend that is drawn."""

    program: str
    rank: int | None
    module_number: int | None
    color: int
    space: str
    points: list[RolePoint]


@dataclass(frozen=True, slots=True)
class SizePoint:
    """Memory of a program that was compiled at one size."""

    size: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """How the reserved memory of a program grows with a size, see scaling_law.

    That is constant_bytes + linear_bytes * size + quadratic_bytes * size * size.
    `largest_size` is the largest that stays within the limit. `caveat` says what the
    bytes lack.
    """

    program: str
    color: int
    space: str
    axis: str
    other_axes: str | None
    constant_bytes: int
    linear_bytes: float
    quadratic_bytes: float
    r2_ratio: float | None
    max_residual_bytes: int
    limit_bytes: int | None
    largest_size: int | None
    points: list[SizePoint]
    caveat: str | None = None

    def bytes_at(self, size: float) -> float:
        """Return the bytes that the law gives for a size."""
        linear, quadratic = self.linear_bytes, self.quadratic_bytes
        return self.constant_bytes + linear * size + quadratic * size * size


@dataclass(frozen=True, slots=True)
class Capacity:
    """The largest program of a memory space, against the limit of the device.

    `limit_from` and `nominal_bytes` are those of the query `headroom`. The compiler
    refused the programs in `refused`. `caveats` say what the bytes of programs lack.
    """

    color: int
    space: str
    limit_bytes: int | None
    used_bytes: int
    headroom_bytes: int | None
    headroom_ratio: float | None
    program: str
    near_limit: list[str]
    plateau_ratio: float | None
    limit_from: str | None = None
    nominal_bytes: int | None = None
    refused: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Waste:
    """Memory the candidate holds for nothing, and what the total would fall by.

    A `donation` that needs no copy lowers the live peak, `fragmentation` and `padding`
    the total. `replicated` parameters, of at least the floor, are in fewer parts than
    there are partitions; what is `idle` of a memory space could hold some of
    the default one. Places overlap: they are no sum.
    """

    kind: str
    program: str
    color: int | None
    space: str | None
    waste_bytes: int
    leverage_bytes: int
    note: str


@dataclass(frozen=True, slots=True)
class Health:
    """Compilations worth a look: repeated, nondeterministic, or slower passes."""

    kind: str
    name: str
    base: int
    candidate: int
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Point:
    """A program's memory in one run of the series."""

    run: str
    bytes: int
    mark: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A program's memory over the series, marked where it stepped."""

    program: str
    rank: int | None
    module_number: int | None
    color: int
    space: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class QualityRow:
    """Something in the data of a run that is not sound."""

    run: str
    kind: str
    code: str
    count: int
    example: str
    is_gating: bool


@dataclass(frozen=True, slots=True)
class WaiverRow:
    """A waiver of the settings and what became of it: used, unused or expired."""

    program: str
    space: str | None
    gate: str
    owner: str
    reason: str
    until: str
    status: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A number used above: unit, which way is better, and its definition."""

    name: str
    unit: str
    polarity: str
    definition: str
