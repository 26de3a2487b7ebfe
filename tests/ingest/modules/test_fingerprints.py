"""Fingerprints: of many modules at once, and what they do and do not depend on."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text.instruction import parse_instruction
from hlodb.ingest.modules.identity import (
    Edges,
    exact_text,
    graph_fingerprints,
    graph_text,
)

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


@pytest.mark.slow
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


# --- What they see of an instruction --------------------------------------------

CALL = (
    '%r = f32[8,4]{1,0} custom-call(f32[8,4]{1,0} %p), custom_call_target="gemm",'
    " channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true,"
    " operand_layout_constraints={f32[8,4]{1,0}}, sharding={devices=[2,1]0,1},"
    ' frontend_attributes={mode="a"}, control-predecessors={%a},'
    ' statistics={visualizing_index=0}, origin={{"r"}},'
    ' metadata={op_type="dot" op_name="jit(f)/dot" source_file="/home/me/f.py"'
    ' source_line=3 stack_frame_id=4}, backend_config={"unroll":1,"at":"/opt/a/x.ll"}'
)
FUSION = "%r = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop, calls=%f"
PARAMETER = "%r = f32[8]{0} parameter(0)"
CONSTANT = "%r = f32[2]{0} constant({1, 2})"
BOTH, EXACT_ONLY, NEITHER = (True, True), (False, True), (False, False)


def seen(line: str) -> tuple[str, str]:
    """Return a printed line as the graph fingerprint and the exact one see it."""
    i = parse_instruction(line)
    graph = graph_text(i.opcode, i.shape, i.parameter_number, i.literal, i.attributes)
    return graph, exact_text(i.shape, i.attributes, graph)


@pytest.mark.parametrize(
    ("line", "old", "new", "differ"),
    [
        (CALL, "custom-call(", "add(", BOTH),
        (CALL, "%r = f32[8,4]", "%r = f32[4,8]", BOTH),
        (CALL, "%r = f32[8,4]", "%r = bf16[8,4]", BOTH),
        (CALL, '"gemm"', '"conv"', BOTH),
        (CALL, "{{0,1},{2,3}}", "{{0,2},{1,3}}", BOTH),
        (CALL, "use_global_device_ids=true, ", "", BOTH),
        (CALL, "{devices=[2,1]0,1}", "{replicated}", BOTH),
        (CALL, "%r = f32[8,4]{1,0}", "%r = f32[8,4]{0,1}", EXACT_ONLY),
        (CALL, "%r = f32[8,4]{1,0}", "%r = f32[8,4]{1,0:S(1)}", EXACT_ONLY),
        (CALL, "channel_id=1", "channel_id=2", EXACT_ONLY),
        (CALL, "={f32[8,4]{1,0}}", "={f32[8,4]{0,1}}", EXACT_ONLY),
        (CALL, 'mode="a"', 'mode="b"', EXACT_ONLY),
        (CALL, '"unroll":1', '"unroll":2', EXACT_ONLY),
        (CALL, "x.ll", "y.ll", EXACT_ONLY),
        (CALL, "/opt/a/", "/home/me/b/", NEITHER),
        (CALL, "%r", "%other", NEITHER),
        (CALL, "={%a}", "={%b}", NEITHER),
        (CALL, "index=0", "index=1", NEITHER),
        (CALL, '{{"r"}}', '{{"s"}}', NEITHER),
        (CALL, 'op_type="dot"', 'op_type="mul"', NEITHER),
        (CALL, "jit(f)/dot", "jit(f)/mul", NEITHER),
        (CALL, "f.py", "g.py", NEITHER),
        (CALL, "source_line=3", "source_line=5", NEITHER),
        (CALL, "stack_frame_id=4", "stack_frame_id=6", NEITHER),
        (FUSION, "kLoop", "kInput", BOTH),
        (PARAMETER, "(0)", "(1)", BOTH),
        (CONSTANT, "{1, 2}", "{1, 3}", BOTH),
    ],
)
def test_what_makes_two_programs_differ(
    line: str, old: str, new: str, differ: tuple[bool, bool]
) -> None:
    """Names, places in the source and folders never do; layouts only in exact ones."""
    assert line.count(old) == 1
    pairs = zip(seen(line), seen(line.replace(old, new)), strict=True)
    assert tuple(one != other for one, other in pairs) == differ
