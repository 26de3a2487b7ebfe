"""Constants that are stored twice, on made-up modules."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.assignments import Allocation, Assignment, Value, store
from tests.queries.stored import Connection, examples


@dataclass(frozen=True)
class Constant:
    """A constant; `digest` only counts where the text leaves the literal out."""

    literal: str | None
    digest: str | None
    size: int


CONSTANTS = st.builds(
    Constant,
    literal=st.sampled_from(("1", "{1, 2}", "{...}", "{...}", None)),
    digest=st.sampled_from((None, "d1", "d2")),
    size=st.sampled_from((4, 8)),
)


def describe(connection: Connection, modules: list[list[Constant]]) -> None:
    """Add what an assignment alone lacks: literals, shapes and digests."""
    form = 0
    for module_id, constants in enumerate(modules, 101):
        for number, constant in enumerate(constants):
            form += 1
            connection.execute(
                "INSERT INTO store.instruction_forms BY NAME SELECT ? AS form_id,"
                " 'constant' AS opcode, ? AS literal",
                [form, constant.literal],
            )
            connection.execute(
                "UPDATE store.instructions SET form_id = ?"
                " WHERE module_id = ? AND instruction_id = ?",
                [form, module_id, number],
            )
            connection.execute(
                "UPDATE store.\"values\" SET shape = 'u8[' || ? || ']'"
                " WHERE module_id = ? AND value_id = ?",
                [constant.size, module_id, number],
            )
            if constant.digest:
                connection.execute(
                    "INSERT INTO elided_literals VALUES (?, ?, ?, ?)",
                    [module_id, number, constant.size, constant.digest],
                )


@pytest.mark.slow
@examples
@given(
    modules=st.lists(
        st.lists(CONSTANTS, min_size=1, max_size=4), min_size=1, max_size=3
    )
)
def test_constants_are_equal_by_text_else_by_digest(
    empty_warehouse: Connection, modules: list[list[Constant]]
) -> None:
    connection = empty_warehouse
    connection.execute("BEGIN")
    try:
        allocations = [
            tuple(
                Allocation(
                    n, c.size, 0, "constant", (Value(n, 0, c.size, 0, 1, c.size),)
                )
                for n, c in enumerate(constants)
            )
            for constants in modules
        ]
        store(connection, [Assignment(each, 1) for each in allocations])
        describe(connection, modules)
        found = connection.execute(
            "SELECT literal, shape, copy_count, module_count, constant_bytes,"
            " wasted_bytes FROM constant_bloat(top := 1000)"
        ).fetchall()
    finally:
        connection.execute("ROLLBACK")
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for module, constants in enumerate(modules):
        for number, c in enumerate(constants):
            known: object = None
            if c.literal in ("{...}", None):
                known = c.digest or (module, number)
            groups[c.literal, f"u8[{c.size}]", known].append(module)
    expected = []
    for (literal, shape, _), owners in groups.items():
        size = int(shape[3:-1])
        counts = (len(owners), len(set(owners)))
        total, wasted = size * len(owners), size * (len(owners) - 1)
        expected.append((literal, shape, *counts, total, wasted))
    assert sorted(found, key=repr) == sorted(expected, key=repr)
