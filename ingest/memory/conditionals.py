"""What a branch of a conditional still needs of the values it was given.

XLA prints that a value which a conditional reads lives until the conditional, through
all its branches. On TPU its bytes are another's as soon as the branch has read it for
the last time, or from the start in branches that don't read it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from hlodb.ingest.arrow import NO_ID
from hlodb.ingest.memory.liveness import Conflict
from hlodb.ingest.modules.graph import Graph
from hlodb.ingest.records import BufferAssignment, Position, Use


class Branches:
    """Which branches an instruction stands in, by numbers of a module's graph."""

    def __init__(self, graph: Graph, kinds: Sequence[str | None]) -> None:
        calls = graph.calls
        pairs = zip(calls.computation_ids.tolist(), calls.callers.tolist(), strict=True)
        self.callers = {called: caller for called, caller in pairs if called != NO_ID}
        self.branches = {n for n in self.callers if kinds[n] == "branch"}
        self.conditionals = {self.callers[branch] for branch in self.branches}
        self.computation_ids = graph.computation_ids

    def around(self, instruction: int) -> dict[int, int]:
        """Return the branch that an instruction stands in, by conditional."""
        found: dict[int, int] = {}
        passed: set[int] = set()
        computation = int(self.computation_ids[instruction])
        while computation in self.callers and computation not in passed:
            passed.add(computation)
            caller = self.callers[computation]
            if computation in self.branches:
                found[caller] = computation
            computation = int(self.computation_ids[caller])
        return found


def contradictions(
    conflicts: Iterable[Conflict],
    assignment: BufferAssignment,
    number: Mapping[str, int],
    branches: Branches,
) -> list[Conflict]:
    """Leave out conflicts with a value that only a conditional's live range holds.

    That is the older one where a conditional reads it and nothing that may run after
    the newer one begins: no instruction with a greater step, but those in other
    branches of the same conditional. `number` gives instructions by name.
    """
    found = list(conflicts)
    if not (found and branches.conditionals):
        return found
    given, touching = _readers(found, assignment, number, branches)
    steps = {name: at for at, name in reversed([*enumerate(assignment.schedule)])}
    maker = {value.value_id: value.instruction for value in assignment.values}

    def is_needed(conflict: Conflict) -> bool:
        newer = number.get(maker[conflict.other_value_id])
        if newer is None or conflict.value_id not in given:
            return True
        here = branches.around(newer)
        return any(
            name not in number or not _exclude(here, branches.around(number[name]))
            for name in touching[conflict.value_id]
            if steps.get(name, -1) > conflict.from_step
        )

    return [conflict for conflict in found if is_needed(conflict)]


def _readers(
    conflicts: Iterable[Conflict],
    assignment: BufferAssignment,
    number: Mapping[str, int],
    branches: Branches,
) -> tuple[set[int], dict[int, set[str]]]:
    """Return the older values that conditionals read, and the others related to each.

    That is what reads it and where it stands, such as the result of a branch.
    """
    older = {conflict.value_id for conflict in conflicts}
    given: set[int] = set()
    touching: dict[int, set[str]] = defaultdict(set)
    for place in chain[Position | Use](assignment.positions, assignment.uses):
        if place.value_id not in older:
            continue
        if number.get(place.instruction) in branches.conditionals:
            given.add(place.value_id)
        else:
            touching[place.value_id].add(place.instruction)
    return given, touching


def _exclude(one: Mapping[int, int], other: Mapping[int, int]) -> bool:
    """Return whether two instructions stand in different branches of a conditional."""
    return any(other.get(caller, branch) != branch for caller, branch in one.items())
