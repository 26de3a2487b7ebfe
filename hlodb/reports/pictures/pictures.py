"""Select the pictures of findings and sections."""

from __future__ import annotations

from collections.abc import Iterator

from hlodb.reports.judge.drawn import drawn_findings, drawn_trends
from hlodb.reports.judge.names import Names, called, memory, shared_names
from hlodb.reports.judge.report import Report
from hlodb.reports.pictures.draw_arenas import draw_arenas
from hlodb.reports.pictures.draw_curves import draw_curves
from hlodb.reports.pictures.draw_flames import draw_flames
from hlodb.reports.pictures.draw_headroom import draw_headroom
from hlodb.reports.pictures.draw_roles import draw_roles
from hlodb.reports.pictures.draw_scaling import draw_scaling
from hlodb.reports.pictures.draw_trend import draw_trend
from hlodb.reports.pictures.draw_waterfall import draw_waterfall
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.read.scaling import ScalingLaw

MOST_LAWS = 3


def pictures_of_findings(report: Report) -> dict[str, list[Picture]]:
    """Return pictures by finding: why its memory moved, in which part, and when."""
    shared = shared_names(report)
    curves = {curve.finding_id: curve for curve in report.curves}
    arenas = {arena_map.finding_id: arena_map for arena_map in report.arenas}
    flames = {pair.finding_id: pair for pair in report.flames}
    found: dict[str, list[Picture]] = {}
    for f in drawn_findings(report.findings):
        who = f"{called(f, shared)} {memory(f)}"
        pictures = [draw_waterfall(f, who)] if f.parts else []
        if f.id in flames:
            pictures.append(draw_flames(flames[f.id], who))
        if f.id in curves:
            pictures.append(draw_curves(curves[f.id], who))
        if f.id in arenas:
            pictures.append(draw_arenas(arenas[f.id], who))
        found[f.id] = pictures
    return found


def pictures_of_sections(report: Report) -> dict[str, list[Picture]]:
    """Return pictures by section: headroom, its decline, the moves of the series."""
    limited = [c for c in report.capacity if c.limit_bytes]
    shared = shared_names(report)
    return {
        "Capacity": [
            *([draw_headroom(limited)] if limited else []),
            *(
                draw_scaling(law, f"scaling-{n}")
                for n, law in enumerate(_drawn_laws(report), 1)
            ),
        ],
        "History": list(_pictures_of_trends(report, shared)),
    }


def _pictures_of_trends(report: Report, shared: Names) -> Iterator[Picture]:
    """Yield every series that is drawn, and what fills its memory where that is known.

    Both are of the same trends, in the same order.
    """
    shown = drawn_trends(report.trends, report.findings)
    for n, (trend, roles) in enumerate(
        zip(shown, report.role_histories, strict=True), 1
    ):
        who = f"{called(trend, shared)} {memory(trend)}"
        yield draw_trend(trend, who, f"trend-{n}")
        if any(point.roles for point in roles.points):
            yield draw_roles(roles, who, f"roles-{n}")


def _drawn_laws(report: Report) -> list[ScalingLaw]:
    """Return the tightest law of each program, memory space and axis."""
    laws: dict[tuple[str, int, str], ScalingLaw] = {}
    for law in report.scaling:
        laws.setdefault((law.program, law.color, law.axis), law)
    return list(laws.values())[:MOST_LAWS]
