"""Which programs a run no longer holds, however often they were compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hlodb.reports.facts import Module


def kind(module: Module) -> tuple[str, int | None, int | None]:
    """Give what several compilations of one program have in common."""
    return (module.program, module.rank, module.program_key)


def missing(
    gone: Sequence[Module], kept: Sequence[Module], new: Sequence[Module]
) -> list[Module]:
    """Give what of `gone` a run lacks that holds `kept`, matched, and `new`.

    What is compiled less often is not missing. Nor are as many programs of a name as
    there are new ones: these may be what became of them.
    """
    known = {kind(m) for m in kept}
    arrived = {kind(m) for m in new} - known
    became = Counter((program, rank) for program, rank, _ in arrived)
    lost = set()
    for which in dict.fromkeys(kind(m) for m in gone if m.has_assignment):
        program, rank, _ = which
        if which not in known | arrived:
            became[program, rank] -= 1
            if became[program, rank] < 0:
                lost.add(which)
    return [m for m in gone if m.has_assignment and kind(m) in lost]
