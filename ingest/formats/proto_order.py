"""The order in which XLA prints a module that its message holds in another order.

Computations are printed depth first: the callees of an instruction before those of the
next one, each computation after what it calls (`MakeComputationPostOrder`). The walk
follows the order in which instructions were added, and so do their numbers: sorted by
number, the instructions of a computation stand as XLA holds them.

Instructions are printed in the order of the schedule where there is one, else in XLA's
post-order, which is how the message lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlodb.ingest.formats.hlo_pb2 import (
    HloComputationProto,
    HloInstructionProto,
    HloModuleProto,
)
from hlodb.ingest.formats.proto_metadata import text_of
from hlodb.ingest.records import Reject


@dataclass(frozen=True, slots=True)
class OrderedComputation:
    """A computation with its instructions in print order."""

    message: HloComputationProto
    instructions: Sequence[HloInstructionProto]


def computations_in_print_order(module: HloModuleProto) -> list[HloComputationProto]:
    """Give the computations callees first, as the text has them; each one once."""
    by_id = {c.id: c for c in module.computations}
    callees = {number: _callees(c) for number, c in by_id.items()}
    called = {n for calls in callees.values() for call in calls for n in call}
    seen: set[int] = set()
    order: list[int] = []
    roots = [number for number in by_id if number not in called]
    # In a sound module every computation is reached; a cycle is entered anywhere.
    for root in [*roots, *by_id]:
        if root not in seen:
            seen.add(root)
            _visit(root, callees, seen, order)
    return [by_id[number] for number in order]


def _callees(computation: HloComputationProto) -> list[Sequence[int]]:
    """Give what each calling instruction calls, in order of addition."""
    calling = [i for i in computation.instructions if i.called_computation_ids]
    calling.sort(key=lambda instruction: instruction.id)
    return [tuple(i.called_computation_ids) for i in calling]


def _visit(
    root: int,
    callees: dict[int, list[Sequence[int]]],
    seen: set[int],
    order: list[int],
) -> None:
    """Append `root` and what it calls to `order`, without recursion."""
    stack = [(root, iter(callees[root]))]
    while stack:
        number, calls = stack[-1]
        called = next(calls, None)
        if called is None:
            stack.pop()
            order.append(number)
            continue
        # The first one called is the first to be visited.
        for callee in reversed(called):
            if callee in callees and callee not in seen:
                seen.add(callee)
                stack.append((callee, iter(callees[callee])))


def in_print_order(
    module: HloModuleProto,
) -> tuple[list[OrderedComputation], list[Reject]]:
    """Give computations and instructions as printed, and schedules that don't fit."""
    sequences = module.schedule.sequences
    found: list[OrderedComputation] = []
    rejects: list[Reject] = []
    for computation in computations_in_print_order(module):
        if computation.id not in sequences:
            found.append(OrderedComputation(computation, computation.instructions))
            continue
        by_id = {i.id: i for i in computation.instructions}
        order = dict.fromkeys(sequences[computation.id].instruction_ids)
        listed = [by_id[number] for number in order if number in by_id]
        if len(listed) < max(len(by_id), len(order)):
            listed += [i for number, i in by_id.items() if number not in order]
            rejects.append(_misfit(computation, len(order), len(by_id)))
        found.append(OrderedComputation(computation, listed))
    return found, rejects


def _misfit(computation: HloComputationProto, scheduled: int, count: int) -> Reject:
    message = (
        f"a computation of {count} instructions has a schedule of {scheduled}; "
        "instructions outside the schedule come last"
    )
    name = text_of(computation.name)
    return Reject(0, 0, "schedule", "incomplete", message, name)
