"""Programs are found again under other names, numbers and places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.nights import Facts, made, module, other

UNLIKE: dict[str, Any] = {
    "shapes": "(s32[2])->s32[]",
    "source_shapes": "(s32[2])->s32[]",
    "graph": None,
    "source_graph": None,
}
"""What `other` has in common with itself, and these have not."""

ALIKE = {"dot": 9}
OTHERWISE: dict[str, Any] = {
    "graph": 2,
    "exact": 1,
    "source_graph": 3,
    "program_key": 9,
}


class Ladder:
    """The ladder between two nights of a warehouse of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "w.duckdb"

    def rows(self, base: list[Facts], candidate: list[Facts]) -> list[dict[str, Any]]:
        with connect(made(self.path, base, candidate)) as connection:
            asked = {"base_ids": [1], "candidate_ids": [2]}
            found = run_query(connection, "module_ladder", asked).dicts()
            back = {"base_ids": [2], "candidate_ids": [1]}
            mirrored = run_query(connection, "module_ladder", back).dicts()
        assert {(r["base_place"], r["candidate_place"]) for r in found} == {
            (r["candidate_place"], r["base_place"]) for r in mirrored
        }
        return found

    def ways(
        self, base: list[Facts], candidate: list[Facts]
    ) -> list[tuple[str | None, str | None, str | None, float | None]]:
        shown = ("base_program", "candidate_program", "method", "confidence")
        rows = self.rows(base, candidate)
        return sorted((tuple(r[name] for name in shown) for r in rows), key=repr)

    def numbers(self, base: list[Facts], candidate: list[Facts]) -> set[Any]:
        rows = self.rows(base, candidate)
        return {(r["base_module_number"], r["candidate_module_number"]) for r in rows}


@pytest.fixture
def ladder(tmp_path: Path) -> Ladder:
    return Ladder(tmp_path)


def test_the_same_name_and_shapes(ladder: Ladder) -> None:
    candidate = module(number=9, exact=99)
    assert ladder.ways([module()], [candidate]) == [("jit_f", "jit_f", "program", 1.0)]


def test_the_nth_compilation_goes_with_the_nth(ladder: Ladder) -> None:
    base = [module(number=n) for n in (3, 5)]
    candidate = [module(number=n) for n in (4, 8)]
    assert ladder.numbers(base, candidate) == {(3, 4), (5, 8)}


@pytest.mark.parametrize(
    ("differs", "method", "confidence"),
    [
        ({}, "exact fingerprint", 0.95),
        ({"exact": 1}, "graph fingerprint", 0.9),
        ({"exact": 1, "graph": 2}, "source graph fingerprint", 0.9),
    ],
)
def test_another_name_and_the_same_content(
    ladder: Ladder, differs: Facts, method: str, confidence: float
) -> None:
    found = ladder.ways([module("jit_a")], [module("jit_b", program_key=9, **differs)])
    assert found == [("jit_a", "jit_b", method, confidence)]


def test_another_name_and_a_like_content(ladder: Ladder) -> None:
    base = module("jit_a", opcodes={"dot": 9, "add": 1})
    candidate = module("jit_b", **OTHERWISE, opcodes=ALIKE)
    assert ladder.ways([base], [candidate]) == [
        ("jit_a", "jit_b", "entry shapes and opcodes", 0.9)
    ]


def test_another_name_and_reordered_arguments(ladder: Ladder) -> None:
    shapes = "(f32[8,4], s32[], f32[4])->(f32[4], f32[8])"
    reordered = "(f32[4], f32[8,4], s32[])->(f32[8], f32[4])"
    base = module("jit_a", shapes=shapes, source_shapes=shapes, opcodes=ALIKE)
    changed = {**OTHERWISE, "shapes": reordered, "source_shapes": reordered}
    candidate = module("jit_b", **changed, opcodes=ALIKE)
    assert ladder.ways([base], [candidate]) == [
        ("jit_a", "jit_b", "entry shapes and opcodes", 1.0)
    ]


def test_programs_that_only_share_their_shapes_are_not_the_same(
    ladder: Ladder,
) -> None:
    base = module("jit_a", opcodes={"dot": 4, "add": 6})
    candidate = module("jit_b", **OTHERWISE, opcodes={"dot": 4})
    assert ladder.ways([base], [candidate]) == [
        ("jit_a", None, None, None),
        (None, "jit_b", None, None),
    ]


def test_partitioned_shapes_changed_and_the_source_did_not(ladder: Ladder) -> None:
    candidate = module(**{**OTHERWISE, "shapes": "(f32[4])->f32[4]"})
    (row,) = ladder.rows([module()], [candidate])
    assert (row["method"], row["confidence"]) == ("program and source shapes", 0.95)
    assert row["differing_keys"] == ""


def test_of_equal_names_and_shapes_the_content_tells(ladder: Ladder) -> None:
    base = [module(number=1), module(number=2, exact=2)]
    inserted = module(number=3, exact=3, source_graph=3)
    changed = module(number=5, exact=4)
    found = ladder.numbers(base, [inserted, {**base[1], "number": 4}, changed])
    assert found == {(2, 4), (1, 5), (None, 3)}


@pytest.mark.slow
def test_a_name_alone_tells_where_one_program_has_it(ladder: Ladder) -> None:
    base = [other("graph", program_key=key, exact=key) for key in (1, 2)]
    candidate = [
        other("graph", **UNLIKE, program_key=key, exact=key, opcodes={"add": 1})
        for key in (3, 4)
    ]
    base = [{**each, "opcodes": {"dot": 1}} for each in base]
    assert ladder.ways(base[:1], candidate[:1]) == [
        ("graph", "graph", "program name", 0.7)
    ]
    assert {row["method"] for row in ladder.rows(base, candidate)} == {None}


def test_of_equal_names_the_most_alike_go_together(ladder: Ladder) -> None:
    """A pair that is better than another takes its module, and that looks again."""
    base = [
        other("graph", number=1, opcodes={"a": 8, "b": 2}),
        other("graph", number=2, opcodes={"a": 6, "b": 4}),
    ]
    candidate = [
        other("graph", **UNLIKE, number=3, program_key=3, exact=3,
              opcodes={"a": 6, "b": 2, "c": 2}),
        other("graph", **UNLIKE, number=4, program_key=4, exact=4,
              opcodes={"a": 8, "b": 2}),
    ]  # fmt: skip
    # Opcodes are those of modules, as candidates have no source.
    base = [{**each, "source_graph": None, "source_exact": None} for each in base]
    candidate = [{**each, "source_exact": None} for each in candidate]
    found = {
        (r["base_module_number"], r["candidate_module_number"]): (
            r["method"],
            r["confidence"],
        )
        for r in ladder.rows(base, candidate)
    }
    way = "program name and opcodes"
    assert found[1, 4] == (way, 1.0)
    assert found[2, 3] == (way, 0.6667)
    assert len(found) == 2


@pytest.mark.slow
def test_of_many_of_one_name_those_nearby_are_compared(ladder: Ladder) -> None:
    """Each is most like that of its place; those far away are not even looked at."""

    def graphs(first_key: int, **more: Any) -> list[Facts]:
        return [
            other("graph", program_key=first_key + at, exact=first_key + at,
                  graph=None, source_graph=None, source_exact=None,
                  opcodes={f"op{at}": 3, "add": 1}, **more)
            for at in range(120)
        ]  # fmt: skip

    base = graphs(10_000)
    shapes = {"shapes": "(s32[2])->s32[]", "source_shapes": "(s32[2])->s32[]"}
    found = ladder.numbers(base, graphs(20_000, **shapes))
    assert found == {(at, at) for at in range(1, 121)}
    far = [*graphs(30_000)[1:], base[0]]
    moved = [{**each, "exact": each["exact"] + 5_000} for each in far]
    moved = [
        {**each, **shapes, "program_key": 7_000 + at} for at, each in enumerate(moved)
    ]
    assert (1, 120) not in ladder.numbers(base, moved)


def test_other_shapes_are_matched_but_not_comparable(ladder: Ladder) -> None:
    (row,) = ladder.rows([module()], [other("jit_f")])
    assert (row["method"], row["differing_keys"]) == ("program name", "input shapes")


def test_partitions_and_platforms_are_keys(ladder: Ladder) -> None:
    (row,) = ladder.rows([module()], [module(num_partitions=8, platform="tpu")])
    assert row["differing_keys"] == "num_partitions, platform"


def test_partitions_that_an_old_release_does_not_print_are_unknown(
    ladder: Ladder,
) -> None:
    old = module(shapes="(f32[4])->f32[4]")
    (row,) = ladder.rows([old], [{**old, "num_partitions": 2}])
    assert row["differing_keys"] == ""


def test_ranks_are_matched_apart(ladder: Ladder) -> None:
    base = [module(rank=0), module(rank=1)]
    assert ladder.ways(base, [module(rank=1)]) == [
        ("jit_f", "jit_f", "program", 1.0),
        ("jit_f", None, None, None),
    ]


def test_ranks_of_renamed_programs_are_matched_apart(ladder: Ladder) -> None:
    """However alike they are, and in whichever order they come."""
    base = [module("jit_a", rank=rank, number=rank) for rank in (0, 1)]
    candidate = [
        module("jit_b", **OTHERWISE, rank=rank, number=rank) for rank in (1, 0)
    ]
    assert ladder.numbers(base, candidate) == {(0, 0), (1, 1)}


def test_a_track_goes_on_after_a_missed_night_and_a_new_name(tmp_path: Path) -> None:
    nights = [[module("jit_a")], [], [module("jit_b", program_key=9)], [other("jit_c")]]
    with connect(made(tmp_path / "w.duckdb", *nights)) as connection:
        rows = run_query(connection, "program_tracks").dicts()
    shown = ("track", "run", "program", "method", "earlier_run_id")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        (1, "r1", "jit_a", None, None),
        (1, "r3", "jit_b", "exact fingerprint", 1),
        (2, "r4", "jit_c", None, None),
    ]


def test_tracks_are_those_of_the_latest_series(tmp_path: Path) -> None:
    nights = [[module("jit_a")], [module("jit_a")], [module("jit_a")]]
    runs = [{"series": name} for name in ("s", "other", "s")]
    with connect(made(tmp_path / "w.duckdb", *nights, runs=runs)) as connection:
        rows = run_query(connection, "program_tracks").dicts()
    assert [(row["track"], row["run"]) for row in rows] == [(1, "r1"), (1, "r3")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gone", "kept", "new", "missing"),
    [
        ([1], [0], [], ["1"]),
        ([1, 2], [0], [3], ["2"]),
        ([0], [0], [], []),
    ],
)
def test_new_namesakes_may_be_what_became_of_those_that_are_gone(
    tmp_path: Path, gone: list[int], kept: list[int], new: list[int], missing: list[str]
) -> None:
    def graph(key: int, unit: int) -> Facts:
        shapes = f"(f32[{key}])->f32[{key}]" if unit else f"(s32[{key},1])->s32[]"
        return module(
            "graph", program_key=key, shapes=shapes, source_shapes=shapes, graph=None,
            exact=100 * unit + key, source_graph=None, source_exact=None,
            opcodes={f"op{key}{unit}": 1},
        )  # fmt: skip

    base = [graph(key, 1) for key in (*kept, *gone)]
    candidate = [*base[: len(kept)], *(graph(key, 2) for key in new)]
    with connect(made(tmp_path / "w.duckdb", base, candidate)) as connection:
        rows = run_query(connection, "matched_compilations").dicts()
    found = {r["base_place"] for r in rows if r["relation"] == "missing"}
    places = {str(key): place for place, key in enumerate((*kept, *gone), 1)}
    assert found == {places[key] for key in missing}
