"""The peak of one program, as a test that gates it asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.integrations.peaks import Peaks
from tests.reports.situations import MIB, STEP, WORK, night
from tests.reports.worlds import make


@pytest.fixture
def peaks(tmp_path: Path) -> Peaks:
    """Of a program that the last run compiled three times, once in two spaces."""
    first, large, small = (
        replace(STEP, buffers=(replace(WORK, size=size * MIB),), text=f"{size}")
        for size in (12, 9, 5)
    )
    near = replace(WORK, name="near", size=MIB, color=1)
    twofold = replace(STEP, name="jit_twofold", buffers=(WORK, near))
    nights = night(1, first), night(2, small, large, small, twofold)
    database = make(tmp_path / "hlodb.duckdb", *nights)
    return Peaks(database, tmp_path)


def test_of_several_modules_the_largest_counts(peaks: Peaks) -> None:
    peak = peaks("jit_step")
    assert (peak.run, peak.reserved_bytes) == ("night-2", 9 * MIB)
    peak.assert_within("9 MiB")
    with pytest.raises(AssertionError, match=r"1 B more than 9\.00 MiB"):
        peak.assert_within(9 * MIB - 1)


def test_the_run_and_the_space_that_are_named(peaks: Peaks) -> None:
    assert peaks("jit_step", run="night-1").reserved_bytes == 12 * MIB
    assert peaks("jit_twofold").space == "host"
    assert peaks("jit_twofold", space="color_1").reserved_bytes == MIB
    with pytest.raises(UsageError, match="uses no 'color_2'; did you mean color_1"):
        peaks("jit_twofold", space="color_2")
