"""Explains a difference by profiles alone, where the details of a run were pruned.

The parts are whole kinds of allocations. They add up as those of buffers do; which
buffer, from which line, and whose change it is can't be told.
"""

from __future__ import annotations

from collections.abc import Iterator

from hlodb.reports.facts import Profile
from hlodb.reports.model_findings import Cause
from hlodb.reports.waterfall import (
    Change,
    Side,
    Waterfall,
    greatest_first,
    has_live_ranges,
    of_profile,
    share_of,
    temporary_changes,
)
from hlodb.text import signed_bytes

_KINDS = ("parameter", "constant", "live_out", "thread_local")
_WHY = "details of a run are pruned"


def has_details(side: Side) -> bool:
    """Return whether the buffers of a module are there, if it has any memory."""
    needs = sum(profile.reserved_bytes for profile in side.profiles.values())
    return bool(side.buffers) or not needs


def profile_waterfalls(base: Side, candidate: Side) -> list[Waterfall]:
    """Return the waterfall of every colour that either side has, by colour."""
    found = []
    for color in sorted(base.profiles.keys() | candidate.profiles.keys()):
        b, c = base.profiles.get(color), candidate.profiles.get(color)
        changes = [*_kinds(b, c), *temporary_changes(b, c)]
        delta = of_profile(c, "reserved_bytes") - of_profile(b, "reserved_bytes")
        residual = delta - sum(change.delta_bytes for change in changes)
        shown = sorted((x for x in changes if x.delta_bytes), key=greatest_first)
        found.append(Waterfall(color, delta, residual, tuple(shown)))
    return found


def _kinds(b: Profile | None, c: Profile | None) -> Iterator[Change]:
    for kind in _KINDS:
        yield _whole(kind, f"{kind}_bytes", b, c)
    if has_live_ranges(b, c):
        yield _whole("temp", "temp_live_peak_bytes", b, c)


def _whole(kind: str, column: str, b: Profile | None, c: Profile | None) -> Change:
    delta = of_profile(c, column) - of_profile(b, column)
    return Change("whole", kind, delta, None, None, "profile", 1.0, _WHY)


def profile_cause(fall: Waterfall) -> Cause:
    """Return the kind that most of a difference falls in as its cause, nobody's change.

    `fall` has a change.
    """
    sign = 1 if fall.delta_bytes >= 0 else -1
    most = max(fall.changes, key=lambda change: sign * change.delta_bytes)
    kind = "fragmentation" if most.part == "fragmentation" else most.kind
    title = f"{signed_bytes(most.delta_bytes)} of {kind} ({_WHY})"
    share = share_of(most.delta_bytes, (c.delta_bytes for c in fall.changes))
    key = f"unknown/whole/{kind}"
    return Cause(key, title, "unknown", share, most.confidence)
