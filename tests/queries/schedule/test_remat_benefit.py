"""What clones of the compiler save, against a walk over every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.queries.assignments import Assignment, assignments, has_ranges, live
from tests.queries.stored import Connection, add, examples, stored

DUMP = DATA / "remat" / "v5e-jax-0.10.2.tar.xz"
ROWS = """
    SELECT color, instruction, kept_from, size_bytes, not_held_byte_steps,
      held_byte_steps, kept_peak_bytes, kept_peak_step, all_kept_peak_bytes
    FROM remat_benefit(top := 1000)
"""


class Array(NamedTuple):
    """An array that an instruction makes: a value with a live range."""

    value_id: int
    instruction: str
    shape_index: str | None
    shape: str
    kind: str
    color: int
    size: int
    start: int
    end: int

    @property
    def original(self) -> str:
        return self.instruction.partition(".remat")[0]

    @property
    def is_clone(self) -> bool:
        return ".remat" in self.instruction


class Reading(NamedTuple):
    value_id: int
    instruction: str
    step: int


class Module(NamedTuple):
    clones: frozenset[str]
    arrays: list[Array]
    readings: list[Reading]
    steps: int
    live: Callable[[int, int], int]
    """Live bytes of a colour at a step."""


Case = frozenset[str]
"""The clones that are not made."""


def kept(module: Module, case: Case) -> Iterator[tuple[Array, Array]]:
    """Yield the kept values, and the array that isn't made for it."""
    readers: dict[int, set[str]] = {}
    for reading in module.readings:
        readers.setdefault(reading.value_id, set()).add(reading.instruction)
    originals = {a.original for a in module.arrays if a.is_clone}
    chains: dict[tuple[str, str | None, str], list[Array]] = {}
    for array in sorted(module.arrays, key=lambda a: (a.start, a.value_id)):
        named = array.is_clone or array.original in originals
        only_for_clones = readers.get(array.value_id, {""}) <= case
        if named and not (array.instruction in case and only_for_clones):
            shape = array.shape.partition("{")[0]
            chain = (array.original, array.shape_index, shape)
            chains.setdefault(chain, []).append(array)
    for chained in chains.values():
        for before, array in pairwise(chained):
            if array.instruction in case:
                yield before, array


def released(module: Module, case: Case) -> Iterator[tuple[Array, int]]:
    """Yield the values held only for the clones, and since which step."""
    keeping = {before.value_id for before, _ in kept(module, case)}
    for array in module.arrays:
        mine = [r for r in module.readings if r.value_id == array.value_id]
        left_out = [r.step for r in mine if r.instruction in case]
        others = [r.step for r in mine if r.instruction not in case]
        if array.kind != "temp" or array.value_id in keeping or not left_out:
            continue
        if max(left_out) == array.end:
            yield array, max([array.start, *others])


def level(module: Module, case: Case, color: int, step: int) -> int:
    """Return the live bytes of a colour at a step, without the clones of the case."""
    more = sum(
        before.size
        for before, array in kept(module, case)
        if before.color == color and before.end < step < array.start
    )
    less = sum(
        array.size
        for array, since in released(module, case)
        if array.color == color and since < step < array.end
    )
    return module.live(color, step) + more - less


def peak(module: Module, case: Case, color: int) -> tuple[int, int]:
    levels = [level(module, case, color, step) for step in range(module.steps + 1)]
    return max(levels), levels.index(max(levels))


def expected(module: Module) -> set[tuple[object, ...]]:
    """Return the rows of the query."""
    rows: set[tuple[object, ...]] = set()
    for name in module.clones:
        case = frozenset({name})
        chain = list(kept(module, case))
        arrays = [b for b, _ in chain] or [
            a for a in module.arrays if a.instruction == name
        ]
        for color in {array.color for array in arrays}:
            size = sum(array.size for array in arrays if array.color == color)
            found: tuple[object, ...] = (None,) * 4
            before = None
            if chain:
                mine = [(b, a) for b, a in chain if b.color == color]
                before = min(b.instruction for b, _ in mine)
                gaps = [b.size * max(0, a.start - b.end - 1) for b, a in mine]
                held = [
                    a.size * max(0, a.end - since - 1)
                    for a, since in released(module, case)
                    if a.color == color
                ]
                found = (sum(gaps), sum(held), *peak(module, case, color))
            every, _ = peak(module, module.clones, color)
            rows.add((color, name, before, size, *found, every))
    return rows


@pytest.fixture(scope="module")
def recomputing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path: Path = tmp_path_factory.mktemp("remat") / "remat.duckdb"
    ingest([str(DUMP)], path, jobs=1, prepare=renew_macros)
    with connect(path) as connection:
        yield connection


def stored_module(connection: Connection) -> Module:
    """Read the one module of a warehouse from its tables."""
    arrays = connection.execute(
        """
        SELECT v.value_id, i.name, v.shape_index, v.shape, a.kind, a.color,
          s.size_bytes, l.start_step, l.end_step
        FROM "values" AS v
        JOIN instructions AS i USING (module_id, instruction_id)
        JOIN live_ranges AS l USING (module_id, value_id)
        JOIN allocation_values AS s USING (module_id, value_id)
        JOIN allocations AS a USING (module_id, allocation_id)
        WHERE v.shape NOT LIKE '(%'
        """
    ).fetchall()
    readings = connection.execute(
        """
        SELECT u.value_id, i.name, i.schedule_step
        FROM value_uses AS u
        JOIN instructions AS i USING (module_id, instruction_id)
        """
    ).fetchall()
    timeline = connection.execute(
        "SELECT color, from_step, to_step, live_bytes FROM memory_timeline"
    ).fetchall()
    levels = {
        (color, step): live_bytes
        for color, from_step, to_step, live_bytes in timeline
        for step in range(from_step, to_step + 1)
    }
    made = [Array(*row) for row in arrays]
    return Module(
        frozenset(a.instruction for a in made if a.is_clone),
        made,
        [Reading(*row) for row in readings],
        max(step for _, step in levels),
        lambda color, step: levels.get((color, step), 0),
    )


@pytest.mark.slow
def test_a_program_of_which_a_tpu_holds_too_few_layers(recomputing: Connection) -> None:
    found = set(recomputing.execute(ROWS).fetchall())
    assert len(found) == 9
    assert found == expected(stored_module(recomputing))


def test_what_each_clone_saves_and_costs(recomputing: Connection) -> None:
    """Arrays are of 1 GiB; a product takes two of them beside its weights."""
    shown = """
        SELECT instruction, kept_from, saved_at_peak_bytes // 1024**3, flop,
          moved_bytes // 1024**2
        FROM remat_benefit()
    """
    work, gib = 2 * 65_536 * 4096 * 4096, 1024
    weights = 64
    assert recomputing.execute(shown).fetchall() == [
        ("fusion.60.remat.1", "fusion.60", 2, work, 4 * gib + weights),
        ("fusion.59.remat", "fusion.59", 2, work, 5 * gib + weights),
        ("fusion.56.remat", "fusion.56", 2, work, 5 * gib + weights),
        ("fusion.54.remat", "fusion.54", 2, work, 5 * gib + weights),
        ("sin.10.remat.1", "sin.10", 1, 0, 2 * gib),
        # What it reads is held for it alone; the others lie behind the peak.
        ("fusion.57.remat", "fusion.57", 0, work, 5 * gib + weights),
        ("fusion.58.remat", "fusion.58", 0, work, 5 * gib + weights),
        ("fusion.60.remat", "fusion.60.remat.1", 0, work, 5 * gib + weights),
        ("sin.10.remat", "sin.10.remat.1", 0, 0, 2 * gib),
    ]
    ratios = recomputing.execute(
        "SELECT saved_at_peak_bytes / moved_bytes, saved_ratio FROM remat_benefit()"
    ).fetchall()
    assert all(ratio == pytest.approx(saved) for saved, ratio in ratios)
    assert ratios[0][1] == pytest.approx(2 / (4 + weights / gib))


def test_what_is_recomputed_whole_has_its_results_and_its_work(
    recomputing: Connection,
) -> None:
    """Not the table of pointers to them, nor nothing."""
    found = recomputing.execute(
        "SELECT original, clone_count, recomputed_bytes // 1024**3, flop"
        " FROM remat_census() WHERE made_by = 'compiler'"
    ).fetchall()
    work = 2 * 65_536 * 4096 * 4096
    assert found == [
        ("fusion.60", 2, 5, 2 * work),
        *((f"fusion.{number}", 1, 3, work) for number in (54, 56, 57, 58, 59)),
        ("sin.10", 2, 2, 0),
    ]


NAMES = ("a", "a.remat", "a.remat.1", "b.remat", "b", "b.remat2", "c", "d.remat")


@pytest.mark.slow
@examples
@given(assignment=assignments(), data=st.data())
def test_it_is_the_peak_that_keeping_the_values_would_give(
    empty_warehouse: Connection, assignment: Assignment, data: st.DataObject
) -> None:
    if not has_ranges(assignment):
        return
    values = [(a, v) for a in assignment.allocations for v in a.values]
    names = dict(
        zip(
            [v.value_id for _, v in values],
            data.draw(st.permutations([*NAMES, *(f"v{n}" for n in range(30))])),
            strict=False,
        )
    )
    steps = {n: data.draw(st.integers(0, assignment.steps)) for n in names}
    # A value and who reads it, which is never the instruction that makes it.
    pairs = st.tuples(*[st.sampled_from(sorted(names))] * 2).filter(
        lambda pair: pair[0] != pair[1]
    )
    uses = data.draw(
        st.lists(pairs, unique=True, max_size=8) if len(names) > 1 else st.just([])
    )
    with stored(empty_warehouse, assignment) as connection:
        connection.execute("UPDATE store.\"values\" SET shape = 'u8[1]{0}'")
        add(connection, "store.instruction_forms", form_id=1, opcode="add")
        for number, name in names.items():
            connection.execute(
                "UPDATE store.instructions SET name = ?, schedule_step = ?"
                " WHERE instruction_id = ?",
                [name, steps[number], number],
            )
        for ordinal, (value, reader) in enumerate(uses):
            key = {"module_id": 101, "value_id": value, "ordinal": ordinal}
            add(connection, "store.value_uses", **key, instruction_id=reader)
        found = set(connection.execute(ROWS).fetchall())
    module = Module(
        frozenset(n for n in names.values() if ".remat" in n),
        [
            Array(
                *(v.value_id, names[v.value_id], None, "u8[1]{0}", a.kind, a.color),
                *(v.size, v.start, v.end),
            )
            for a, v in values
            if v.start is not None and v.end is not None and a.kind != "thread_local"
        ],
        [Reading(value, names[reader], steps[reader]) for value, reader in uses],
        assignment.steps,
        lambda color, step: live(assignment, color, step),
    )
    assert found == expected(module)
