"""Whether computations are ones that XLA would print, many judged at once.

Their names are unique, their operands stand above their readers, they have one root at
most, and their instructions are usual ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Column = NDArray[Any]


class Facts(NamedTuple):
    """What counts of instructions, column by column.

    Names and operands are numbers; `operands` stand end to end, `counts` for each
    instruction. `roots` and `usual` are 0 or 1.
    """

    names: _Column
    operands: _Column
    counts: _Column
    roots: _Column
    usual: _Column


def sound_computations(
    facts: Facts, sizes: Sequence[int], scratch: _Column
) -> list[bool]:
    """Return which computations are sound; they have so many instructions each.

    The table `scratch` has room for every name; what it holds is left over.
    """
    if _are_all_sound(facts, np.array(sizes, np.int64), scratch):
        return [True] * len(sizes)
    of = np.repeat(np.arange(len(sizes)), sizes)
    sound = np.array(sizes) > 0
    sound[of[facts.usual == 0]] = False
    roots = of[facts.roots == 1]
    sound[roots[1:][roots[1:] == roots[:-1]]] = False
    sound[_unresolved(of, facts)] = False
    return [bool(is_sound) for is_sound in sound]


def _are_all_sound(facts: Facts, sizes: _Column, place: _Column) -> bool:
    """Return whether all computations are sound and no two share a name.

    So it is in what XLA prints; where it is not, each one has to be looked at.
    """
    names, operands, counts, roots, usual = facts
    if not usual.all() or not sizes.all():
        return False
    ends = np.cumsum(sizes)
    rooted = np.searchsorted(ends, np.flatnonzero(roots), side="right")
    numbers = np.arange(len(names), dtype=np.int32)
    place[operands] = len(names)
    place[names] = numbers
    if (rooted[1:] == rooted[:-1]).any() or (place[names] != numbers).any():
        return False
    found = place[operands]
    readers = np.repeat(numbers, counts)
    first = np.repeat((ends - sizes).astype(np.int32), sizes)
    return bool(((found < readers) & (found >= first[readers])).all())


def _unresolved(of: _Column, facts: Facts) -> _Column:
    """Return computations where a name is there twice, or an operand not above.

    `of` are the computations of the instructions.
    """
    names, operands = facts.names, facts.operands
    readers = np.repeat(np.arange(len(of)), facts.counts)
    most = int(max(names.max(initial=0), operands.max(initial=0))) + 1
    keys = of * most + names
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    twice = of[order[1:][keys[1:] == keys[:-1]]]
    wanted = of[readers] * most + operands
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    missing = (keys[at] != wanted) | (order[at] >= readers)
    return np.concatenate([twice, of[readers[missing]]])


def has_unique(names: _Column, scratch: _Column) -> bool:
    """Return whether no name is there twice; `scratch` is as above."""
    numbers = np.arange(len(names), dtype=np.int32)
    scratch[names] = numbers
    return bool((scratch[names] == numbers).all())
