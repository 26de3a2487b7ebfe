"""What fills the memory of a series by role: sums that close, drawn to scale."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import duckdb
import pytest

from hlodb.ingest.load.delete import prune_runs
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge import drawn as drawn_series
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_roles import draw_roles
from hlodb.reports.pictures.picture import Picture, svg
from hlodb.reports.pictures.pictures import pictures_of_sections
from hlodb.reports.pictures.svg import byte_axis
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.drawn.role_histories import (
    NO_LIVE_RANGES,
    PRUNED,
    RoleHistory,
    RolePoint,
)
from hlodb.reports.read.facts import rows
from hlodb.schema.warehouse import connect
from tests.reports.pages import Element, read_page
from tests.reports.situations import GROWN, STEP, night
from tests.reports.worlds import make

MIB = 1 << 20
EVERY = 1000
EXACT = Settings(floor_bytes=0, floor_ratio=0.0)
LATEST_CPU = Request(candidate="jaxlib-0.10.2")
OLD_NAMES = {
    "jit_stage": "jit_convert_element_type",
    "jit_gpt_step": "jit__unnamed_wrapped_function",
}
Roles = dict[str, int]


def report_of(path: Path, request: Request = LATEST_CPU) -> Report:
    with connect(path) as connection:
        return build_report(connection, request, EXACT)


@pytest.fixture(scope="module")
def every_series(demo_warehouse: Path) -> Report:
    """Return a report on the releases of CPU that draws all that moved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawn_series, "MOST_TRENDS", EVERY)
        return report_of(demo_warehouse)


@pytest.mark.slow
def test_roles_add_up_to_the_series(
    every_series: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every run, to the byte, and with the steps of the series."""
    monkeypatch.setattr(drawn_series, "MOST_TRENDS", EVERY)
    moved = drawn_series.drawn_trends(every_series.trends, every_series.findings)
    for trend, roles in zip(moved, every_series.role_histories, strict=True):
        shown = [(p.run, p.bytes, p.mark) for p in roles.points]
        assert shown == [(p.run, p.bytes, p.mark) for p in trend.points]
        for point in roles.points:
            assert point.roles is not None
            assert point.not_live_bytes is not None
            assert point.not_live_bytes >= 0
            assert sum(point.roles.values()) + point.not_live_bytes == point.bytes
    assert len(moved) > 5
    assert {len(trend.points) for trend in moved} == {9}


@pytest.mark.slow
def test_roles_are_what_the_query_says_run_by_run(
    every_series: Report, demo_warehouse: Path
) -> None:
    with connect(demo_warehouse) as connection:
        known = {
            run: by_role(connection, run) for run in every_series.comparison.series_runs
        }
    checked = 0
    for history in every_series.role_histories:
        for point in history.points:
            of_run = known[point.run]
            name = history.program
            if (name, history.color) not in of_run:
                name = OLD_NAMES[name]
            assert point.roles == of_run[name, history.color]
            checked += 1
    assert checked > 50


def by_role(
    connection: duckdb.DuckDBPyConnection, run: str
) -> dict[tuple[str, int], Roles]:
    """Return peak_by_role's answer for the programs of a run, by name."""
    found: dict[tuple[str, int], Roles] = defaultdict(lambda: defaultdict(int))
    numbers = defaultdict(set)
    for row in run_query(connection, "peak_by_role", {"run": run}).dicts():
        found[row["program"], row["color"]][row["role"]] += row["owned_bytes"]
        numbers[row["program"]].add(row["module_number"])
    assert {len(each) for each in numbers.values()} == {1}
    return found


@pytest.mark.slow
def test_contents_of_many_runs_have_the_roles_of_each(
    demo_warehouse: Path, framework_warehouse: Path, gpu_warehouse: Path
) -> None:
    """Of each platform, and of several spaces of memory."""
    checked = 0
    for warehouse, some in (
        (demo_warehouse, "%jax%-0.10.2"), (framework_warehouse, "%"),
        (gpu_warehouse, "%"),
    ):  # fmt: skip
        with connect(warehouse) as connection:
            held = connection.execute(
                "SELECT r.name, m.program, m.module_number, m.rank, m.module_id"
                " FROM modules AS m JOIN runs AS r USING (run_id)"
                " WHERE m.has_assignment AND r.name LIKE ?",
                [some],
            ).fetchall()
            run_query(connection, "peak_roles")
            ids = sorted({module_id for *_, module_id in held})
            at_once: dict[int, Roles] = defaultdict(dict)
            for module_id, color, role, size in rows(connection, "roles", modules=ids):
                at_once[module_id][f"{color} {role}"] = size
            by_run: dict[tuple[object, ...], Roles] = defaultdict(
                lambda: defaultdict(int)
            )
            for run in {name for name, *_ in held}:
                for row in run_query(connection, "peak_by_role", {"run": run}).dicts():
                    key = (run, row["program"], row["module_number"], row["rank"])
                    role = f"{row['color']} {row['role']}"
                    by_run[key][role] += row["owned_bytes"]
        for *place, module_id in held:
            assert at_once[module_id] == by_run[tuple(place)]
            checked += 1
    assert checked > 60


@pytest.fixture(scope="module")
def report(demo_warehouse: Path) -> Report:
    """Return a report on the releases of CPU."""
    return report_of(demo_warehouse)


@pytest.mark.slow
def test_no_more_is_read_than_is_drawn(report: Report) -> None:
    moved = drawn_series.drawn_trends(report.trends, report.findings)
    names = [(trend.program, trend.color) for trend in moved]
    assert [(h.program, h.color) for h in report.role_histories] == names
    assert len(names) == drawn_series.MOST_TRENDS
    ids = [picture.id for picture in pictures_of_sections(report)["History"]]
    assert ids == ["trend-1", "roles-1", "trend-2", "roles-2", "trend-3", "roles-3"]


@pytest.mark.slow
def test_a_pruned_run_is_a_gap(
    report: Report, demo_warehouse: Path, tmp_path: Path
) -> None:
    before = report.role_histories[0].points
    copy = tmp_path / "pruned.duckdb"
    copy.write_bytes(demo_warehouse.read_bytes())
    with duckdb.connect(str(copy)) as connection:
        prune_runs(connection, [4, 5], drop_timelines=True)
    pruned = report_of(copy)
    after = pruned.role_histories[0].points
    gone = ["jaxlib-0.4.35", "jaxlib-0.5.3"]
    for was, now in zip(before, after, strict=True):
        if now.run in gone:
            unknown = RolePoint(was.run, was.bytes, was.mark, None, None, PRUNED)
            assert now == unknown
        else:
            assert now == was
    picture = pictures_of_sections(pruned)["History"][1]
    told = " 2 runs without roles (details pruned): jaxlib-0.4.35, jaxlib-0.5.3."
    assert picture.more.endswith(told)
    assert "role gap" in [p.attributes["class"] for p in drawn(picture).all("path")]


@pytest.mark.slow
def test_memory_without_live_ranges_has_no_roles(tmp_path: Path) -> None:
    path = make(tmp_path / "hlodb.duckdb", night(1, STEP), night(2, GROWN))
    with connect(path, read_only=False) as connection:
        connection.execute("UPDATE memory_profile SET live_peak_bytes = NULL")
    report = report_of(path, Request())
    (history,) = report.role_histories
    assert [p.unknown for p in history.points] == [NO_LIVE_RANGES] * 2
    assert [p.id for p in pictures_of_sections(report)["History"]] == ["trend-1"]


@pytest.mark.slow
def test_a_diff_has_no_history(demo_warehouse: Path) -> None:
    request = Request("jaxlib-0.10.2", "run:jaxlib-0.9.2", kind="diff")
    assert report_of(demo_warehouse, request).role_histories == []


def point(number: int, mark: str = "", left: int = 0, **roles: int) -> RolePoint:
    sizes = {role: n * MIB for role, n in roles.items()}
    total = sum(sizes.values()) + left * MIB
    return RolePoint(f"n{number}", total, mark, sizes, left * MIB, "")


HISTORY = RoleHistory(
    "jit_f",
    None,
    1,
    0,
    "host",
    [
        point(1, activations=2, weights=4, left=1),
        point(2, activations=2, weights=4, left=1),
        RolePoint("n3", 8 * MIB, "▲", None, None, PRUNED),
        point(4, weights=4, activations=5, strange=1),
        point(5, "▼", weights=4),
        *(point(number, weights=4) for number in range(6, 12)),
    ],
)


def drawn(picture: Picture) -> Element:
    return read_page(svg(picture))


def spans(picture: Picture, band: str) -> list[tuple[float, ...]]:
    """Return the rectangles of a band: from, to, bottom, top."""
    found: list[tuple[float, ...]] = []
    for path in drawn(picture).all("path"):
        if path.attributes["class"] == f"role {band}":
            for part in path.attributes["d"].split("Z")[:-1]:
                start, end = part.removeprefix("M").split("V")
                (left, rest), (top, _) = start.split(" "), end.split("H")
                bottom, right = rest.split("H")
                found.append((float(left), float(right), float(bottom), float(top)))
    return found


def test_bands_lie_on_one_another_to_scale() -> None:
    """Eleven runs are 52.4 apart; 10 MiB are 180 high, from the lower end up."""
    picture = draw_roles(HISTORY, "jit_f host", "roles-1")
    bottom = picture.height - 42
    axis = byte_axis([0, 10 * MIB], bottom, bottom - 180)

    def at(low: int, high: int) -> list[float]:
        return [round(axis.at(n * MIB), 1) for n in (low, high)]

    first, third, last = (97.8, 202.6), (202.6, 255), (255, 674.2)
    assert spans(picture, "weights") == [(*first, *at(0, 4)), (*last, *at(0, 4))]
    fourth = (255, 307.4)
    assert spans(picture, "activations") == [
        (*first, *at(4, 6)),
        (*fourth, *at(4, 9)),
    ]
    assert spans(picture, "other") == [(*fourth, *at(9, 10))]
    assert spans(picture, "not-live") == [(*first, *at(6, 7))]
    assert spans(picture, "gap") == [(*third, *at(0, 8))]
    texts = list(drawn(picture).all("text"))
    marks = [t.text for t in texts if "step" in t.attributes["class"]]
    assert marks == ["▲", "▼"]
    keys = [t.text for t in texts if t.attributes["class"] == "label"]
    unknown = "not known"
    assert keys == [
        "weights",
        "activations",
        "strange",
        "not live at the peak",
        unknown,
    ]
    # Where the others differ from what is drawn, and each from its neighbours.
    edges = [e.attributes["x1"] for e in drawn(picture).all("line")]
    assert [x for x in edges if x in ("202.6", "307.4")] == ["202.6", "307.4"]


def test_what_is_drawn_can_be_read() -> None:
    picture = draw_roles(HISTORY, "jit_f host", "roles-1")
    assert picture.text == "jit_f host: at the peak of n11 weights 4.00 MiB."
    assert picture.more == (
        "At the peak of n11 nothing of 4.00 MiB is reserved and not live. Most moved"
        " since n1: activations -2.00 MiB. 1 run without roles (details pruned): n3."
    )
    assert picture.figures is not None
    assert picture.figures.header == (
        "number", "runs", "weights", "activations", "strange", "not live at the peak",
        "memory", "step", "gap",
    )  # fmt: skip
    four, none = "4.00 MiB", "0 B"
    assert picture.figures.rows == (
        ("1 to 2", "n1 to n2", four, "2.00 MiB", none, "1.00 MiB", "7.00 MiB", "", ""),
        ("3", "n3", "-", "-", "-", "-", "8.00 MiB", "▲", "details pruned"),
        ("4", "n4", four, "5.00 MiB", "1.00 MiB", none, "10.00 MiB", "", ""),
        ("5", "n5", four, none, none, none, four, "▼", ""),
        ("6 to 11", "n6 to n11", four, none, none, none, four, "", ""),
    )


def test_two_runs_have_a_column_each() -> None:
    points = HISTORY.points[:2]
    pair = RoleHistory("jit_f", None, 1, 0, "host", points)
    picture = draw_roles(pair, "jit_f host", "roles-1")
    columns = [(left, right) for left, right, *_ in spans(picture, "weights")]
    assert columns == [(64, 184), (588, 708)]
    assert "moved" not in picture.text
