"""Programs are found again under other names, numbers and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlodb.reports.facts import Module, Run
from hlodb.reports.match import (
    Match,
    differing_keys,
    match_modules,
    similarity,
)
from hlodb.reports.tracks import follow

PLAIN = Module(
    run_id=1,
    module_id=1,
    locations_id=1,
    module_number=1,
    rank=None,
    program="jit_f",
    program_key=7,
    platform="cpu",
    num_partitions=1,
    entry_shapes="(f32[8])->f32[8]",
    source_shapes="(f32[8])->f32[8]",
    graph_fingerprint=11,
    exact_fingerprint=12,
    source_id=2,
    source_graph=21,
    source_exact=22,
    path="m.txt",
    has_assignment=True,
)


def module(program: str = "jit_f", **more: Any) -> Module:
    return PLAIN._replace(program=program, **more)


def other(program: str, **more: Any) -> Module:
    """A program that has nothing of PLAIN."""
    facts = {
        "program_key": 8,
        "entry_shapes": "(s32[])->s32[]",
        "source_shapes": "(s32[])->s32[]",
        "graph_fingerprint": 13,
        "exact_fingerprint": 14,
        "source_graph": 23,
        "source_exact": 24,
    }
    return module(program, **{**facts, **more})


UNLIKE: dict[str, Any] = {
    "entry_shapes": "(s32[2])->s32[]",
    "source_shapes": "(s32[2])->s32[]",
    "graph_fingerprint": None,
    "source_graph": None,
}
"""What `other` has in common with itself, and these have not."""


def alike(score: float):  # type: ignore[no-untyped-def]
    return lambda pairs: [score for _ in pairs]


def unasked(pairs: Sequence[tuple[Module, Module]]) -> list[float]:
    assert pairs == []
    return []


def ways(base: list[Module], candidate: list[Module], score: float = 0.0) -> object:
    matches, gone, new = match_modules(base, candidate, alike(score))
    return (
        [
            (m.base.program, m.candidate.program, m.method, m.confidence)
            for m in matches
        ],
        [m.program for m in gone],
        [m.program for m in new],
    )


def test_the_same_name_and_shapes() -> None:
    base, candidate = [module()], [module(module_number=9, exact_fingerprint=99)]
    assert ways(base, candidate) == ([("jit_f", "jit_f", "program", 1.0)], [], [])


def test_the_nth_compilation_goes_with_the_nth() -> None:
    base = [module(module_number=n, module_id=n) for n in (3, 5)]
    candidate = [module(module_number=n, module_id=n) for n in (4, 8)]
    matches, _, _ = match_modules(base, candidate, unasked)
    pairs = [(m.base.module_number, m.candidate.module_number) for m in matches]
    assert pairs == [(3, 4), (5, 8)]


def test_another_name_and_the_same_content() -> None:
    found = ways([module("jit_a")], [module("jit_b", program_key=9)])
    assert found == ([("jit_a", "jit_b", "exact fingerprint", 0.95)], [], [])


def test_another_name_and_a_like_content() -> None:
    candidate = module(
        "jit_b", program_key=9, exact_fingerprint=1, graph_fingerprint=2, source_graph=3
    )
    found = ways([module("jit_a")], [candidate], 0.9)
    assert found == ([("jit_a", "jit_b", "entry shapes and opcodes", 0.9)], [], [])


def test_programs_that_only_share_their_shapes_are_not_the_same() -> None:
    candidate = module(
        "jit_b", program_key=9, exact_fingerprint=1, graph_fingerprint=2, source_graph=3
    )
    assert ways([module("jit_a")], [candidate], 0.4) == ([], ["jit_a"], ["jit_b"])


def test_partitioned_shapes_changed_and_the_source_did_not() -> None:
    candidate = module(program_key=9, entry_shapes="(f32[4])->f32[4]")
    found = ways([module()], [candidate])
    way = ("jit_f", "jit_f", "program and source shapes", 0.95)
    assert found == ([way], [], [])
    assert differing_keys(Match(PLAIN, candidate, "", 0)) == []


def test_of_equal_names_and_shapes_the_content_tells() -> None:
    base = [module(module_id=1), module(module_id=2, exact_fingerprint=2)]
    inserted = module(module_id=3, exact_fingerprint=3, source_graph=3)
    changed = module(module_id=4, exact_fingerprint=4)
    found, gone, new = match_modules(base, [inserted, base[1], changed], unasked)
    assert [(m.base.module_id, m.candidate.module_id) for m in found] == [
        (2, 2),
        (1, 4),
    ]
    assert (gone, new) == ([], [inserted])


def test_a_name_alone_tells_where_one_program_has_it() -> None:
    base = [other("graph", program_key=key, exact_fingerprint=key) for key in (1, 2)]
    candidate = [
        other("graph", program_key=key, exact_fingerprint=key, **UNLIKE)
        for key in (3, 4)
    ]
    assert ways(base[:1], candidate[:1])[0] == [  # type: ignore[index]
        ("graph", "graph", "program name", 0.7)
    ]
    assert ways(base, candidate) == ([], ["graph"] * 2, ["graph"] * 2)


def test_of_equal_names_the_most_alike_go_together() -> None:
    base = [other("graph", module_id=1), other("graph", module_id=2)]
    candidate = [
        other("graph", module_id=key, program_key=key, exact_fingerprint=key, **UNLIKE)
        for key in (3, 4)
    ]
    likeness = {(1, 3): 0.6, (1, 4): 0.9, (2, 3): 0.7, (2, 4): 0.8}
    found, _, _ = match_modules(
        base,
        candidate,
        lambda asked: [likeness[b.module_id, c.module_id] for b, c in asked],
    )
    assert [
        (m.base.module_id, m.candidate.module_id, m.method, m.confidence) for m in found
    ] == [
        (1, 4, "program name and opcodes", 0.9),
        (2, 3, "program name and opcodes", 0.7),
    ]


def test_of_thousands_of_one_name_those_nearby_are_compared() -> None:
    asked: list[tuple[Module, Module]] = []

    def similarities(pairs: Sequence[tuple[Module, Module]]) -> list[float]:
        asked.extend(pairs)
        return [float(b.module_number == c.module_number) for b, c in pairs]

    def graphs(first_key: int, **more: Any) -> list[Module]:
        return [
            other(
                "graph", module_number=at, program_key=first_key + at,
                exact_fingerprint=first_key + at, **more,
            )
            for at in range(1_000)
        ]  # fmt: skip

    base, candidate = graphs(10_000), graphs(20_000, **UNLIKE)
    base = [m._replace(graph_fingerprint=None, source_graph=None) for m in base]
    found, gone, new = match_modules(base, candidate, similarities)
    assert {m.base.module_number == m.candidate.module_number for m in found} == {True}
    assert (len(found), gone, new) == (1_000, [], [])
    assert len(asked) == 1_000 * 201 - 100 * 101


def test_other_shapes_are_matched_but_not_comparable() -> None:
    candidate = other("jit_f")
    assert ways([module()], [candidate])[0] == [  # type: ignore[index]
        ("jit_f", "jit_f", "program name", 0.7)
    ]
    assert differing_keys(Match(PLAIN, candidate, "", 0)) == ["entry shapes"]


def test_partitions_and_platforms_are_keys() -> None:
    candidate = module(num_partitions=8, platform="tpu")
    keys = differing_keys(Match(PLAIN, candidate, "", 0))
    assert keys == ["num_partitions", "platform"]


def test_partitions_that_an_old_release_does_not_print_are_unknown() -> None:
    old = module(entry_shapes="(f32[4])->f32[4]")
    new = old._replace(num_partitions=2)
    assert differing_keys(Match(old, new, "", 0)) == []


def test_ranks_are_matched_apart() -> None:
    base = [module(rank=0), module(rank=1)]
    found = ways(base, [module(rank=1)])
    assert found == ([("jit_f", "jit_f", "program", 1.0)], ["jit_f"], [])


def test_ranks_of_renamed_programs_are_matched_apart() -> None:
    """However alike they are, and in whichever order they come."""
    base = [module("jit_a", rank=rank) for rank in (0, 1)]
    candidate = [
        other("jit_b", rank=rank, entry_shapes=PLAIN.entry_shapes) for rank in (1, 0)
    ]
    matches, gone, new = match_modules(base, candidate, alike(0.9))
    assert {(m.base.rank, m.candidate.rank) for m in matches} == {(0, 0), (1, 1)}
    assert (gone, new) == ([], [])


def test_similarity_counts_equal_opcodes() -> None:
    assert similarity({"add": 3, "dot": 1}, {"add": 1, "exp": 1}) == 1 / 5
    assert similarity({}, {}) == 1.0


def test_a_track_goes_on_after_a_missed_night_and_a_new_name() -> None:
    nights = [[module("jit_a")], [], [module("jit_b", program_key=9)], [other("jit_c")]]
    runs = [_run(number) for number in range(len(nights))]
    tracks = follow(runs, dict(enumerate(nights)), alike(0))
    found = [[(s.run.run_id, s.module.program) for s in t.sightings] for t in tracks]
    assert found == [[(0, "jit_a"), (2, "jit_b")], [(3, "jit_c")]]


def _run(number: int) -> Run:
    return Run(number, f"r{number}", *[None] * 13)
