"""Writers that begin together with real dumps: every run arrives, nothing is torn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.races import REAL, in_turn, race

SOME = pytest.param(1, 3, id="some")
MANY = pytest.param(6, 4, id="many", marks=pytest.mark.slow)
"""Rounds and writers; `make torture` has more of both."""


@pytest.mark.parametrize(("rounds", "writers"), [SOME, MANY])
@pytest.mark.parametrize(
    "existing",
    [
        pytest.param(False, id="new"),
        pytest.param(True, id="existing", marks=pytest.mark.slow),
    ],
)
def test_writers_that_begin_together(
    existing: bool, rounds: int, writers: int, tmp_path: Path
) -> None:
    dumps = REAL[:writers]
    expected = in_turn(tmp_path, dumps, existing=existing)
    wrong = [
        race(dumps, expected, existing=existing, jobs=1 + (number + existing) % 2)
        for number in range(rounds)
    ]
    assert wrong == [[]] * rounds
