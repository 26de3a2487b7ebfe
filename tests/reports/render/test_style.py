"""The style sheet of pages: both colour schemes are there, and can be read."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

SHEET = (files("hlodb.reports") / "report.css").read_text(encoding="utf-8")
DARK = "@media (prefers-color-scheme: dark)"

TEXT = 4.5
"""Least contrast of text, WCAG 2.2, 1.4.3."""
DRAWN = 3.0
"""Least contrast of what is drawn, WCAG 2.2, 1.4.11."""


def colors(text: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", text))


def schemes() -> dict[str, dict[str, str]]:
    light, dark = SHEET.split(DARK)
    return {"light": colors(light), "dark": colors(dark)}


def luminance(color: str) -> float:
    """Relative luminance as WCAG defines it."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_both_schemes_have_the_same_colors() -> None:
    light, dark = schemes().values()
    assert light.keys() == dark.keys()
    used = set(re.findall(r"var\(--(\w+)\)", SHEET))
    assert used == light.keys()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("behind", ["page", "raised"])
def test_contrast(scheme: str, behind: str) -> None:
    found = schemes()[scheme]
    for names, least in (
        (("text", "quiet", "link"), TEXT),
        (("base", "candidate", "worse", "better"), DRAWN),
    ):
        faint = {n: contrast(found[n], found[behind]) for n in names}
        assert {n: c for n, c in faint.items() if c < least} == {}
