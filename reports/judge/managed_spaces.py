"""Memory spaces that the compiler fills as a cache: more in use is not worse."""

from __future__ import annotations

from collections.abc import Iterable

from hlodb.reports.compare.pairs import Verdict
from hlodb.reports.config.settings import Settings
from hlodb.reports.model.facts import Run

MANAGED = frozenset({"VMEM", "SMEM"})
"""What a compiler fills while it fits: what does not is a difference of HBM."""

RULE = "managed_space"

_JUDGED = ("worse", "mixed", "improved", "changed")


def settle(verdicts: Iterable[Verdict], run: Run, settings: Settings) -> list[Verdict]:
    """Return verdicts, `same` of managed spaces that are not near their limit.

    Budgets limit them all the same, and the table of programs shows them.
    """
    return [
        v._replace(change="same", rule=RULE) if is_settled(v, run, settings) else v
        for v in verdicts
    ]


def is_settled(v: Verdict, run: Run, settings: Settings) -> bool:
    """Return whether a verdict is about a managed space with room left."""
    if v.space not in MANAGED or v.change not in _JUDGED:
        return False
    module = v.pair.candidate or v.pair.base
    platform = module.platform if module else None
    limit = settings.limit_of(run, v.color, v.space, platform)
    if limit is None:
        return settings.managed_ratio > 0
    return (v.candidate_bytes or 0) < settings.managed_ratio * limit
