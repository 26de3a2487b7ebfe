"""What is drawn of a series and of sizes: memory by role, laws of memory."""

from __future__ import annotations

from dataclasses import dataclass


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
    `largest_size` is the largest that stays within the limit.
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

    def bytes_at(self, size: float) -> float:
        """Return the bytes that the law gives for a size."""
        linear, quadratic = self.linear_bytes, self.quadratic_bytes
        return self.constant_bytes + linear * size + quadratic * size * size
