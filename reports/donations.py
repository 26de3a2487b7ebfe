"""Donations: results that lie in a parameter's memory, and those that no longer do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hlodb.reports.facts import Output


def apart(
    one: Sequence[Output], other: Sequence[Output]
) -> list[tuple[Output, Output]]:
    """Return results that lie apart, with their twins that lie in a parameter.

    Each allocation of `one` is given once.
    """
    in_parameter = {
        (o.output_index, o.array_type): o for o in other if o.kind == "parameter"
    }
    found: dict[int, tuple[Output, Output]] = {}
    for output in one:
        twin = in_parameter.get((output.output_index, output.array_type))
        if output.kind == "live_out" and twin is not None:
            found.setdefault(output.allocation_id, (output, twin))
    return list(found.values())


def lost_bytes(base: Sequence[Output], candidate: Sequence[Output]) -> dict[int, int]:
    """Return the bytes that results share less with parameters, by colour."""
    lost: dict[int, int] = defaultdict(int)
    for output, _ in apart(candidate, base):
        lost[output.color] += output.size_bytes
    for output, _ in apart(base, candidate):
        lost[output.color] -= output.size_bytes
    return lost
