"""Donated and missed inputs, and what one would save, on made-up modules."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.assignments import (
    Allocation,
    Assignment,
    Value,
    has_ranges,
    live_peak,
)
from tests.queries.stored import Connection, examples, stored

STEPS = 6
MODULE = 101
ROOT = 999


@dataclass(frozen=True)
class Output:
    """Where a result lies: in its own allocation, or in that of parameter `taken`."""

    index: int
    color: int
    size: int
    start: int
    taken: int | None


@dataclass(frozen=True)
class Program:
    """Parameters by colour and size, results, declared aliases, reads by step."""

    parameters: list[tuple[int, int]]
    outputs: list[Output]
    aliases: list[tuple[int, int | None]]
    reads: dict[int, int]
    temp: Value


@st.composite
def programs(draw: st.DrawFn) -> Program:
    places = st.tuples(st.integers(0, 1), st.sampled_from([0, 2, 4]))
    parameters = draw(st.lists(places, min_size=1, max_size=5))
    numbers = range(len(parameters))
    outputs = []
    for index in range(draw(st.integers(0, 12))):
        color, size = draw(places)
        start = draw(st.integers(0, STEPS))
        fitting = [n for n in numbers if parameters[n] == (color, size)]
        taken = draw(st.none() | st.sampled_from(fitting)) if fitting else None
        outputs.append(Output(index, color, size, start, taken))
    targets = st.none() | st.sampled_from(range(max(len(outputs), 1)))
    pairs = st.tuples(st.sampled_from(numbers), targets)
    aliases = draw(st.lists(pairs, max_size=4, unique_by=(lambda a: a[0],)))
    named = [a for a in aliases if a[1] is None or a[1] < len(outputs)]
    once = {a[1]: a for a in named if a[1] is not None}.values()
    reads = draw(st.dictionaries(st.sampled_from(numbers), st.integers(0, STEPS)))
    start = draw(st.integers(0, STEPS))
    temp = Value(500, 0, draw(st.integers(0, 8)), start, draw(st.integers(start, 6)))
    donors = [a for a in named if a[1] is None]
    return Program(parameters, outputs, [*once, *donors], reads, temp)


def shape(size: int) -> str:
    return f"u8[{size}]"


def assignment_of(program: Program) -> Assignment:
    """Parameters live all the time; results from their start to the end."""
    held: dict[int, list[Value]] = defaultdict(list)
    kinds = {}
    for number, (color, size) in enumerate(program.parameters):
        held[number].append(Value(number, 0, size, 0, STEPS, size))
        kinds[number] = (size, color, "parameter")
    for output in program.outputs:
        number = 100 + output.index
        home = number if output.taken is None else output.taken
        held[home].append(
            Value(number, 0, output.size, output.start, STEPS, output.size)
        )
        if output.taken is None:
            kinds[home] = (output.size, output.color, "live_out")
    held[500].append(program.temp)
    kinds[500] = (8, 0, "temp")
    return Assignment(
        tuple(
            Allocation(number, *kind, tuple(held[number]))
            for number, kind in kinds.items()
        ),
        STEPS,
        extra={"entry_computation_id": 0},
    )


def describe(connection: Connection, program: Program) -> None:
    """Add what an assignment alone doesn't say: shapes, results, aliases, reads."""
    connection.execute(
        "UPDATE allocations SET parameter_number = allocation_id, shape ="
        " 'u8[' || size_bytes || ']' WHERE kind = 'parameter'"
    )
    connection.execute(
        "UPDATE store.\"values\" SET shape = 'u8[' || logical_bytes || ']{0}'"
    )
    connection.execute(
        "INSERT INTO computations BY NAME SELECT ? AS module_id, 0 AS"
        " computation_id, ? AS root_instruction_id",
        [MODULE, ROOT],
    )
    connection.execute(
        "INSERT INTO store.instruction_forms BY NAME SELECT 1 AS form_id, 'add' AS"
        " opcode"
    )
    for output in program.outputs:
        row = (MODULE, 100 + output.index, 1, ROOT, f"{{{output.index}}}")
        connection.execute("INSERT INTO store.value_positions VALUES (?,?,?,?,?)", row)
        if output.taken is not None:
            connection.execute(
                "UPDATE allocations SET is_live_out = TRUE WHERE allocation_id = ?",
                [output.taken],
            )
    for number, target in program.aliases:
        index = None if target is None else f"{{{target}}}"
        kind = "donor" if target is None else "may-alias"
        alias = (MODULE, index, number, "{}", kind)
        connection.execute("INSERT INTO aliases VALUES (?,?,?,?,?)", alias)
    for number, step in program.reads.items():
        reader = 700 + number
        connection.execute(
            "INSERT INTO store.instructions BY NAME SELECT ? AS module_id, ? AS"
            " instruction_id, 1 AS form_id, ? AS schedule_step",
            [MODULE, reader, step],
        )
        connection.execute(
            "INSERT INTO store.value_uses BY NAME SELECT ? AS module_id, ? AS"
            " value_id, 0 AS ordinal, ? AS instruction_id",
            [MODULE, number, reader],
        )


def missed(program: Program) -> list[tuple[int, Output]]:
    """Return pairs of a free parameter and a result of its shape, n-th with n-th."""
    aliased = {number for number, _ in program.aliases}
    updated = {output.taken for output in program.outputs}
    targets = {target for _, target in program.aliases}
    found = []
    for place in sorted(set(program.parameters)):
        free = [
            number
            for number, own in enumerate(program.parameters)
            if own == place and number not in aliased | updated
        ]
        results = [
            output
            for output in program.outputs
            if (output.color, output.size) == place
            and output.taken is None
            and output.index not in targets
        ]
        found += list(zip(free, results, strict=False))
    return found


def ledger(program: Program) -> list[tuple[Any, ...]]:
    updated = {output.taken for output in program.outputs}
    rows: list[tuple[Any, ...]] = []
    for number, target in program.aliases:
        realised = (
            number in updated
            if target is None
            else program.outputs[target].taken == number
        )
        status = "realised" if realised else "declared_only"
        index = None if target is None else f"{{{target}}}"
        rows.append((status, number, index, program.parameters[number][1]))
    for number, output in missed(program):
        rows.append(("missed", number, f"{{{output.index}}}", output.size))
    return rows


def test_an_argument_without_elements_could_be_donated_too(
    empty_warehouse: Connection,
) -> None:
    program = Program(
        [(0, 0), (0, 4)],
        [Output(0, 0, 0, 3, None), Output(1, 0, 4, 3, None)],
        [],
        {},
        Value(500, 0, 0, 0, 0),
    )
    with stored(empty_warehouse, assignment_of(program)) as connection:
        describe(connection, program)
        rows = connection.execute(
            "SELECT status, parameter_number, output_index, donated_bytes"
            " FROM donation_ledger()"
        ).fetchall()
    assert rows == [("missed", 1, "{1}", 4), ("missed", 0, "{0}", 0)]


@pytest.mark.slow
@examples
@given(program=programs())
def test_donation(empty_warehouse: Connection, program: Program) -> None:
    assignment = assignment_of(program)
    with stored(empty_warehouse, assignment) as connection:
        describe(connection, program)
        found = connection.execute(
            "SELECT status, parameter_number, output_index, donated_bytes"
            " FROM donation_ledger()"
        ).fetchall()
        valued = connection.execute(
            "SELECT parameter_number, output_index, last_use_step, output_step,"
            " is_possible, saved_at_peak_bytes FROM missed_donation_value()"
        ).fetchall()
    assert sorted(found, key=repr) == sorted(ledger(program), key=repr)
    assert has_ranges(assignment)
    assert sorted(valued, key=repr) == sorted(values(program, assignment), key=repr)


def values(program: Program, assignment: Assignment) -> list[tuple[Any, ...]]:
    """Return the savings of missed pairs: the peak without the result's allocation."""
    rows = []
    for number, output in missed(program):
        others = [
            a for a in assignment.allocations if a.allocation_id != 100 + output.index
        ]
        without = Assignment(tuple(others), STEPS)
        peak = live_peak(assignment, output.color)[0]
        saved = peak - live_peak(without, output.color)[0]
        read = program.reads.get(number)
        # No text says whether a later reader needs the result.
        possible = True if (-1 if read is None else read) <= output.start else None
        index = f"{{{output.index}}}"
        rows.append((number, index, read, output.start, possible, saved))
    return rows
