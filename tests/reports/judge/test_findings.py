"""Findings through the nights: their groups, their ids, whether they stand."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.reports.build import build_report
from hlodb.reports.config.reading import parse_settings
from hlodb.reports.config.settings import Settings
from hlodb.reports.document.blocks import Paragraph, Table
from hlodb.reports.document.brief import brief
from hlodb.reports.document.report import outline
from hlodb.reports.judge.report import Report
from hlodb.reports.read.causes import explaining
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect
from tests.reports.situations import MIB, WORK, night
from tests.reports.worlds import Program, World, make

Build = Callable[..., Report]
DEFAULT = Settings()


@pytest.fixture
def report_on(tmp_path: Path) -> Build:
    """Return a function that reports on the last of some nights."""

    def build(*nights: World, settings: Settings = DEFAULT) -> Report:
        path = tmp_path / "hlodb.duckdb"
        path.unlink(missing_ok=True)
        with connect(make(path, *nights)) as connection:
            return build_report(connection, Request(), settings)

    return build


# --- Rises that still stand --------------------------------------------------


def sized(*sizes: int) -> list[World]:
    """Return a night for every size of jit_step (MiB)."""
    programs = (
        Program("jit_step", (replace(WORK, size=size * MIB),), text=f"{size}")
        for size in sizes
    )
    return [night(number, program) for number, program in enumerate(programs, 1)]


@pytest.mark.slow
def test_a_rise_that_was_undone_once_does_not_stand_again(report_on: Build) -> None:
    """Another rise to its level is another finding, and told as such."""
    report = report_on(*sized(3, 5, 3, 5, 3, 9, 9))
    assert [(f.first_run, f.state, f.stands) for f in report.findings] == [
        ("night-6", "worse", True),
        ("night-2", "undone", False),
        ("night-4", "undone", False),
        ("night-3", "improved", False),
        ("night-5", "improved", False),
    ]


# --- Ids ---------------------------------------------------------------------


def namesakes(*sizes: int) -> tuple[Program, ...]:
    """Programs of one name and equal shapes, as PyTorch's are."""
    return tuple(
        Program(
            "jit_step",
            (replace(WORK, size=size * MIB),),
            source=f"{number}",
            text=f"{number} {size}",
        )
        for number, size in enumerate(sizes)
    )


@pytest.mark.slow
def test_namesakes_of_equal_shapes_keep_an_id_each(report_on: Build) -> None:
    sizes = [(3, 4), (6, 9), (6, 9)]
    nights = [night(number, *namesakes(*of)) for number, of in enumerate(sizes, 1)]
    found = report_on(*nights[:2]).findings
    ids = {f.module_number: f.id for f in found}
    assert len(set(ids.values())) == 2
    standing = report_on(*nights).findings
    assert {f.module_number: f.id for f in standing} == ids


@pytest.mark.slow
def test_an_id_does_not_depend_on_which_namesakes_moved(report_on: Build) -> None:
    """A rise of 0.7 % is a finding, not a step of the history."""
    nights = [
        night(n, *namesakes(*sizes))
        for n, sizes in enumerate([(300, 3), (302, 5), (302, 5)], 1)
    ]
    found = report_on(*nights[:2]).findings
    (standing,) = report_on(*nights).findings
    assert {f.module_number: f.id for f in found}[2] == standing.id
    assert len({f.id for f in found}) == 2


WAIVER = """
[[waiver]]
program = "jit_step"
owner = "me"
reason = "a kernel is coming"
until = 2027-02-01
"""


def alerts(report: Report) -> dict[str, tuple[str, str]]:
    """Return SARIF's results: fingerprint to rule and state."""
    (run,) = json.loads(renderer("sarif")(report))["runs"]
    return {
        r["partialFingerprints"]["hlodbFinding/v1"]: (r["ruleId"], r["baselineState"])
        for r in run["results"]
    }


@pytest.mark.slow
def test_an_alert_stays_open_while_the_rise_stands(report_on: Build) -> None:
    nights = sized(3, 5, 5)
    assert list(alerts(report_on(*nights[:2])).values()) == [("regression", "new")]
    (alert,) = alerts(report_on(*nights[:2]))
    assert alerts(report_on(*nights)) == {alert: ("regression", "unchanged")}


@pytest.mark.slow
def test_a_waiver_of_the_settings_covers_what_still_stands(report_on: Build) -> None:
    report = report_on(*sized(3, 5, 5), settings=parse_settings(WAIVER))
    assert [(f.stands, f.state) for f in report.findings] == [(True, "waived")]
    assert [w.status for w in report.waivers] == ["used"]
    assert alerts(report) == {}
    assert brief(report) == []


# --- Causes -----------------------------------------------------------------


def in_two_spaces(name: str, hbm: int, vmem: int) -> Program:
    buffers = (
        replace(WORK, size=hbm * MIB, type=f"f32[{hbm}]"),
        replace(WORK, name="near", size=vmem * MIB, type=f"f32[{vmem}]", color=1),
    )
    return Program(name, buffers, text=f"{name} {hbm} {vmem}")


EVERY_SPACE = Settings(managed_ratio=0)

LIMIT = """
[[device]]
device = "TPU v5e"
space = "VMEM"
bytes = "{} MiB"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "change"),
    [
        ("", "same"),
        pytest.param(LIMIT.format(128), "same", marks=pytest.mark.slow),
        (LIMIT.format(21), "worse"),
        pytest.param("[gates]\nmanaged_ratio = 0\n", "worse", marks=pytest.mark.slow),
    ],
)
def test_vmem_alerts_near_its_limit_only(
    report_on: Build, settings: str, change: str
) -> None:
    report = report_on(
        night(1, in_two_spaces("jit_step", 100, 10), platform="tpu", device="TPU v5e"),
        night(2, in_two_spaces("jit_step", 100, 20), platform="tpu", device="TPU v5e"),
        settings=parse_settings(settings),
    )
    rows = {p.space: (p.change, p.delta_bytes) for p in report.programs}
    assert rows == {"HBM": ("same", 0), "VMEM": (change, 10 * MIB)}
    assert len(report.findings) == (change == "worse")
    assert report.exit_code == (change == "worse")


@pytest.mark.slow
def test_causes_add_up_no_bytes_of_several_spaces(report_on: Build) -> None:
    report = report_on(
        night(1, in_two_spaces("jit_step", 100, 10), platform="tpu", device="TPU v5e"),
        night(2, in_two_spaces("jit_step", 150, 20), platform="tpu", device="TPU v5e"),
        settings=EVERY_SPACE,
    )
    assert {g.key for g in report.causes} == {"fusion/resized/dot"}
    assert [(g.color, g.space, g.sum_delta_bytes) for g in report.causes] == [
        (0, "HBM", 50 * MIB),
        (1, "VMEM", 10 * MIB),
    ]


@pytest.mark.slow
def test_rows_that_are_left_out_are_counted_by_state(report_on: Build) -> None:
    nights = [
        night(
            number,
            *(in_two_spaces(f"jit_{c}", *sizes) for c in "ab"),
            platform="tpu",
            device="TPU v5e",
        )
        for number, sizes in enumerate([(100, 10), (150, 20)], 1)
    ]
    report = report_on(*nights, settings=EVERY_SPACE)
    sections = {s.title: s.blocks for s in outline(report, 1)}
    assert sections["Findings"][-1] == Paragraph("[3 others] 3 worse")
    programs = sections["Programs"][0]
    assert isinstance(programs, Table)
    assert programs.rows[-1] == ("", "[3 others]", "", "", "", "", "", "3 worse")
    _, causes = sections["Causes of regressions"]
    assert isinstance(causes, Table)
    assert causes.rows[-1] == ("", "[1 other]", "", "", "+20.00 MiB", "", "", "")


# --- Causes ------------------------------------------------------------------


@pytest.mark.slow
def test_a_cause_is_a_share_of_what_goes_its_way(diffs: list[Report]) -> None:
    """Never above all of it, where much that rose and much that fell cancel out.

    Edits of the source have the share of the difference that claims give them.
    """
    explained = [(f, f.cause) for report in diffs for f in report.findings if f.cause]
    against = edited = 0
    for f, cause in explained:
        if edits := explaining(f.claims):
            sizes = [claim.delta_bytes for claim in edits]
            known = [size for size in sizes if size is not None]
            share = round(sum(known) / f.delta_bytes, 4) if f.delta_bytes else None
            assert cause.share_ratio == (share if known == sizes else None)
            edited += 1
            continue
        sums: dict[str, int] = defaultdict(int)
        for part in f.parts:
            sums[part.part] += part.delta_bytes
        sign = 1 if (f.delta_bytes or 0) >= 0 else -1
        along = {part: sign * size for part, size in sums.items() if sign * size > 0}
        # Another kind of allocation is what the compiler made of something else.
        counted = {p: n if p == "allocation_kind" else 2 * n for p, n in along.items()}
        main = max(counted, key=lambda part: counted[part])
        against += sum(sums.values()) != sign * sum(along.values())
        assert cause.share_ratio == round(along[main] / sum(along.values()), 4)
    assert against
    assert edited


@pytest.mark.slow
def test_a_headline_names_the_figure_that_rose(report_on: Build) -> None:
    """Fewer bytes are reserved, and more are live at once: no regression of -3 MiB."""
    loose = replace(WORK, name="far", size=MIB, offset=8 * MIB)
    sparse = Program("jit_step", (replace(WORK, size=3 * MIB), loose))
    dense = Program("jit_step", (replace(WORK, size=6 * MIB),))
    report = report_on(night(1, sparse), night(2, dense))
    figures = "jit_step CPU memory live peak +2.00 MiB, reserved -3.00 MiB (-33.3 %)"
    assert report.headline.startswith(f"❌ 1 regression (1 gate failed): {figures}")
    (gate,) = [g for g in renderer("github")(report).splitlines() if "error" in g]
    assert "live peak +2.00 MiB, reserved -3.00 MiB (-33.3 %25)" in gate


def test_regressions_of_one_cause_are_listed_and_linked(report_on: Build) -> None:
    """As a page has room for them; a terminal shows the cause alone."""

    def program(name: str, size: int) -> Program:
        extra = replace(WORK, name="extra", size=size, path="jit(f)/softmax/exp")
        return Program(name, (WORK, extra) if size else (WORK,), text=f"{name} {size}")

    names = ("jit_a", "jit_b", "jit_c")
    report = report_on(
        night(1, *(program(name, 0) for name in names)),
        night(2, *(program(name, (n + 2) * MIB) for n, name in enumerate(names))),
    )
    (causes,) = (
        section.blocks
        for section in outline(report, 100)
        if section.title == "Causes of regressions"
    )
    count, grouped, by_cause, listed = causes
    assert count == Paragraph("3 regressions, 1 cause.")
    assert isinstance(grouped, Table)
    assert isinstance(listed, Table)
    (cause,) = grouped.rows
    assert by_cause == Paragraph(f"3 regressions by {cause[0]}:")
    assert [row[:3] for row in listed.rows] == [
        ("jit_c", "CPU memory", "+4.00 MiB"),
        ("jit_b", "CPU memory", "+3.00 MiB"),
        ("jit_a", "CPU memory", "+2.00 MiB"),
    ]
    found = {f.id: f.program for f in report.findings}
    assert [found[each or ""] for each in listed.findings] == [
        "jit_c",
        "jit_b",
        "jit_a",
    ]
    short = next(s for s in outline(report, 10) if s.title == "Causes of regressions")
    assert short.blocks == [count, grouped]
