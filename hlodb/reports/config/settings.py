"""What is allowed: gates, budgets, waivers and floors, as hlodb.toml says them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from hlodb.reports.config.codeowners import Rules, owner_of_file

if TYPE_CHECKING:
    from hlodb.reports.read.facts import Run

MEBIBYTE = 2**20

GATES = (
    "regression",
    "changed_inputs",
    "missing_program",
    "budget",
    "donation_loss",
    "fragmentation",
    "padding",
    "recompiles",
    "replicated",
)
"""What a waiver can be about; the gate table has them in this order."""


@dataclass(frozen=True, slots=True)
class Device:
    """The memory of a device: `device` is a glob over what runs say."""

    device: str
    space: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a program may reserve in a space: bytes, or a share of the device."""

    program: str
    space: str | None = None
    color: int | None = None
    bytes: int | None = None
    ratio: float | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Waiver:
    """Who lets what fail, why, and until when; `until` is the first day it fails."""

    program: str
    owner: str
    reason: str
    until: date
    space: str | None = None
    color: int | None = None
    gate: str = "*"
    finding: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with what holds where a file says nothing.

    A difference alerts only above both floors. `None` switches a gate off.
    `limit_bytes` is the main memory of every device, which only --limit sets.
    """

    baseline: str = "auto"
    window: int = 7
    main_branch: str = "main"
    series: str | None = None
    floor_bytes: int = MEBIBYTE
    floor_ratio: float = 0.005
    step_bytes: int = 0
    step_ratio: float = 0.01
    regression: bool = True
    changed_inputs: str = "warn"
    missing_program: bool = True
    donation_loss: bool = True
    managed_ratio: float = 0.95
    fragmentation_ratio: float | None = None
    padding_ratio: float | None = None
    recompiles: int | None = None
    replicated_bytes: int | None = None
    max_rejects: int | None = 0
    consistency: bool = True
    top: int = 10
    devices: tuple[Device, ...] = ()
    budgets: tuple[Budget, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()
    codeowners: str | None = None
    link: str | None = None
    source_owners: Rules = ()
    weights: tuple[tuple[str, float], ...] = ()
    limit_bytes: int | None = None

    def owner_of(
        self, names: Sequence[str], source_file: str | None = None
    ) -> str | None:
        """Return the owner of a program: by the first matching glob, else by a file.

        `names` are its name and former ones.
        """
        for name in names:
            for glob, owner in self.owners:
                if fnmatchcase(name, glob):
                    return owner
        return owner_of_file(source_file, self.source_owners) if source_file else None

    def weight_of(self, program: str) -> float:
        """Return the weight of a program, 1 unless a glob says otherwise."""
        fitting = (w for glob, w in self.weights if fnmatchcase(program, glob))
        return next(fitting, 1.0)

    def limit_of(
        self, run: Run, color: int, space: str, platform: str | None
    ) -> int | None:
        """Return by which limit findings are weighed; None where nobody says.

        Published limits are left out: they say nothing of the chip's other spaces,
        which would then come before memory space 0. What a dump says is all memory of
        the device, so it limits space 0 alone, and not of programs for the host, whose
        `platform` is cpu.
        """
        is_of_device = color == 0 and platform != "cpu"
        if self.limit_bytes is not None and color == 0:
            return self.limit_bytes
        for known in self.devices:
            if fnmatchcase(run.device or "", known.device) and known.space == space:
                return known.bytes
        return run.device_memory_bytes if is_of_device else None

    def limits(self) -> dict[str, Any]:
        """Return the parameters of limits, see the query `memory_limits`."""
        return {
            "limit_bytes": self.limit_bytes,
            "limit_devices": [known.device for known in self.devices],
            "limit_spaces": [known.space for known in self.devices],
            "limit_sizes": [known.bytes for known in self.devices],
        }

    def counts(self, before: int, after: int) -> bool:
        """Return whether a gate, or a decision about a rise, counts a difference.

        The share is of the smaller side, so that it is the same seen from either.
        """
        delta = abs(after - before)
        least = max(self.floor_bytes, self.floor_ratio * min(before, after))
        return delta > 0 and delta >= least

    def floor_of(self, base: int) -> int:
        """Return by how much a program of `base` bytes may grow unnoticed (bytes)."""
        return max(self.floor_bytes, round(self.floor_ratio * base))

    def judging(self) -> dict[str, Any]:
        """Return the parameters of verdicts, see the query `judged_pairs`."""
        return {
            "min_delta_bytes": self.floor_bytes,
            "min_delta_ratio": self.floor_ratio,
            "managed_ratio": self.managed_ratio,
            "limit_devices": [known.device for known in self.devices],
            "limit_spaces": [known.space for known in self.devices],
            "limit_bytes": [known.bytes for known in self.devices],
        }

    def described(self) -> dict[str, str]:
        """Return the plain settings as text, for the report."""
        plain = (f.name for f in fields(self) if f.type in _PLAIN)
        return {name: str(getattr(self, name)) for name in plain}


_PLAIN = {"str", "int", "float", "bool", "str | None", "int | None", "float | None"}


def covers(
    rule: Budget | Waiver, program: str, color: int | None, space: str | None
) -> bool:
    """Return whether a budget or waiver is about this program and memory space."""
    if not fnmatchcase(program, rule.program):
        return False
    if rule.color is not None and rule.color != color:
        return False
    return rule.space is None or rule.space == space
