"""By how much the memory of a program differs between duplicate compiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from hlodb.reports.facts import Module
from hlodb.reports.pairs import NoiseBands, Profiles, reserved


def noise_bands(modules: Iterable[Sequence[Module]], profiles: Profiles) -> NoiseBands:
    """Give by how much the memory of one program differs between duplicate compiles.

    Duplicates are compilations of one source (before_optimizations, exactly) on one
    rank of one run: there compiler and flags are the same for certain. What another
    rank makes of the source, or a host that its folder alone tells, is no duplicate:
    one that differs is to be seen. The
    band of a program and colour is the widest spread of any run; where nothing was
    compiled twice there is none, and compilation is taken for deterministic.
    """
    bands: dict[tuple[str, int | None, int, int], int] = {}
    for of_one_run in modules:
        groups: dict[tuple[str, int | None, int, str], list[Module]] = defaultdict(list)
        for m in of_one_run:
            if m.source_exact is not None and m.has_assignment:
                groups[m.program, m.rank, m.source_exact, _host(m)].append(m)
        for (program, rank, source, _), group in groups.items():
            if len(group) > 1:
                for color, width in _spreads(group, profiles).items():
                    key = program, rank, source, color
                    bands[key] = max(width, bands.get(key, 0))
    return bands


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
