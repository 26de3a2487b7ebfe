"""Draw what the first screen of a page of `hlodb explain` shows."""

from __future__ import annotations

from hlodb.reports.document.first_screen import FirstScreen
from hlodb.reports.pictures.draw_peak import NARROW, draw_peak
from hlodb.reports.pictures.draw_schedule import draw_schedule
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.read.drawn.curves import curve_of
from hlodb.reports.read.drawn.peak_parts import PeakParts
from hlodb.reports.read.overview import Overview


def draw_first(
    overview: Overview, first: FirstScreen, parts: PeakParts
) -> list[Picture]:
    """Return what the peak holds, wide and narrow, and how memory moves."""
    pictures = []
    if parts:
        pictures = [draw_peak(parts, first.title, 1)]
        pictures.append(draw_peak(parts, first.title, 1, NARROW))
    curve = curve_of(overview, first.space, "first")
    if curve is not None:
        pictures.append(draw_schedule(curve, first.space, first.title, 1))
    return pictures
