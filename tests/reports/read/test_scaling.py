"""Memory over a size: the figures of scaling_law, drawn up to the limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value, run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_scaling import draw_scaling
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_sections
from hlodb.reports.pictures.svg import byte_axis, count_axis
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.scaling import ScalingLaw, SizePoint
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.reports.pages import Element, read_page
from tests.reports.situations import WORK, night
from tests.reports.worlds import Program, make

MIB = 1 << 20
GIB = 1 << 30
LIMITS = """
[report]
top = 100
[[device]]
device = "*"
space = "host"
bytes = "1 GiB"
[[device]]
device = "*"
space = "VMEM"
bytes = "128 MiB"
"""
Row = dict[str, Any]


@pytest.fixture(scope="module")
def sizes(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """One program compiled at 13 batches and lengths, for CPU and for TPU."""
    db = tmp_path_factory.mktemp("sizes") / "w.duckdb"
    ingest([str(DATA / "sizes" / f"{name}.tar.xz") for name in ("cpu", "v5e")], db)
    with connect(db) as connection:
        yield connection


def report_on(
    connection: duckdb.DuckDBPyConnection, run: str | None, settings: Settings
) -> Report:
    return build_report(connection, Request(candidate=run), settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "platform", "limits"),
    [("cpu", "cpu", {0: GIB}), ("v5e", "tpu", {0: None, 1: 128 * MIB, 2: None})],
)
def test_laws_are_those_of_the_query(
    sizes: duckdb.DuckDBPyConnection,
    run: str,
    platform: str,
    limits: dict[int, int | None],
) -> None:
    found = report_on(sizes, run, parse_settings(LIMITS)).scaling
    said: list[Row] = []
    for color, limit in limits.items():
        asked: dict[str, Value] = {"color": color, "limit_bytes": limit}
        said += run_query(sizes, "scaling_law", asked).dicts()
    wanted = [r for r in said if (r["platform"], r["part"]) == (platform, "reserved")]
    assert len(wanted) == 7 * len(limits)
    by_law = {(law.color, law.axis, law.other_axes): law for law in found}
    assert len(by_law) == len(found) == len(wanted)
    for row in wanted:
        law = by_law[row["color"], row["axis"], row["other_axes"]]
        assert (law.program, law.space) == (row["program"], row["space_name"])
        assert law.constant_bytes == row["constant_bytes"]
        assert law.linear_bytes == row["linear_bytes"]
        assert law.quadratic_bytes == row["quadratic_bytes"]
        assert law.r2_ratio == row["r2_ratio"]
        assert law.max_residual_bytes == row["max_residual_bytes"]
        assert (law.limit_bytes, law.largest_size) == (
            row["usable_bytes"],
            row["largest_size"],
        )
        assert len(law.points) == row["size_count"]
        ends = law.points[0].size, law.points[-1].size
        assert ends == (row["min_size"], row["max_size"])


@pytest.mark.slow
def test_points_are_the_programs_that_were_compiled(
    sizes: duckdb.DuckDBPyConnection,
) -> None:
    """By the shapes of their last parameter, f32[batch,length,128]."""
    rows = sizes.execute(
        "SELECT m.entry_layout, p.reserved_bytes"
        " FROM modules AS m JOIN runs AS r USING (run_id)"
        " JOIN memory_profile AS p USING (module_id)"
        " WHERE r.name = 'cpu' AND m.has_assignment"
    ).fetchall()
    shape = re.compile(r"f32\[(\d+),(\d+),128\]")
    found = [(shape.search(layout), size) for layout, size in rows]
    compiled = [(int(m[1]), int(m[2]), size) for m, size in found if m]
    assert len(compiled) == 13
    laws = report_on(sizes, "cpu", parse_settings(LIMITS)).scaling
    for law in laws:
        axis, other = law.axis, int((law.other_axes or "").split(" = ")[1])
        if axis == "4[0], 5[0]":
            known = sorted((b, size) for b, length, size in compiled if length == other)
        else:
            known = sorted((length, size) for b, length, size in compiled if b == other)
        assert [(p.size, p.bytes) for p in law.points] == known
        off = [abs(p.bytes - law.bytes_at(p.size)) for p in law.points]
        assert max(off) == pytest.approx(law.max_residual_bytes, abs=100)


@pytest.mark.slow
def test_the_largest_size_is_the_last_within_the_limit(
    sizes: duckdb.DuckDBPyConnection,
) -> None:
    laws = report_on(sizes, "cpu", parse_settings(LIMITS)).scaling
    for law in laws:
        assert law.largest_size is not None
        assert (
            law.bytes_at(law.largest_size)
            <= GIB + 100
            < law.bytes_at(law.largest_size + 1)
        )
    room = [(law.largest_size or 0) / law.points[-1].size for law in laws]
    assert room == sorted(room)


@pytest.mark.slow
def test_the_tightest_law_of_each_axis_is_drawn(
    sizes: duckdb.DuckDBPyConnection,
) -> None:
    report = report_on(sizes, "cpu", parse_settings(LIMITS))
    of_axes = {law.axis: law for law in reversed(report.scaling)}
    wanted = [law for law in report.scaling if law is of_axes[law.axis]]
    pictures = pictures_of_sections(report)["Capacity"]
    assert [p.id for p in pictures] == ["headroom", "scaling-1", "scaling-2"]
    assert pictures[1:] == [
        draw_scaling(law, f"scaling-{n}") for n, law in enumerate(wanted, 1)
    ]


def test_one_size_is_no_law(reported: Callable[[str], Report]) -> None:
    report = reported("one_regression")
    assert report.scaling == []
    assert "Capacity" in pictures_of_sections(report)


def at_size(size: int, more: int = 0) -> Program:
    buffers = (replace(WORK, size=(size + more) * MIB),)
    shapes = f"(f32[{size},3]{{1,0}})->f32[{size}]{{0}}"
    return Program("jit_step", buffers, shapes=shapes, text=f"{size} {more}")


@pytest.mark.slow
def test_what_comes_after_the_candidate_is_no_point(tmp_path: Path) -> None:
    """Nor what only another series compiled."""
    nights = (
        night(1, at_size(2), at_size(4)),
        night(2, at_size(8)),
        night(3, at_size(16, more=40), series="other"),
        night(4, at_size(32, more=90)),
    )
    path = make(tmp_path / "hlodb.duckdb", *nights)
    with connect(path) as connection:
        first, second, _, last = (
            report_on(connection, f"night-{n}", Settings()).scaling for n in range(1, 5)
        )
    assert first == []
    (law,) = second
    assert [p.size for p in law.points] == [2, 4, 8]
    assert (law.constant_bytes, law.linear_bytes) == (0, MIB)
    assert [p.size for p in last[0].points] == [2, 4, 8, 32]


LAW = ScalingLaw(
    "jit_f",
    0,
    "HBM",
    "4[0], 5[0]",
    "4[1], 5[1] = 128",
    MIB,
    float(MIB),
    0.0,
    1.0,
    0,
    16 * MIB,
    15,
    [SizePoint(2, 3 * MIB), SizePoint(4, 5 * MIB), SizePoint(8, 9 * MIB)],
)


def drawn(picture: Picture) -> Element:
    return read_page(svg(picture))


def test_law_points_and_limit_are_drawn_to_scale() -> None:
    picture = draw_scaling(LAW, "scaling-1")
    across = count_axis(15, "", 64, 684)
    up = byte_axis([0, 16 * MIB], 256, 56)
    x = {n: f"{across.at(n):.1f}".removesuffix(".0") for n in (0, 2, 4, 8, 15)}
    y = {n: f"{up.at(n * MIB):.1f}".removesuffix(".0") for n in (1, 3, 5, 9, 16)}
    page = drawn(picture)
    paths = [(p.attributes["class"], p.attributes["d"]) for p in page.all("path")]
    assert paths == [
        ("curve candidate", f"M{x[0]} {y[1]}L{x[8]} {y[9]}"),
        ("curve base", f"M{x[8]} {y[9]}L{x[15]} {y[16]}"),
    ]
    marks = [(c.attributes["cx"], c.attributes["cy"]) for c in page.all("circle")]
    assert marks == [(x[2], y[3]), (x[4], y[5]), (x[8], y[9])]
    (limit,) = (e for e in page.all("line") if e.attributes["class"] == "limit")
    assert limit.attributes["y1"] == limit.attributes["y2"] == y[16]
    (largest,) = (e for e in page.all("line") if e.attributes["class"] == "moment")
    assert largest.attributes["x1"] == largest.attributes["x2"] == x[15]
    labels = [t.text for t in page.all("text") if "label" in t.attributes["class"]]
    assert labels[:2] == ["limit 16.00 MiB", "15 fits"]


def test_a_picture_says_the_law_and_what_fits() -> None:
    picture = draw_scaling(LAW, "scaling-1")
    assert picture.text == (
        "jit_f HBM: 1.00 MiB + 1.00 MiB · n of reserved memory, n being the size of"
        " 4[0], 5[0] (parameter[dimension]) at 4[1], 5[1] = 128; exact at the sizes"
        " that were compiled (2, 4, 8). The largest that fits in 16.00 MiB is 15,"
        " though 8 is the largest compiled."
    )
    assert picture.figures is not None
    assert picture.figures.rows == (
        ("2", "3.00 MiB", "3.00 MiB", "0 B"),
        ("4", "5.00 MiB", "5.00 MiB", "0 B"),
        ("8", "9.00 MiB", "9.00 MiB", "0 B"),
        ("15", "-", "16.00 MiB", "-"),
    )


def test_without_a_limit_nothing_is_foretold() -> None:
    picture = draw_scaling(
        replace(LAW, limit_bytes=None, largest_size=None, max_residual_bytes=MIB),
        "scaling-1",
    )
    assert picture.text.endswith(
        "at most 1.00 MiB off at the sizes that were compiled (2, 4, 8)."
    )
    kinds = {e.attributes["class"] for e in drawn(picture).all("line", "path")}
    assert not kinds & {"limit", "moment"}
    assert "curve base" not in [
        p.attributes["class"] for p in drawn(picture).all("path")
    ]


def test_memory_that_does_not_grow_has_no_largest_size() -> None:
    flat = replace(LAW, linear_bytes=0.0, largest_size=None)
    picture = draw_scaling(flat, "scaling-1")
    assert picture.text.endswith("It does not grow, and the limit is 16.00 MiB.")
    assert "moment" not in {e.attributes["class"] for e in drawn(picture).all("line")}
