"""Pictures are drawn to scale: axes, waterfalls, curves, headroom and series."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_curves import draw_curves
from hlodb.reports.pictures.draw_headroom import draw_headroom
from hlodb.reports.pictures.draw_trend import draw_trend
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_findings
from hlodb.reports.pictures.svg import Axis, byte_axis, count_axis
from hlodb.reports.read.capacity import Capacity
from hlodb.reports.read.drawn.curves import Curve, Schedule
from hlodb.reports.read.history import Point, Trend
from tests.reports.pages import Element, read_page

MIB = 1 << 20
GIB = 1 << 30

AXES: list[tuple[list[int], str, list[str]]] = [
    ([0, 6 * MIB], "MiB", ["0", "2", "4", "6"]),
    ([28 * MIB, 31 * MIB], "MiB, not from 0", ["28", "29", "30", "31"]),
    (
        [10 * GIB, 10 * GIB + 2 * MIB],
        "MiB above 10.00 GiB",
        ["0.0", "0.5", "1.0", "1.5", "2.0"],
    ),
    ([2**53 + 1, 2**53 + 2], "B above 8.00 PiB", ["0", "1"]),
    ([88, 64], "B", ["0", "50", "100"]),
    ([100, 91], "B, not from 0", ["90", "95", "100"]),
    ([0], "B", ["0", "1"]),
    ([MIB, MIB], "MiB", ["0.0", "0.5", "1.0"]),
    ([-MIB, MIB], "MiB", ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
]


@pytest.mark.parametrize(("sizes", "unit", "names"), AXES)
def test_sizes_have_an_axis_in_their_unit(
    sizes: list[int], unit: str, names: list[str]
) -> None:
    axis = byte_axis(sizes, 0, 100)
    assert (axis.unit, [name for _, name in axis.ticks]) == (unit, names)


@pytest.mark.parametrize(
    ("highest", "names"),
    [
        (0, ["0", "1"]),
        (3, ["0", "1", "2", "3"]),
        (735, ["0", "200", "400", "600", "800"]),
        (1843, ["0", "500", "1,000", "1,500", "2,000"]),
    ],
)
def test_counts_have_whole_ticks(highest: int, names: list[str]) -> None:
    axis = count_axis(highest, "step", 0, 100)
    assert [name for _, name in axis.ticks] == names


@given(st.lists(st.integers(-(2**40), 2**63 - 1), min_size=1, max_size=9))
def test_every_size_has_its_place_on_an_axis(sizes: list[int]) -> None:
    axis = byte_axis(sizes, 500, 20)
    names = [name for _, name in axis.ticks]
    assert len(set(names)) == len(names) >= 2
    # Axes count in floats, which are coarser than bytes from 2^53 on.
    assert axis.low <= float(min(sizes))
    assert axis.high >= float(max(sizes))
    for smaller, larger in pairwise(sorted(sizes)):
        assert 500 >= axis.at(smaller) >= axis.at(larger) >= 20


def drawn(picture: Picture) -> Element:
    return read_page(svg(picture))


def boxes(picture: Picture, *kinds: str) -> list[tuple[float, float]]:
    """Return from where to where the bars of these classes reach."""
    return [
        (float(b["x"]), float(b["x"]) + float(b["width"]))
        for b in (e.attributes for e in drawn(picture).all("rect"))
        if b["class"] in kinds
    ]


@pytest.mark.slow
def test_a_waterfall_leads_from_base_to_candidate(
    reported: Callable[[str], Report],
) -> None:
    """Each bar begins where the one before it ended; a size is as long everywhere."""
    report = reported("one_regression")
    (finding,) = (f for f in report.findings if f.parts)
    waterfall, *_ = pictures_of_findings(report)[finding.id]
    assert boxes(waterfall, "base") == [(250, 490)]
    assert boxes(waterfall, "worse", "better") == [(490, 610)]
    assert boxes(waterfall, "candidate") == [(250, 610)]
    labels = [t.text for t in drawn(waterfall).all("text")]
    assert labels[-6:] == [
        "base", "4.00 MiB", "new: temporaries", "+2.00 MiB", "candidate", "6.00 MiB",
    ]  # fmt: skip


@pytest.mark.slow
def test_bars_that_do_not_begin_at_zero_are_marked(
    reported: Callable[[str], Report],
) -> None:
    report = reported("huge_bytes")
    (waterfall, *_), *_ = pictures_of_findings(report).values()
    lines = [e.attributes["class"] for e in drawn(waterfall).all("line")]
    assert lines.count("cut") == len(("base", "candidate"))
    (whole, *_), *_ = pictures_of_findings(reported("one_regression")).values()
    assert "cut" not in [e.attributes["class"] for e in drawn(whole).all("line")]


def test_a_curve_holds_the_level_of_each_stretch() -> None:
    base = Schedule([2 * MIB, 4 * MIB, 4 * MIB], 4 * MIB, 11)
    candidate = Schedule([2 * MIB, 6 * MIB], 6 * MIB, 10)
    picture = draw_curves(Curve("f00d", 10, base, candidate), "jit_step host")
    first, second = (e.attributes["d"] for e in drawn(picture).all("path"))
    up, across = byte_axis([0, 6 * MIB], 270, 70), count_axis(30, "step", 64, 708)
    assert levels(first, up, across) == [(2, 10), (4, 20), (4, 30)]
    assert levels(second, up, across) == [(2, 10), (6, 20)]
    assert picture.text == (
        "jit_step host: live memory over the schedule; peak of the base 4.00 MiB at"
        " step 11, of the candidate 6.00 MiB at step 10."
    )
    assert picture.figures is not None
    assert picture.figures.rows == (
        ("0 to 9", "2.00 MiB", "2.00 MiB"),
        ("10 to 19", "4.00 MiB", "6.00 MiB"),
        ("20 to 29", "4.00 MiB", "-"),
    )


def levels(path: str, up: Axis, across: Axis) -> list[tuple[int, int]]:
    """Return the levels of a path in MiB, each with the step at which it ends."""
    heights = {round(up.at(n * MIB), 1): n for n in range(7)}
    steps = {round(across.at(n), 1): n for n in range(0, 31, 10)}
    found = re.findall(r"V([\d.]+)H([\d.]+)", path)
    return [(heights[float(y)], steps[float(x)]) for y, x in found]


def test_a_space_that_one_side_uses_has_one_curve() -> None:
    curve = Curve("f00d", 1, None, Schedule([MIB], MIB, 0))
    picture = draw_curves(curve, "jit_step VMEM")
    assert [e.attributes["class"] for e in drawn(picture).all("path")] == [
        "curve candidate"
    ]
    assert picture.figures is not None
    assert picture.figures.rows == (("0", "-", "1.00 MiB"),)


def test_headroom_is_what_the_bar_leaves_free() -> None:
    full, over = (
        Capacity(0, "HBM", 16 * GIB, 12 * GIB, 4 * GIB, 0.25, "jit_step", [], None),
        Capacity(1, "VMEM", 4 * MIB, 6 * MIB, -2 * MIB, -0.5, "jit_f", ["jit_f"], None),
    )
    picture = draw_headroom([full])
    assert boxes(picture, "room", "candidate") == [(90, 500), (90, 397.5)]
    assert picture.text == (
        "Headroom of the largest program of every memory space: HBM 25.0 %."
    )
    (room, used) = boxes(draw_headroom([over]), "room", "worse")
    assert used[1] - used[0] == pytest.approx(1.5 * (room[1] - room[0]), abs=0.2)


def test_a_series_has_a_mark_per_run() -> None:
    points = [Point("n1", 4 * MIB, ""), Point("n2", 6 * MIB, "▲")]
    trend = Trend("jit_step", None, 1, 0, "host", points)
    picture = draw_trend(trend, "jit_step host", "trend-1")
    (path,) = drawn(picture).all("path")
    up = byte_axis([4 * MIB, 6 * MIB], 144, 40)
    assert path.attributes["d"] == f"M124 {up.at(4 * MIB):.1f}L648 {up.at(6 * MIB):.0f}"
    marks = [
        t.text for t in drawn(picture).all("text") if "step" in t.attributes["class"]
    ]
    assert marks == ["▲"]
    assert picture.text == 'jit_step host: 4.00 MiB in run "n1", 6.00 MiB in run "n2".'
    assert picture.figures is not None
    assert picture.figures.rows == (
        ("1", "n1", "4.00 MiB", ""),
        ("2", "n2", "6.00 MiB", "▲"),
    )
