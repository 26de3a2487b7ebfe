"""Which runs of a watched folder are still, by a clock that the test turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.sources.watching import Waiting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("first", "second"):
        (tmp_path / name / "host0").mkdir(parents=True)
    return tmp_path


def test_a_run_is_ready_when_nothing_in_it_has_changed(folder: Path) -> None:
    waiting = Waiting(folder, 10)
    waiting.changed([folder / "first", folder / "second" / "host0" / "a.txt"], 0)
    assert waiting.next_still(9) == []
    waiting.changed([folder / "first" / "b.txt"], 9)
    assert waiting.next_still(10) == [str(folder / "second")]
    assert waiting.next_still(18) == []
    assert waiting.next_still(19) == [str(folder / "first")]
    assert waiting.next_still(99) == []
    waiting.changed([folder / "second" / "c.txt"], 100)
    assert waiting.next_still(110) == [str(folder / "second")]


def test_loose_files_are_one_run_and_archives_others(folder: Path) -> None:
    names = ("module_0001.txt", "module_0002.txt", "night.tar.xz")
    files = [folder / name for name in names]
    for file in files:
        file.write_text("")
    waiting = Waiting(folder, 1)
    waiting.changed(files, 0)
    found = [waiting.next_still(1), waiting.next_still(1), waiting.next_still(1)]
    assert found == [[str(file) for file in files[:2]], [str(files[2])], []]


def test_what_is_gone_or_elsewhere_is_no_run(folder: Path) -> None:
    waiting = Waiting(folder, 0)
    gone = folder / "gone.tar.xz"
    waiting.changed([folder.parent / "other" / "a.txt", folder, gone], 0)
    assert waiting.next_still(1) == []
