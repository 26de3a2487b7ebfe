"""Paths that are no files: said at once, and nothing waits for their other end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.paths import MOST_TEXT_BYTES, fault_of, read_text

COMMANDS = (
    ["migrate"],
    ["runs"],
    ["report"],
    ["ingest", "nothing"],
    ["compact"],
    ["backup", "copy.duckdb"],
    ["check"],
    ["rm", "x"],
    ["prune", "--keep", "1"],
    ["triage"],
)


def make_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "it is no file"


def make_loop(path: Path) -> str:
    path.symlink_to(path)
    return "its links lead in a circle"


def make_empty(path: Path) -> str:
    path.touch()
    return "it is no DuckDB file"


@pytest.mark.parametrize("make", [make_pipe, make_loop, make_empty])
def test_a_warehouse_that_is_none(
    make: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing").mkdir()
    said = make(Path("w.duckdb"))  # type: ignore[operator]
    for command in COMMANDS:
        code = main([*command, "--db", "w.duckdb"])
        output = capfd.readouterr().err
        if command[0] == "ingest":
            assert code in (2, 5), output
        else:
            assert code == 5, output
            assert f"w.duckdb: {said}; name another with --db" in output


@pytest.mark.parametrize("command", [["create"], ["unpack"]])
def test_a_lake_in_a_circle_of_links(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "w.lake"
    loop.symlink_to(loop)
    more = [str(tmp_path / "w.duckdb")] if command == ["unpack"] else []
    assert main(["lake", *command, str(loop), *more]) == 5
    assert "its links lead in a circle; name a folder" in capfd.readouterr().err


def test_settings_that_are_no_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pipe, config = tmp_path / "pipe", tmp_path / "hlodb.toml"
    os.mkfifo(pipe)
    for owners in ("/dev/zero", "pipe"):
        config.write_text(f'[report]\ncodeowners = "{owners}"\n')
        assert main(["report", "--config", str(config), "--db", "none"]) == 2
        assert f"{owners}: it is no file" in capfd.readouterr().err
    assert main(["report", "--config", str(pipe), "--db", "none"]) == 2
    assert f"cannot read {pipe}: it is no file" in capfd.readouterr().err


def test_queries_that_are_no_files(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "mine.sql")
    assert main(["query", "--queries", str(tmp_path)]) == 2
    assert "mine.sql: it is no file" in capfd.readouterr().err


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(MOST_TEXT_BYTES + 1)
    assert fault_of(large) is None
    with pytest.raises(OSError, match="it has more than 16,777,216 bytes"):
        read_text(large)
