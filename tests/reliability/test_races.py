"""Writers that begin together with real dumps: every run arrives, nothing is torn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.races import REAL, in_turn, race

WRITERS = 4
"""`make torture` has more of them."""


@pytest.mark.parametrize("rounds", [2, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
def test_writers_that_begin_together(
    existing: bool, rounds: int, tmp_path: Path
) -> None:
    dumps = REAL[:WRITERS]
    expected = in_turn(tmp_path, dumps, existing=existing)
    wrong = [
        race(dumps, expected, existing=existing, jobs=1 + number % 2)
        for number in range(rounds)
    ]
    assert wrong == [[]] * rounds
