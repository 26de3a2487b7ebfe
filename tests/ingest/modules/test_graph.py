"""Called computations, roots and operands as columns, against the plain way."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hlodb.ingest.arrow import NO_ID, Ints
from hlodb.ingest.modules.graph import Graph, computation_kinds, resolve_graph
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import Call, Computation, Instruction

_CALL_PLACE = 1 << 20
_NAMES = st.sampled_from(("f", "g", "h", "missing"))
_CALLS = st.builds(
    Call,
    st.sampled_from(("calls", "to_apply", "body", "select", "async_things")),
    st.lists(_NAMES, max_size=2).map(tuple),
)
_INSTRUCTIONS = st.builds(
    Instruction,
    name=st.sampled_from(("a", "b", "c")),
    opcode=st.sampled_from(("fusion", "call", "while", "add")),
    shape=st.none(),
    operands=st.lists(st.sampled_from(("a", "b", "c", "f")), max_size=3).map(tuple),
    is_root=st.booleans(),
    calls=st.lists(_CALLS, max_size=2).map(tuple),
)


class Module(NamedTuple):
    instructions: list[Instruction]
    computations: tuple[Computation, ...]


class Read(NamedTuple):
    """A module as its graph says it is."""

    distinct: Distinct
    rows: Ints
    graph: Graph

    def calls(self) -> list[tuple[int, str, int, int]]:
        known = self.distinct.calls.roles.values_by_number
        callers, roles, ordinals, ids = (c.tolist() for c in self.graph.calls)
        return list(zip(callers, [known[i] for i in roles], ordinals, ids, strict=True))


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Return a module whose names may repeat; the last instructions may be of none."""
    parts = draw(st.lists(st.lists(_INSTRUCTIONS, max_size=3), max_size=4))
    rest = draw(st.lists(_INSTRUCTIONS, max_size=1))
    computations: list[Computation] = []
    start = 0
    for number, part in enumerate(parts):
        name = draw(st.sampled_from(("f", "g", "h")))
        is_entry = number == len(parts) - 1
        computations.append(Computation(name, is_entry, start, start + len(part)))
        start += len(part)
    return Module([i for part in parts for i in part] + rest, tuple(computations))


def read(module: Module) -> Read:
    distinct = Distinct()
    distinct.add([Instruction("earlier", "add", None, ("a", "x"))])
    rows = distinct.add(module.instructions)
    return Read(distinct, rows, resolve_graph(distinct, rows, module.computations))


def edges(*columns: Ints) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def plain_calls(module: Module) -> list[tuple[int, str, int, int]]:
    number = {c.name: i for i, c in enumerate(module.computations)}
    return [
        (caller, call.role, ordinal, number.get(name, NO_ID))
        for caller, instruction in enumerate(module.instructions)
        for call in instruction.calls
        for ordinal, name in enumerate(call.computations)
    ]


def plain_roots(module: Module) -> list[int]:
    roots = []
    for c in module.computations:
        numbers = range(c.start, c.stop)
        marked = [i for i in numbers if module.instructions[i].is_root]
        roots.append((marked or [*numbers[-1:], NO_ID])[0])
    return roots


def plain_operands(module: Module) -> list[tuple[int, int, int]]:
    """Return reader, operand and place; a name is the last of its computation's."""
    edges = []
    for c in module.computations:
        numbers = range(c.start, c.stop)
        number = {module.instructions[i].name: i for i in numbers}
        edges += [
            (i, number.get(name, NO_ID), place)
            for i in numbers
            for place, name in enumerate(module.instructions[i].operands)
        ]
    return edges


@pytest.mark.slow
@given(modules())
def test_calls_are_resolved_by_name(module: Module) -> None:
    assert read(module).calls() == plain_calls(module)


@given(modules())
def test_a_root_is_the_first_that_is_marked_or_the_last(module: Module) -> None:
    graph = read(module).graph
    roots = plain_roots(module)
    assert graph.roots.tolist() == roots
    assert graph.is_root.tolist() == [
        instruction.is_root or number in roots
        for number, instruction in enumerate(module.instructions)
    ]


@pytest.mark.slow
@given(modules())
def test_operands_are_looked_up_in_their_computation(module: Module) -> None:
    names = [instruction.name for instruction in module.instructions]
    assume(len(set(names)) < len(names))
    graph = read(module).graph
    inside = sum(c.stop - c.start for c in module.computations)
    found = edges(graph.readers, graph.operands, graph.places)
    assert [edge for edge in found if edge[0] < inside] == plain_operands(module)


@given(modules())
def test_called_roots_count_as_operands(module: Module) -> None:
    graph = read(module).graph
    roots = [*plain_roots(module), NO_ID]
    called = [
        (caller, roots[computation], _CALL_PLACE + ordinal)
        for caller, _, ordinal, computation in plain_calls(module)
        if roots[computation] != NO_ID
    ]
    own = edges(graph.readers, graph.operands, graph.places)
    sound = [edge for edge in own if edge[1] != NO_ID]
    assert edges(*graph.edges_with_calls()) == sound + called


@given(modules())
def test_a_computation_is_of_the_kind_of_its_first_call(module: Module) -> None:
    distinct, rows, graph = read(module)
    kinds: list[str | None] = [
        "entry" if c.is_entry else None for c in module.computations
    ]
    for caller, role, _, computation in plain_calls(module):
        if computation != NO_ID and kinds[computation] is None:
            kinds[computation] = plain_kind(role, module.instructions[caller].opcode)
    assert computation_kinds(distinct, rows, module.computations, graph) == kinds


def plain_kind(role: str, opcode: str) -> str:
    if role == "calls":
        return "fusion" if opcode == "fusion" else "async"
    if role == "to_apply":
        return "call" if opcode == "call" else "reducer"
    return {"body": "while_body", "select": "reducer"}.get(role, "call")


@pytest.mark.parametrize(
    ("opcode", "role"), [("call", "call"), ("reduce", "reducer"), ("sort", "reducer")]
)
def test_what_is_applied_is_called_once_or_reduces(opcode: str, role: str) -> None:
    caller = Instruction("c", opcode, None, calls=(Call("to_apply", ("f",)),))
    leaf = Instruction("p", "parameter", None)
    computations = (Computation("f", False, 0, 1), Computation("main", True, 1, 2))
    distinct, rows, graph = read(Module([leaf, caller], computations))
    assert computation_kinds(distinct, rows, computations, graph) == [role, "entry"]
