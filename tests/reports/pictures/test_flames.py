"""Memory by part of the model: sums that close, drawn to scale."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.load.delete import prune_runs
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_flames import MOST_DEEP, MOST_FRAMES, draw_flames
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_findings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.drawn.flames import FlamePair, Frame
from hlodb.schema.warehouse import connect
from tests.reports.pages import Element, read_page
from tests.reports.situations import night
from tests.reports.worlds import Buffer, Program, make

MIB = 1 << 20
FRAMES = (
    Frame(
        "net",
        3 * MIB,
        5 * MIB,
        (
            Frame("down", 0, 2 * MIB, (Frame("a", 0, MIB), Frame("b", 0, MIB))),
            Frame("up/dot", 2 * MIB, 2 * MIB),
            Frame("norm", MIB, MIB),
        ),
    ),
    Frame("loss", MIB, 0),
    Frame("(no op_name)", 0, 2**10),
)
PAIR = FlamePair("f00d", FRAMES)


def report_of(path: Path) -> Report:
    with connect(path) as connection:
        settings = Settings(floor_bytes=0, floor_ratio=0.0)
        return build_report(connection, Request(), settings)


@pytest.mark.slow
def test_buffers_are_summed_up_along_their_paths(tmp_path: Path) -> None:
    up = Buffer("up", 2 * MIB, "f32[7]", "jit(f)/net/up/dot", offset=0)
    norm = Buffer("norm", MIB, "f32[5]", "jit(f)/net/norm", offset=2 * MIB)
    loss = Buffer("loss", MIB, "f32[3]", "jit(f)/loss", offset=3 * MIB)
    a = Buffer("a", MIB, "s32[9]", "jit(f)/net/down/a", offset=3 * MIB)
    b = Buffer("b", MIB, "s8[11]", "jit(f)/net/down/b", offset=4 * MIB)
    iota = Buffer("i", 2**10, "u32[1]", "", offset=5 * MIB)
    sides = ((up, norm, loss), (up, norm, a, b, iota))
    nights = (night(number, Program("jit_f", s)) for number, s in enumerate(sides, 1))
    report = report_of(make(tmp_path / "hlodb.duckdb", *nights))
    (finding,) = report.findings
    assert report.flames == [FlamePair(finding.id, FRAMES)]


@pytest.mark.slow
def test_paths_of_any_depth(tmp_path: Path) -> None:
    """Each of many calls within one another holds something itself."""
    nested = [
        Buffer(f"v{n}", MIB, f"f32[{n + 1}]", "f/" * n + "x", offset=n * MIB)
        for n in range(400)
    ]
    nights = (
        night(number, Program("jit_f", tuple(nested[:count])))
        for number, count in enumerate((300, 400), 1)
    )
    (pair,) = report_of(make(tmp_path / "hlodb.duckdb", *nights)).flames
    assert (pair.base_bytes, pair.candidate_bytes) == (300 * MIB, 400 * MIB)
    deepest = max(path.count("/") for f in pair.frames for path, _ in f.walk())
    assert deepest == 399


@pytest.mark.slow
def test_frames_add_up_to_what_is_held(diffs: list[Report]) -> None:
    """As the contents of the finding say it."""
    checked = 0
    for report in diffs:
        findings = {f.id: f for f in report.findings}
        for pair in report.flames:
            contents = findings[pair.finding_id].contents
            assert contents is not None
            held = contents.held
            assert pair.base_bytes == contents.other_base_bytes + sum(
                h.base_bytes or 0 for h in held
            )
            assert pair.candidate_bytes == contents.other_candidate_bytes + sum(
                h.candidate_bytes or 0 for h in held
            )
            for frame in pair.frames:
                for _, each in frame.walk():
                    below = each.children
                    base = sum(c.base_bytes for c in below)
                    candidate = sum(c.candidate_bytes for c in below)
                    assert base <= each.base_bytes
                    assert candidate <= each.candidate_bytes
                    # Else it would be one frame with its only child.
                    sizes = each.base_bytes, each.candidate_bytes
                    assert len(below) != 1 or (base, candidate) != sizes
            checked += 1
    assert checked > 5


def drawn(picture: Picture) -> Element:
    return read_page(svg(picture))


def test_frames_lie_below_what_they_are_part_of_on_one_scale() -> None:
    picture = draw_flames(PAIR, "jit_f host")
    rectangles = [
        (
            rectangle.attributes["class"].removeprefix("frame "),
            *(float(rectangle.attributes[name]) for name in ("x", "width", "y")),
            next(rectangle.all("title")).text,
        )
        for rectangle in drawn(picture).all("rect")
        if list(rectangle.all("title"))
    ]
    # 6 MiB are 696 wide; 1 KiB is too narrow to be seen.
    net = "larger by 2.00 MiB: net, 3.00 MiB → 5.00 MiB"
    up = "same: net/up/dot, 2.00 MiB → 2.00 MiB"
    norm = "same: net/norm, 1.00 MiB → 1.00 MiB"
    assert rectangles == [
        ("larger", 12, 348, 54, net),
        ("same", 12, 232, 74, up),
        ("same", 244, 116, 74, norm),
        ("gone", 360, 116, 54, "gone by 1.00 MiB: loss, 1.00 MiB → 0 B"),
        ("larger", 12, 580, 120, net),
        ("new", 12, 232, 140, "new by 2.00 MiB: net/down, 0 B → 2.00 MiB"),
        ("new", 12, 116, 160, "new by 1.00 MiB: net/down/a, 0 B → 1.00 MiB"),
        ("new", 128, 116, 160, "new by 1.00 MiB: net/down/b, 0 B → 1.00 MiB"),
        ("same", 244, 232, 140, up),
        ("same", 476, 116, 140, norm),
    ]


def test_a_picture_says_where_the_difference_lies() -> None:
    picture = draw_flames(PAIR, "jit_f host")
    assert picture.text == (
        "jit_f host by part of the model: 4.00 MiB → 5.00 MiB, most of the difference"
        " in net/down (0 B → 2.00 MiB)."
    )
    assert picture.figures is not None
    assert picture.figures.rows[:4] == (
        ("net", "larger", "3.00 MiB", "5.00 MiB", "+2.00 MiB"),
        ("net/down", "new", "0 B", "2.00 MiB", "+2.00 MiB"),
        ("net/down/a", "new", "0 B", "1.00 MiB", "+1.00 MiB"),
        ("net/down/b", "new", "0 B", "1.00 MiB", "+1.00 MiB"),
    )


def test_what_is_deeper_is_part_of_what_lies_above_it() -> None:
    frame = Frame("end", 1, 2)
    for depth in range(2 * MOST_DEEP):
        frame = Frame(f"part_{depth}", 2, 3, (frame,))
    picture = draw_flames(FlamePair("f00d", (frame,)), "jit_f host")
    tops = {rectangle.attributes["y"] for rectangle in drawn(picture).all("rect")}
    assert len(tops) == 1 + 2 * MOST_DEEP


def test_a_wide_model_is_drawn_by_its_largest_parts() -> None:
    """And never a part without what it is part of."""
    parts = tuple(
        Frame(f"part_{n}", 0, 2 * n, (Frame("a", 0, n), Frame("b", 0, n)))
        for n in range(300, 0, -1)
    )
    picture = draw_flames(FlamePair("f00d", parts), "jit_f host")
    titles = [t.text for r in drawn(picture).all("rect") for t in r.all("title")]
    assert len(titles) == MOST_FRAMES
    drawn_parts = {text.split(": ")[1].split(",")[0] for text in titles}
    assert {p.partition("/")[0] for p in drawn_parts} <= drawn_parts
    assert "part_300/b" in drawn_parts
    assert len(svg(picture)) < 60_000


@pytest.mark.slow
def test_nothing_is_drawn_of_a_pruned_run(demo_warehouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "pruned.duckdb"
    copy.write_bytes(demo_warehouse.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        prune_runs(connection, [8], drop_timelines=False)
    with connect(copy) as connection:
        report = build_report(
            connection,
            Request(
                candidate="jaxlib-0.10.2", baseline="run:jaxlib-0.9.2", kind="diff"
            ),
            Settings(floor_bytes=0, floor_ratio=0.0),
        )
    assert report.findings
    assert report.flames == []
    assert pictures_of_findings(report)
