"""Walks over made-up graphs, against a search one instruction at a time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.occurrences import store_modules
from tests.queries.stored import examples

Connection = duckdb.DuckDBPyConnection

BODY = 50
"""Instructions from this number on are the body of a loop, the last is its root."""


@dataclass(frozen=True)
class Graph:
    """Operands of the instructions 0, 1, …; number 0 is the parameter of the entry.

    With a `loop`, that instruction runs `body` instructions, the first of which is
    the body's parameter.
    """

    operands: dict[int, list[int]]
    loop: int | None
    body: dict[int, list[int]]

    @property
    def edges(self) -> set[tuple[int, int]]:
        """Producer and consumer, by operands, calls and what callers pass."""
        every = {**self.operands, **self.body}
        found = {(p, c) for c, producers in every.items() for p in producers}
        if self.loop is not None:
            root = max(self.body)
            found.add((root, self.loop))
            found |= {(p, BODY) for p in self.operands[self.loop][:1]}
            found.add((root, BODY))
        return found


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    def operands(first: int, count: int) -> dict[int, list[int]]:
        return {
            n: draw(st.lists(st.integers(first, n - 1), min_size=1, max_size=3))
            if n > first
            else []
            for n in range(first, first + count)
        }

    entry = operands(0, draw(st.integers(1, 12)))
    loop = draw(
        st.none() | st.sampled_from(list(entry)[1:]) if len(entry) > 1 else st.none()
    )
    body = {} if loop is None else operands(BODY, draw(st.integers(1, 6)))
    return Graph(entry, loop, body)


def store(connection: Connection, graph: Graph) -> None:
    connection.execute("INSERT INTO runs BY NAME SELECT 1 AS run_id, 'run' AS name")
    module = {"run_id": 1, "module_id": 1, "path": "m", "part": 0, "program": "jit_f"}
    store_modules(connection, [module | {"entry_computation_id": 0}])
    forms = ((1, "parameter", 0), (2, "add", None), (3, "while", None))
    for form in forms:
        connection.execute(
            "INSERT INTO store.instruction_forms BY NAME SELECT ? AS form_id, ? AS"
            " opcode, ? AS parameter_number",
            form,
        )
    for computation, operands in enumerate((graph.operands, graph.body)):
        if operands:
            store_computation(connection, graph, computation, operands)
    if graph.loop is not None:
        connection.execute(
            "INSERT INTO called_computations BY NAME SELECT 1 AS module_id, ? AS"
            " instruction_id, 'body' AS role, 0 AS ordinal, 1 AS computation_id",
            [graph.loop],
        )


def store_computation(
    connection: Connection, graph: Graph, number: int, operands: dict[int, list[int]]
) -> None:
    root = max(operands)
    connection.execute(
        "INSERT INTO computations BY NAME SELECT 1 AS module_id, ? AS computation_id,"
        " ? AS root_instruction_id",
        [number, root],
    )
    for instruction, producers in operands.items():
        form = 3 if instruction == graph.loop else 2 if producers else 1
        connection.execute(
            "INSERT INTO store.instructions BY NAME SELECT 1 AS module_id, ? AS"
            " instruction_id, ? AS computation_id, ? AS name, ? AS form_id,"
            " ? AS is_root",
            [instruction, number, f"i{instruction}", form, instruction == root],
        )
        for index, producer in enumerate(producers):
            connection.execute(
                "INSERT INTO operands BY NAME SELECT 1 AS module_id, ? AS"
                " instruction_id, ? AS operand_index, ? AS operand_id",
                [instruction, index, producer],
            )


def distances(edges: set[tuple[int, int]], start: int) -> dict[int, int]:
    """Fewest edges from `start` to everything that it reaches."""
    following = defaultdict(list)
    for one, other in edges:
        following[one].append(other)
    found, todo = {start: 0}, [start]
    for one in todo:
        for other in following[one]:
            if other not in found:
                found[other] = found[one] + 1
                todo.append(other)
    return found


@pytest.mark.slow
@examples
@given(graph=graphs(), depth=st.integers(0, 12), data=st.data())
def test_walks(
    empty_warehouse: Connection, graph: Graph, depth: int, data: st.DataObject
) -> None:
    nodes = sorted({**graph.operands, **graph.body})
    start = data.draw(st.sampled_from(nodes))
    empty_warehouse.execute("BEGIN")
    try:
        store(empty_warehouse, graph)
        users, producers = (
            empty_warehouse.execute(
                "SELECT name, distance, through FROM instruction_neighbours("
                "instruction := ?, direction := ?, depth := ?)",
                [f"i{start}", direction, depth],
            ).fetchall()
            for direction in ("users", "inputs")
        )
    finally:
        empty_warehouse.execute("ROLLBACK")
    assert_walk(users, graph.edges, start, depth)
    assert_walk(producers, {(c, p) for p, c in graph.edges}, start, depth)


def assert_walk(
    rows: list[tuple[str, int, str]],
    edges: set[tuple[int, int]],
    start: int,
    depth: int,
) -> None:
    near = distances(edges, start)
    assert {name: distance for name, distance, _ in rows} == {
        f"i{node}": distance for node, distance in near.items() if 0 < distance <= depth
    }
    assert len({name for name, _, _ in rows}) == len(rows)
    for name, distance, through in rows:
        before = int(through[1:])
        assert (before, int(name[1:])) in edges
        assert near[before] == distance - 1
