"""What a run is called that nobody names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.ingest.sources.discover import discover, run_names
from tests.conftest import DATA


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("/dumps/dir#%?", "dir#%?"),
        ("/dumps/a?b.tar.xz", "a?b"),
        ("https://host/dumps/a.zip?token=b", "a"),
        ("gs://bucket/night", "night"),
    ],
)
def test_the_last_part_of_a_path_or_url(origin: str, name: str) -> None:
    assert run_names([origin]) == [name]


def test_the_folder_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "night" / "below"
    below.mkdir(parents=True)
    dumped = next((DATA / "moved_lines" / "before").glob("*_optimizations.txt"))
    (below / dumped.name).write_text(dumped.read_text())
    monkeypatch.chdir(below)
    assert [run.name for run in discover([".."])] == ["night"]
    assert [run.name for run in discover(["."])] == ["below"]


def test_an_empty_name() -> None:
    with pytest.raises(UsageError, match="the name of a run is empty"):
        discover([str(DATA / "moved_lines" / "before")], run_name="")
