"""By how much the memory of a program differs between duplicate compiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from hlodb.reports.facts import Module, Profiles, reserved

Compiled = tuple[str, int | None, int]
"""Program, rank and exact source of what may have been compiled several times."""


class NoiseBands(NamedTuple):
    """How far duplicate compiles of one run differ, in bytes by colour and run.

    `order` are the ids of the runs that followed one another, the candidate's last.
    """

    widths: Mapping[tuple[Compiled, int], Mapping[int, int]]
    order: Sequence[int]

    def of(self, base: Module | None, candidate: Module | None, color: int) -> int:
        """Give the widest of the base and of all runs before the one that is judged.

        The run itself has no say: one odd compile of several would excuse itself.
        """
        modules = [m for m in (base, candidate) if m is not None]
        found = [
            (run_id, width)
            for m in modules
            if m.source_exact is not None
            for run_id, width in self.widths.get(
                ((m.program, m.rank, m.source_exact), color), {}
            ).items()
        ]
        if not found:
            return 0
        judged = modules[-1].run_id
        known = {*takewhile(lambda run_id: run_id != judged, self.order)}
        if base is not None and base.run_id != judged:
            known.add(base.run_id)
        return max((width for run_id, width in found if run_id in known), default=0)


def noise_bands(
    runs: Mapping[int, Sequence[Module]], profiles: Profiles, order: Sequence[int]
) -> NoiseBands:
    """Give by how much the memory of one program differs between duplicate compiles.

    Duplicates are compilations of one source (before_optimizations, exactly) on one
    rank of one run: there compiler and flags are the same for certain. What another
    rank makes of the source, or a host that its folder alone tells, is no duplicate:
    one that differs is to be seen. Where nothing was compiled twice there is no band,
    and compilation is taken for deterministic. `runs` are modules by run, `order` ids
    of runs that followed one another.
    """
    widths: dict[tuple[Compiled, int], dict[int, int]] = defaultdict(dict)
    for run_id, modules in runs.items():
        groups: dict[tuple[Compiled, str], list[Module]] = defaultdict(list)
        for m in modules:
            if m.source_exact is not None and m.has_assignment:
                groups[(m.program, m.rank, m.source_exact), _host(m)].append(m)
        for (compiled, _), group in groups.items():
            if len(group) > 1:
                for color, width in _spreads(group, profiles).items():
                    own = widths[compiled, color]
                    own[run_id] = max(width, own.get(run_id, 0))
    return NoiseBands(dict(widths), order)


def _host(module: Module) -> str:
    """Give the folder of a host; one of a module holds no other."""
    name = PurePosixPath(module.path).parent.name
    return "" if name.startswith("module_") else name


def _spreads(group: Sequence[Module], profiles: Profiles) -> dict[int, int]:
    colors = {c for m in group for c in profiles.get(m.module_id, {})}
    spreads = {}
    for color in colors:
        sizes = [reserved(m, color, profiles) for m in group]
        spreads[color] = max(sizes) - min(sizes)
    return spreads
