"""Which module of one run is which of another: names may change, and so may numbers.

A ladder of keys, the surest first: on each rung the n-th of equal key in one run, by
module number, goes with the n-th in the other. No rung prefers a side, so matching
(A, B) mirrors matching (B, A).

PyTorch/XLA calls all its programs `SyncTensorsGraph`: where several share name and
shapes the content tells first, and a name alone tells only where one program has it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from hlodb.reports.facts import Module

ENOUGH_ALIKE = 0.5
"""Least share of equal opcodes at which programs of other names are the same."""

_NEAR = 100
"""How far apart, in the order of compilation, programs of one name are compared."""

_ARRAY = re.compile(r"(\w+)\[([^\]]*)\]")

Thing = TypeVar("Thing")
Similarities = Callable[[Sequence[tuple[Module, Module]]], Sequence[float]]


class Match(NamedTuple):
    """Two modules, why they are the same program, and how sure that is (0 to 1)."""

    base: Module
    candidate: Module
    method: str
    confidence: float


class Rung(NamedTuple, Generic[Thing]):
    """One step of a ladder; what has no key (None) does not stand on it."""

    method: str
    confidence: float
    key: Callable[[Thing], Hashable | None]


def _source_shapes(module: Module) -> Hashable | None:
    return module.source_shapes and (module.program, module.source_shapes, module.rank)


def _by_name(module: Module) -> tuple[Hashable, ...]:
    return module.program, module.program_key, module.rank


def _named_and_exact(module: Module) -> Hashable | None:
    return module.exact_fingerprint and (module.exact_fingerprint, _by_name(module))


def _named_and_sourced(module: Module) -> Hashable | None:
    return module.source_graph and (module.source_graph, _by_name(module))


def _exact(module: Module) -> Hashable | None:
    return module.exact_fingerprint and (module.exact_fingerprint, module.rank)


def _graph(module: Module) -> Hashable | None:
    return module.graph_fingerprint and (module.graph_fingerprint, module.rank)


def _source_graph(module: Module) -> Hashable | None:
    return module.source_graph and (module.source_graph, module.rank)


BY_NAME: tuple[Rung[Module], ...] = (
    Rung("program", 1.0, _named_and_exact),
    Rung("program", 1.0, _named_and_sourced),
    Rung("program", 1.0, _by_name),
    Rung("program and source shapes", 0.95, _source_shapes),
)
BY_CONTENT: tuple[Rung[Module], ...] = (
    Rung("exact fingerprint", 0.95, _exact),
    Rung("graph fingerprint", 0.9, _graph),
    Rung("source graph fingerprint", 0.9, _source_graph),
)
BY_NAME_ALONE: Rung[Module] = Rung("program name", 0.7, lambda m: (m.program, m.rank))


def match_modules(
    base: Sequence[Module], candidate: Sequence[Module], similarities: Similarities
) -> tuple[list[Match], list[Module], list[Module]]:
    """Give the matches, and what of `base` and `candidate` has none.

    `similarities` tells how alike the programs of each pair are, from 0 to 1; it is
    asked only about modules of equal entry shapes or name that nothing surer matches.
    """
    matches: list[Match] = []
    gone, new = list(base), list(candidate)
    for rung in (*BY_NAME, *BY_CONTENT):
        found, gone, new = _climb(rung, gone, new)
        matches += found
    found, gone, new = _climb(_among(BY_NAME_ALONE, gone, new), gone, new)
    matches += found
    found, gone, new = _by_likeness(gone, new, similarities)
    return [*matches, *found], gone, new


def similarity(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Give the share of equal things, as opcodes: Σ min ÷ Σ max of counts (0 to 1)."""
    kinds = a.keys() | b.keys()
    most = sum(max(a.get(kind, 0), b.get(kind, 0)) for kind in kinds)
    least = sum(min(a.get(kind, 0), b.get(kind, 0)) for kind in kinds)
    return least / most if most else 1.0


def _climb(
    rung: Rung[Module], base: Sequence[Module], candidate: Sequence[Module]
) -> tuple[list[Match], list[Module], list[Module]]:
    waiting: dict[Hashable, list[Module]] = defaultdict(list)
    for module in reversed(base):
        if (key := rung.key(module)) is not None:
            waiting[key].append(module)
    matches, taken = [], set()
    new = []
    for module in candidate:
        key = rung.key(module)
        if key is not None and waiting.get(key):
            partner = waiting[key].pop()
            matches.append(Match(partner, module, rung.method, rung.confidence))
            taken.add(id(partner))
        else:
            new.append(module)
    return matches, [m for m in base if id(m) not in taken], new


def _among(
    rung: Rung[Module], base: Iterable[Module], candidate: Iterable[Module]
) -> Rung[Module]:
    """Give a rung on which only those stand whose key no other of their run has."""
    counts = [Counter(map(rung.key, modules)) for modules in (base, candidate)]
    shared = {key for count in counts for key, times in count.items() if times > 1}

    def key(module: Module) -> Hashable | None:
        return None if rung.key(module) in shared else rung.key(module)

    return rung._replace(key=key)


def _by_likeness(
    base: Sequence[Module], candidate: Sequence[Module], similarities: Similarities
) -> tuple[list[Match], list[Module], list[Module]]:
    """Match modules of equal shapes or equal names, the most alike first.

    Of namesakes those come first that also take and give as many arrays: the first step
    of a training makes the optimiser's state that the others are given.
    """
    places = [
        (i, j)
        for i, b in enumerate(base)
        for j, c in enumerate(candidate)
        if b.rank == c.rank and (_same_shapes(b, c) or _are_namesakes(b, c, i - j))
    ]
    alike = similarities([(base[i], candidate[j]) for i, j in places])
    arrays = [[_arrays(m) for m in modules] for modules in (base, candidate)]
    scored = [
        (-score * similarity(arrays[0][i], arrays[1][j]), i, j, score)
        for score, (i, j) in zip(alike, places, strict=True)
        if score >= ENOUGH_ALIKE
    ]
    matches: list[Match] = []
    bases, candidates = set(), set()
    for _, i, j, score in sorted(
        scored, key=lambda s: (s[0], s[1] + s[2], s[1] * s[2])
    ):
        if i not in bases and j not in candidates:
            b, c = base[i], candidate[j]
            what = "entry shapes" if _same_shapes(b, c) else "program name"
            matches.append(Match(b, c, f"{what} and opcodes", round(score, 4)))
            bases.add(i)
            candidates.add(j)
    return matches, _others(base, bases), _others(candidate, candidates)


def _arrays(module: Module) -> Counter[str]:
    """Count arguments and results by element type and rank, whatever their sizes."""
    sides = (module.entry_shapes or "").split("->")
    return Counter(
        f"{side} {element_type} {sizes.count(',') if sizes else -1}"
        for side, shapes in enumerate(sides)
        for element_type, sizes in _ARRAY.findall(shapes)
    )


def _are_namesakes(b: Module, c: Module, distance: int) -> bool:
    """Tell whether programs share a name; of thousands each has its place, roughly."""
    return b.program == c.program and abs(distance) <= _NEAR


def _same_shapes(b: Module, c: Module) -> bool:
    known = b.source_shapes is not None and c.source_shapes is not None
    if known and b.source_shapes == c.source_shapes:
        return True
    return b.entry_shapes is not None and b.entry_shapes == c.entry_shapes


def _others(modules: Iterable[Module], taken: set[int]) -> list[Module]:
    return [module for i, module in enumerate(modules) if i not in taken]


def differing_keys(match: Match) -> list[str]:
    """Name what makes two modules incomparable; nothing where they are comparable.

    A module whose entry shapes are not those of its source was partitioned: where it
    prints one partition the number is unknown, as older releases left it out.
    """
    b, c = match.base, match.candidate
    keys = []
    if not _same_shapes(b, c) and b.program_key != c.program_key:
        keys.append("entry shapes")
    partitions = _partitions(b), _partitions(c)
    if None not in partitions and partitions[0] != partitions[1]:
        keys.append("num_partitions")
    if b.platform and c.platform and b.platform != c.platform:
        keys.append("platform")
    return keys


def comparable(one: Module, other: Module) -> bool:
    """Tell whether nothing makes two modules incomparable."""
    return not differing_keys(Match(one, other, "", 0))


def _partitions(module: Module) -> int | None:
    if module.num_partitions == 1 and module.source_shapes not in (
        None,
        module.entry_shapes,
    ):
        return None
    return module.num_partitions
