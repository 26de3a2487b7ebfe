"""Trip counts, compared with XLA's own and with a reading by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect

Connection = duckdb.DuckDBPyConnection

LOOP = """\
HloModule jit_f, is_scheduled=true

cond {
  carried.1 = (f32[], s32[]) parameter(0)
  other.1 = f32[] get-tuple-element(carried.1), index=0
  counter.1 = s32[] get-tuple-element(carried.1), index=1
  limit = s32[] constant(7)
  ROOT less = pred[] compare(counter.1, limit), direction=LT
}

body {
  carried.2 = (f32[], s32[]) parameter(0)
  other.2 = f32[] get-tuple-element(carried.2), index=0
  counter.2 = s32[] get-tuple-element(carried.2), index=1
  one = s32[] constant(1)
  next = s32[] add(counter.2, one)
  ROOT again = (f32[], s32[]) tuple(other.2, next)
}

ENTRY main {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  zero = s32[] constant(0)
  first = (f32[], s32[]) tuple(a, zero)
  ROOT loop = (f32[], s32[]) while(first), condition=cond, body=body
}
"""
CHANGES: dict[str, tuple[int | None, dict[str, str]]] = {
    "as it is": (7, {}),
    "constants first": (
        7,
        {
            "compare(counter.1, limit), direction=LT": (
                "compare(limit, counter.1), direction=GT"
            ),
            "add(counter.2, one)": "add(one, counter.2)",
        },
    ),
    "from three": (4, {"constant(0)": "constant(3)"}),
    "from below": (9, {"constant(0)": "constant(-2)"}),
    "not at all": (0, {"constant(0)": "constant(9)"}),
    "one field more": (7, {"index=1\n": 'index=1, metadata={op_name="i"}\n'}),
    "copied before": (
        7,
        {
            "  first =": (
                "  sent = (s32[], s32[], u32[]) copy-start(zero)\n"
                "  come = s32[] copy-done(sent)\n  begin = s32[] copy(come)\n  first ="
            ),
            "tuple(a, zero)": "tuple(a, begin)",
        },
    ),
    "copied within": (
        7,
        {
            "  next = s32[] add(counter.2, one)": (
                "  held = s32[] copy(counter.2)\n"
                "  sum = s32[] add(held, one)\n  next = s32[] copy(sum)"
            )
        },
    ),
    "begins with an argument": (None, {"tuple(a, zero)": "tuple(a, b)"}),
    "two at a time": (4, {"constant(1)": "constant(2)"}),
    "seven at a time": (1, {"constant(1)": "constant(7)"}),
    "eight at a time": (1, {"constant(1)": "constant(8)"}),
    "none at a time": (None, {"constant(1)": "constant(0)"}),
    "less than none at a time": (None, {"constant(1)": "constant(-1)"}),
    "doubled": (None, {"add(counter.2, one)": "add(counter.2, counter.2)"}),
    "never changes": (None, {"tuple(other.2, next)": "tuple(other.2, counter.2)"}),
    "begins anew": (None, {"add(counter.2, one)": "add(one, one)"}),
    "down": (None, {"add(counter.2, one)": "subtract(counter.2, one)"}),
    "up to and with": (8, {"direction=LT": "direction=LE"}),
    "at once over": (0, {"direction=LT": "direction=LE", "constant(0)": "constant(8)"}),
    "from one, two at a time, up to and with": (
        4,
        {
            "direction=LT": "direction=LE",
            "constant(1)": "constant(2)",
            "constant(0)": "constant(1)",
        },
    ),
    "limit first, up to and with": (
        8,
        {
            "compare(counter.1, limit), direction=LT": (
                "compare(limit, counter.1), direction=GE"
            )
        },
    ),
    "as long as it is more": (None, {"direction=LT": "direction=GT"}),
    "up to a carried limit": (None, {"s32[] constant(7)": "s32[] convert(other.1)"}),
    "no integers": (None, {"s32[]": "f32[]"}),
    "two conditions": (
        None,
        {
            "ROOT less = pred[] compare(counter.1, limit), direction=LT": (
                "less = pred[] compare(counter.1, limit), direction=LT\n"
                "  ROOT both = pred[] and(less, less)"
            )
        },
    ),
    "another element": (None, {"tuple(other.2, next)": "tuple(next, other.2)"}),
}


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Return a run of a module for each change."""
    folder = tmp_path_factory.mktemp("loops")
    dumps = []
    for name, (_, changes) in CHANGES.items():
        text = LOOP
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        dump = folder / name
        dump.mkdir()
        path = dump / "module_0001.jit_f.cpu_after_optimizations.txt"
        path.write_text(text, encoding="utf-8")
        dumps.append(str(dump))
    ingest(dumps, folder / "loops.duckdb", jobs=1)
    with connect(folder / "loops.duckdb") as connection:
        yield connection


def counts(connection: Connection, run: str) -> dict[tuple[str, str], object]:
    """Return the trip count of each loop of a run, and where that is from."""
    rows = connection.execute("SELECT module_id, program FROM modules").fetchall()
    programs = dict(rows)
    found = run_query(connection, "loops", {"run": run}).dicts()
    return {
        (programs[row["module_id"]], row["instruction"]): [
            row["trip_count"],
            row["trip_count_from"],
        ]
        for row in found
    }


@pytest.mark.parametrize("name", CHANGES)
def test_only_a_loop_that_surely_counts_up_is_counted(
    loops: Connection, name: str
) -> None:
    trips = CHANGES[name][0]
    expected = [trips, None if trips is None else "condition"]
    assert counts(loops, name) == {("jit_f", "loop"): expected}


def test_counts_of_a_tpu_and_of_an_old_release_are_those_of_their_texts(
    reading: Connection,
) -> None:
    """Read by hand from conditions, bodies and tuples; jit_cg's end is computed."""
    assert counts(reading, "v5e-jax-0.10.2") == stated(
        {
            "jit_cg": {"while.15": None},
            "jit_gpt_fsdp": {"while.39": 2, "while.40": 2},
            "jit_gpt_scan_remat": {"while.39": 2, "while.40": 2},
        }
    )
    layers: dict[str, int | None] = {"while.382": 4, "while.8": 4}
    shards: dict[str, int | None] = {
        "while.6": 2,
        "while.2": 504,
        "while.12": 2,
        "while.3": 256,
    }
    assert counts(reading, "jaxlib-0.4.13") == stated(
        {
            "jit__unnamed_wrapped_function": shards,
            "jit_cg": {"while.46": None},
            "jit_cnn": {"while": 32_768, "while.1": 65_536, "while.2": 131_072},
            "jit_gpt_scan_remat": layers | {"while": 252, "while.1": 256},
            "jit_gpt_unrolled": {"while": 252, "while.1": 256},
            "jit_misc": {"while.5": 5, "while.3": 4},
        }
    )


def stated(
    programs: dict[str, dict[str, int | None]],
) -> dict[tuple[str, str], object]:
    """Return the answer of `counts` on loops that print only their condition."""
    return {
        (program, name): [trips, None if trips is None else "condition"]
        for program, loops in programs.items()
        for name, trips in loops.items()
    }


@pytest.mark.slow
def test_counts_are_those_that_xla_prints(reading: Connection) -> None:
    """All whose condition is no fusion."""
    compared = {}
    for (run,) in reading.execute("SELECT name FROM runs").fetchall():
        counted, printed = (
            {
                (row["module_id"], row["instruction_id"]): row["trip_count"]
                for row in run_query(reading, name, {"run": run}).dicts()
                if row.get("trip_count_from") != "condition"
            }
            for name in ("counted_loops", "loops")
        )
        both = {key for key in counted if printed.get(key) is not None}
        if both:
            compared[run] = len(both)
        assert {k: counted[k] for k in both} == {k: printed[k] for k in both}
    assert compared == {
        "jaxlib-0.4.35": 15,
        "jaxlib-0.5.3": 9,
        "jaxlib-0.6.2": 5,
        "jaxlib-0.7.2": 5,
    }


def test_loops_of_text_without_elements_are_counted(compact_warehouse: Path) -> None:
    with connect(compact_warehouse) as connection:
        assert counts(connection, "cpu-jaxlib-0.12.0") == {
            ("jit_cg", "while.0"): [None, None],
            ("jit_misc", "while.12"): [5, "condition"],
        }


def test_what_is_stacked_is_unknown_where_the_trip_count_is(
    reading: Connection,
) -> None:
    """And else the carried arrays of that first dimension, each place once."""
    places = reading.execute(
        "SELECT m.program, p.instruction, v.color, v.shape, a.allocation_id,"
        " a.offset_bytes, a.size_bytes FROM value_positions AS p"
        ' JOIN "values" AS v USING (module_id, value_id)'
        " JOIN allocation_values AS a USING (module_id, value_id)"
        " JOIN modules AS m USING (module_id) JOIN runs AS r USING (run_id)"
        " WHERE r.name = 'v5e-jax-0.10.2'"
    ).fetchall()
    known = counts(reading, "v5e-jax-0.10.2")
    rows = run_query(reading, "loop_memory", {"run": "v5e-jax-0.10.2"}).dicts()
    assert len(rows) > 10
    for row in rows:
        key = (row["program"], row["instruction"])
        assert [row["trip_count"], row["trip_count_from"]] == known[key]
        first = re.compile(rf"\w+\[{row['trip_count']}[\],]")
        stacked = {
            place
            for program, name, color, shape, *place_ in places
            if (program, name, color) == (*key, row["color"]) and first.match(shape)
            for place in [tuple(place_)]
        }
        total = sum(size for *_, size in stacked)
        assert row["stacked_bytes"] == (None if row["trip_count"] is None else total)


def test_a_collective_of_a_loop_counts_with_each_trip(reading: Connection) -> None:
    asked: dict[str, Value] = {
        "run": "v5e-jax-0.10.2",
        "program": "jit_gpt_fsdp",
        "top": 1000,
    }
    rows = run_query(reading, "collective_inventory", asked).dicts()
    in_loops = {r["instruction"] for r in rows if "/while/body" in (r["op_name"] or "")}
    assert in_loops
    assert {r["instruction"] for r in rows if r["times"] == 2} == in_loops
    assert all(r["times_known"] for r in rows)
