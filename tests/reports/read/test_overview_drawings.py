"""What is drawn of several programs at once is what each has when read alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.lake.opening import reading
from hlodb.reports.read.drawn.overview_drawings import read_drawings, read_drawings_of
from hlodb.reports.read.facts import read_runs
from hlodb.reports.read.overview import (
    asked_of,
    described_spaces,
    read_overview,
    rows_of,
)


@pytest.mark.slow
def test_answered_blocks_change_nothing(demo_warehouse: Path) -> None:
    with reading(demo_warehouse) as connection:
        run = read_runs(connection)[-2]
        alone = read_overview(connection, run.name, None, 0, top=5)
        with asked_of(connection, run) as answered:
            overview = read_overview(
                connection, run.name, None, 0, top=5, answered=answered
            )
            both = [overview, overview]
            drawn, again = read_drawings_of(connection, both, 20, answered)
        assert overview == alone
        assert drawn.peaks == again.peaks
        # Only their ids differ: both may be on one page.
        for map_, other in zip(drawn.maps.values(), again.maps.values(), strict=True):
            assert replace(other, finding_id=map_.finding_id) == map_
        assert drawn.maps == read_drawings(connection, alone, 20).maps
    spaces = described_spaces(overview, 20)
    assert drawn.peaks.keys() == spaces.keys()
    for title, space in spaces.items():
        held = {part.role: part.bytes for part in drawn.peaks[title]}
        listed = rows_of(overview, "peak_by_role", space)
        assert held == {row["role"]: row["owned_bytes"] for row in listed}
