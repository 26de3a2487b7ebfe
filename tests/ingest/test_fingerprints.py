"""Graph fingerprints of many modules at once, and what they do not depend on."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.fingerprints import Edges, graph_fingerprints

_WORD = (1 << 64) - 1
_MIX = 0x9E3779B97F4A7C15
_ODD = 0xBF58476D1CE4E5B9
_KEYS = st.sampled_from((0, 1, -1, 77, (1 << 63) - 1, -(1 << 63)))


@st.composite
def modules(draw: st.DrawFn) -> Edges:
    keys = draw(st.lists(_KEYS, max_size=6))
    number = st.integers(0, max(len(keys) - 1, 0))
    edge = st.tuples(number, number, st.integers(0, 3) | st.just(1 << 20))
    edges = draw(st.lists(edge, max_size=8 if keys else 0))
    readers, operands, places = np.array(edges, np.int32).reshape(-1, 3).T
    return Edges(np.array(keys, np.int64), readers, operands, places)


def mixed(key: int) -> int:
    """Scramble a key, as numpy does, in numbers of 64 bits."""
    state = ((key >> 31) ^ key) * _ODD & _WORD
    return state ^ (state >> 29)


def plain_fingerprint(module: Edges) -> int:
    """Refine one module's instructions one by one."""
    own = [key & _WORD for key in module.keys.tolist()]
    edges = list(zip(*(part.tolist() for part in module[1:]), strict=True))
    state = list(map(mixed, own))
    for _ in range(8):
        total = list(own)
        for reader, operand, place in edges:
            spot = (place + 1) * _MIX
            total[reader] += mixed((state[operand] + spot) & _WORD) * _MIX
            total[operand] += mixed(state[reader] ^ (spot & _WORD)) * _ODD
        state = [mixed(key & _WORD) for key in total]
    data = b"".join(key.to_bytes(8, "little") for key in sorted(state))
    digest = blake2b(data, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@given(st.lists(modules(), max_size=5))
def test_fingerprints_of_many_modules_are_those_of_each(many: list[Edges]) -> None:
    assert graph_fingerprints(many) == list(map(plain_fingerprint, many))


@given(st.lists(modules(), min_size=1, max_size=3), st.data())
def test_the_order_of_instructions_does_not_matter(
    many: list[Edges], data: st.DataObject
) -> None:
    moved: list[Edges] = []
    for keys, readers, operands, places in many:
        order = np.array(data.draw(st.permutations(range(len(keys)))), np.int32)
        place = np.argsort(order).astype(np.int32)
        moved.append(Edges(keys[order], place[readers], place[operands], places))
    assert graph_fingerprints(moved) == graph_fingerprints(many)


def test_operands_the_other_way_round_are_another_graph() -> None:
    keys = np.array([1, 2, 3], np.int64)
    readers, operands = np.array([2, 2], np.int32), np.array([0, 1], np.int32)
    there = Edges(keys, readers, operands, np.array([0, 1], np.int32))
    back = Edges(keys, readers, operands, np.array([1, 0], np.int32))
    first, second = graph_fingerprints([there, back])
    assert first != second
