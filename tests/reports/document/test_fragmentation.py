"""What an explanation says of fragmentation."""

from __future__ import annotations

import pytest

from hlodb.reports.document.blocks import Paragraph
from hlodb.reports.document.explanation import outline
from tests.reports.document.made import MIB, PLACE, overview_of


def told(lost: int, parts: dict[str, int]) -> str:
    """Return what is said of 100 MiB of which `lost` are fragmentation."""
    space = {
        **PLACE,
        "reserved_bytes": 100 * MIB,
        "fragmentation_bytes": lost,
        "live_peak_bytes": 100 * MIB - lost,
    }
    gaps = [
        {**PLACE, "part": part, "part_bytes": size * MIB}
        for part, size in parts.items()
    ]
    gaps.append({**PLACE, "color": 1, "part": "never_used", "part_bytes": 99 * MIB})
    overview = overview_of(100 * MIB, peak_by_space=[space], frag_breakdown=gaps)
    first = outline(overview, 1, 9)[0].blocks[0]
    assert isinstance(first, Paragraph)
    return str(first.text)


@pytest.mark.parametrize(
    ("parts", "most"),
    [
        ({"live": 90, "alignment_gap": 8}, ", mostly gaps between aligned addresses"),
        ({"alignment_gap": 1, "time_hole": 6}, ", mostly gaps that values of other"),
        ({"scoped": 90, "slot_padding": 5}, ", mostly padding of values"),
        ({"never_used": 5, "time_hole": 4}, ", mostly bytes that no value ever fills"),
        ({"never_used": 4, "time_hole": 4}, "."),
        ({"live": 90}, "."),
    ],
)
def test_what_most_of_it_is(parts: dict[str, int], most: str) -> None:
    _, _, rest = told(9 * MIB, parts).partition("Fragmentation takes 9.00 MiB")
    assert rest.startswith(most)


def test_less_than_a_hundredth_is_not_told() -> None:
    assert "Fragmentation" not in told(MIB - 1, {"alignment_gap": 1})
    assert "Fragmentation takes 1.00 MiB, mostly" in told(MIB, {"alignment_gap": 1})
