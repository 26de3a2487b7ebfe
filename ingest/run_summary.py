"""What an ingest tells: of each run when it is in, meanwhile how far it has read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with bytes and files read so far."""


@dataclass(slots=True)
class RunSummary:
    """What one run holds now; `new_modules` were nowhere in the warehouse before.

    `has_dump` is False where no file of the run is one that hlodb reads.
    """

    run_id: int
    name: str
    files: int = 0
    bytes: int = 0
    modules: int = 0
    instructions: int = 0
    allocations: int = 0
    values: int = 0
    live_ranges: int = 0
    rejects: int = 0
    seconds: float = 0.0
    unchanged_files: int = 0
    new_modules: int = 0
    has_dump: bool = True
    notes: list[str] = field(default_factory=list)
