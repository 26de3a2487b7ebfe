"""What a waterfall comes to by part and kind, and what it does the other way round."""

from __future__ import annotations

from collections import defaultdict

from hlodb.reports.waterfall import Waterfall

Sums = dict[tuple[str, str], int]

MIRRORED = {"new": "gone", "gone": "new"}


def part_sums(fall: Waterfall) -> Sums:
    """Return the bytes of each (part, kind) that has any."""
    sums: Sums = defaultdict(int)
    for change in fall.changes:
        sums[change.part, change.kind] += change.delta_bytes
    return {key: value for key, value in sums.items() if value}


def opposite_sums(fall: Waterfall) -> Sums:
    """Return the `part_sums` where base and candidate change places."""
    return {
        (MIRRORED.get(part, part), kind): -size
        for (part, kind), size in part_sums(fall).items()
    }
