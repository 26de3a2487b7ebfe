"""Maps of arenas are drawn to scale, and say what they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

import pytest

from hlodb.reports.pictures.draw_arenas import draw_arenas
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.read.drawn.arenas import (
    MOST_VALUES,
    STATUSES,
    ArenaMap,
    Beside,
    MappedValue,
    PlacedValue,
    ValueFacts,
)
from tests.reports.arena_maps import (
    BASE_ARENA,
    CANDIDATE_ARENA,
    IN_CANDIDATE,
    MIB,
    VALUES,
)
from tests.reports.pages import Element, read_page
from tests.reports.worlds import STEPS


def test_a_value_is_drawn_where_and_when_it_lives() -> None:
    arena_map = ArenaMap("f00d", BASE_ARENA, CANDIDATE_ARENA, VALUES)
    picture = draw_arenas(arena_map, "jit_f host")
    kept = "same: kept, 2.00 MiB at 0 B, step 0 to 10"
    grown = "larger by 1.00 MiB: exp"
    assert rectangles(picture, 0) == [
        ("same", (0, 11), (0, 2), kept),
        ("gone", (6, 9), (2, 3), "gone: copy, 1.00 MiB at 2.00 MiB, step 6 to 8"),
        ("larger", (1, 5), (2, 3), f"{grown}, 1.00 MiB at 2.00 MiB, step 1 to 4"),
    ]
    assert rectangles(picture, 1) == [
        ("same", (0, 11), (0, 2), kept),
        ("larger", (1, 5), (2, 4), f"{grown}, 2.00 MiB at 2.00 MiB, step 1 to 4"),
        ("new", (4, 10), (5, 6), "new: mask, 1.00 MiB at 5.00 MiB, step 4 to 9"),
        ("new", (4, 7), (2, 4), "new: add, 2.00 MiB at 2.00 MiB, step 4 to 6"),
    ]
    peaks = [e.attributes for e in drawn(picture).all("line") if is_peak(e)]
    assert [round(step(peak["x1"]), 1) for peak in peaks] == [1.5, 4.5]


def test_a_map_says_how_full_the_arenas_are_and_what_is_new() -> None:
    arena_map = ArenaMap("f00d", BASE_ARENA, CANDIDATE_ARENA, VALUES)
    picture = draw_arenas(arena_map, "jit_f host")
    assert picture.text == (
        "jit_f host: free of the arena at its fullest step: base 0.0 % of 3.00 MiB,"
        " candidate 16.7 % of 6.00 MiB."
    )
    assert picture.more == (
        "Values drawn: 2 new, 1 larger, 1 gone, 1 same; the largest new is add,"
        " 2.00 MiB at 2.00 MiB, step 4 to 6. Base and candidate are matched by"
        " instruction, operation, framework path or shape."
    )
    assert picture.figures is not None
    kept = "kept", "2.00 MiB", "0 B", "0 to 10"
    none = ("",) * 4
    assert picture.figures.rows == (
        ("new", *none, "add", "2.00 MiB", "2.00 MiB", "4 to 6"),
        ("new", *none, "mask", "1.00 MiB", "5.00 MiB", "4 to 9"),
        (
            *("larger", "exp", "1.00 MiB", "2.00 MiB", "1 to 4"),
            *("exp", "2.00 MiB", "2.00 MiB", "1 to 4"),
        ),
        ("gone", "copy", "1.00 MiB", "2.00 MiB", "6 to 8", *none),
        ("same", *kept, *kept),
    )


def test_what_is_left_out_is_told() -> None:
    base = replace(BASE_ARENA, value_count=5, byte_steps=2 * BASE_ARENA.byte_steps)
    candidate = replace(CANDIDATE_ARENA, value_count=5, arena_count=2)
    more = draw_arenas(ArenaMap("f00d", base, candidate, VALUES), "jit_f host").more
    assert more.endswith(
        " Drawn is the largest arena of 2 of the candidate. Left out are 2 smaller"
        " values of the base (50.00 % of its bytes times steps) and 1 smaller value of"
        " the candidate (0.00 % of its bytes times steps)."
    )


def test_one_side_has_one_map_and_nothing_to_compare() -> None:
    values = [MappedValue("new", None, value) for value in IN_CANDIDATE.values()]
    picture = draw_arenas(ArenaMap("f00d", None, CANDIDATE_ARENA, values), "jit_f VMEM")
    assert picture.text == (
        "jit_f VMEM: free of the arena at its fullest step: candidate 16.7 % of"
        " 6.00 MiB."
    )
    assert len(rectangles(picture, 0)) == len(IN_CANDIDATE)
    assert rectangles(picture, 1) == []


def test_above_the_arena_lies_what_else_is_reserved() -> None:
    line = ValueFacts("f32[8]", "outputs", "train.py:9", False, (), 0)
    beside = (
        Beside("constant", 3, MIB),
        Beside("live_out", 1, MIB, "loss", 4, line),
        Beside("parameter", 1, 2 * MIB, "w"),
        Beside("parameter", 1, 3 * MIB, "v"),
    )
    arena = replace(CANDIDATE_ARENA, beside=beside)
    values = [MappedValue("live", None, IN_CANDIDATE["kept"])]
    picture = draw_arenas(ArenaMap("f00d", None, arena, values, True), "jit_f host")
    assert rectangles(picture, 0, 13 * MIB) == [
        ("live", (0, 11), (0, 2), "kept, 2.00 MiB at 0 B, step 0 to 10"),
        (
            *("beside", (4, 11), (6, 7)),
            "results: loss, 1.00 MiB, from step 4; f32[8]; outputs; defined at"
            " train.py:9",
        ),
        ("beside", (0, 11), (7, 10), "arguments: v, 3.00 MiB"),
        ("beside", (0, 11), (10, 12), "arguments: w, 2.00 MiB"),
        ("beside", (0, 11), (12, 13), "constants: 3 smaller, 1.00 MiB"),
    ]
    heads = [e.text for e in drawn(picture).all("text") if "above it" in e.text]
    assert heads == [
        "above it: arguments 5.00 MiB, constants 1.00 MiB, results 1.00 MiB"
    ]


def test_only_what_one_side_has_is_hatched() -> None:
    arena_map = ArenaMap("f00d", BASE_ARENA, CANDIDATE_ARENA, VALUES)
    picture = draw_arenas(arena_map, "jit_f host")
    fills = {kind: group.attributes["fill"] for kind, group in groups(picture)}
    assert {kind: fill for kind, fill in fills.items() if "url" in fill} == {
        "new": "url(#new-f00d)",
        "gone": "url(#gone-f00d)",
    }
    assert fills.keys() == {"new", "gone", "larger", "same"}
    hatches = {e.attributes["id"] for e in drawn(picture).all("pattern")}
    assert hatches == {"new-f00d", "gone-f00d"}


@pytest.mark.parametrize("status", STATUSES)
def test_what_becomes_of_a_value_has_its_colour(status: str) -> None:
    placed = PlacedValue("add", 0, MIB, 0, 9)
    values = [MappedValue(status, placed, placed)]
    picture = draw_arenas(ArenaMap("f00d", BASE_ARENA, BASE_ARENA, values), "jit_f")
    (kind,) = {kind for kind, _ in groups(picture)}
    style = (files("hlodb.reports") / "report.css").read_text()
    drawn_as = f".stripe.{kind} {{" if status in ("new", "gone") else f".value.{kind}"
    assert drawn_as in style


def test_a_long_hostile_name_is_cut_before_it_is_written() -> None:
    name = "</title><script>" * 1000
    value = MappedValue("new", None, PlacedValue(name, 0, MIB, 0, 9))
    arena_map = ArenaMap("f00d", None, BASE_ARENA, [value])
    picture = draw_arenas(arena_map, "jit_f host")
    assert not list(drawn(picture).all("script"))
    assert len(svg(picture)) < 5_000
    (row,) = picture.figures.rows if picture.figures else ()
    assert len(row[5]) <= 80


def test_three_full_maps_fit_a_page_with_room_to_spare() -> None:
    """Each side holds its own largest values, and what those of the other match."""
    name = "wrapped_broadcast_multiply_reduce-window_fusion.clone.clone.1234{0}"
    placed = PlacedValue(name, 123 * MIB, 45 * MIB, 12_345, 67_890)
    values = [MappedValue("same", placed, placed)] * (2 * MOST_VALUES)
    picture = draw_arenas(
        ArenaMap("f00d", BASE_ARENA, CANDIDATE_ARENA, values), "jit_f host"
    )
    assert len(svg(picture)) < 300_000


Rectangle = tuple[str, tuple[float, float], tuple[float, float], str]


def drawn(picture: Picture) -> Element:
    return read_page(svg(picture))


def rectangles(picture: Picture, place: int, size: int = 6 * MIB) -> list[Rectangle]:
    """Return what is drawn in one map: steps, MiB from and to, and words."""
    bottom, height = 330 + 352 * place, 230
    found = []
    for kind, e in values_of(picture):
        at = {k: float(v) for k, v in e.attributes.items() if k in "xywidtheight"}
        if not e.parts or not bottom - height - 1 < at["y"] < bottom:
            continue
        steps = step(at["x"]), step(at["x"] + at["width"])
        ends = bottom - at["y"] - at["height"], bottom - at["y"]
        first, last = (end / height * size / MIB for end in ends)
        found.append((kind, rounded(*steps), rounded(first, last), e.text.strip()))
    return found


def groups(picture: Picture) -> Iterator[tuple[str, Element]]:
    """Yield the groups of values by what became of them."""
    for group in drawn(picture).all("g"):
        kind = group.attributes.get("class", "")
        if kind.startswith("value "):
            yield kind.removeprefix("value "), group


def values_of(picture: Picture) -> Iterator[tuple[str, Element]]:
    """Yield what became of each value, and its rectangle."""
    for kind, group in groups(picture):
        for rectangle in group.all("rect"):
            yield kind, rectangle


def rounded(first: float, last: float) -> tuple[float, float]:
    return round(first, 1), round(last, 1)


def step(x: str | float) -> float:
    """Return the step at a pixel, of a schedule from 0 to 10."""
    return (float(x) - 64) / (708 - 64) * (STEPS + 1)


def is_peak(element: Element) -> bool:
    return element.attributes["class"] == "moment"
