"""Which pictures stand beside which part of the report."""

from __future__ import annotations

from hlodb.reports.curves import drawn
from hlodb.reports.draw_arenas import draw_arenas
from hlodb.reports.draw_curves import draw_curves
from hlodb.reports.draw_flames import draw_flames
from hlodb.reports.draw_headroom import draw_headroom
from hlodb.reports.draw_trend import draw_trend
from hlodb.reports.draw_waterfall import draw_waterfall
from hlodb.reports.model import Report
from hlodb.reports.model_findings import Finding
from hlodb.reports.model_sections import Trend
from hlodb.reports.names import called, shared_names
from hlodb.reports.picture import Picture

MOST_TRENDS = 3


def pictures_of_findings(report: Report) -> dict[str, list[Picture]]:
    """Give by finding why its memory moved, in which part, when, and what is where."""
    shared = shared_names(report)
    curves = {curve.finding_id: curve for curve in report.curves}
    arenas = {arena_map.finding_id: arena_map for arena_map in report.arenas}
    flames = {pair.finding_id: pair for pair in report.flames}
    found: dict[str, list[Picture]] = {}
    for f in drawn(report.findings):
        who = f"{called(f, shared)} {f.space}"
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
    """Give by section how much room is left, and how the series moved."""
    limited = [c for c in report.capacity if c.limit_bytes]
    shared = shared_names(report)
    return {
        "Capacity": [draw_headroom(limited)] if limited else [],
        "History": [
            draw_trend(trend, f"{called(trend, shared)} {trend.space}", f"trend-{n}")
            for n, trend in enumerate(_moved_trends(report), 1)
        ],
    }


def _moved_trends(report: Report) -> list[Trend]:
    """Give the series to draw: those of findings first, then what moved furthest."""
    places = [_place(f) for f in drawn(report.findings)]
    moved = [t for t in report.trends if len({p.bytes for p in t.points}) > 1]

    def order(trend: Trend) -> tuple[int, int]:
        place = _place(trend)
        first = places.index(place) if place in places else len(places)
        sizes = [point.bytes for point in trend.points]
        return first, min(sizes) - max(sizes)

    return sorted(moved, key=order)[:MOST_TRENDS]


def _place(row: Finding | Trend) -> tuple[str, int | None, int | None, int]:
    return row.program, row.rank, row.module_number, row.color
