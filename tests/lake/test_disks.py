"""A lake on a disk that is full or read-only: plain errors, and reading goes on."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from hlodb.cli import main
from hlodb.commands.options import open_for_reading
from hlodb.errors import WarehouseError
from hlodb.lake import catalogue
from hlodb.lake.catalogue import refresh
from hlodb.lake.layout import CATALOGUE, lake_at
from hlodb.queries.run import run_sql
from tests.conftest import DATA

BEFORE = str(DATA / "moved_lines" / "before")
AFTER = str(DATA / "moved_lines" / "after")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill_up(disk: Path) -> Path:
    """Return a file that takes all room on a disk."""
    fill = disk / "fill"
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)), fill.open("wb") as f:
        while True:
            f.write(bytes(4096))
            f.flush()
    return fill


@pytest.fixture
def on_small_disk(small_disk: Path) -> Path:
    """Return a lake of one run, with nothing in its catalogue yet."""
    lake = small_disk / "runs.lake"
    assert main(["lake", "create", str(lake)]) == 0
    assert main(["ingest", BEFORE, "--run", "a", "--db", str(lake)]) == 0
    return lake


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    path = tmp_path / "other.lake"
    assert main(["lake", "create", str(path)]) == 0
    assert main(["ingest", BEFORE, "--run", "a", "--db", str(path)]) == 0
    return path


@pytest.mark.slow
def test_commands_on_a_full_disk(
    small_disk: Path, on_small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill = fill_up(small_disk)
    capfd.readouterr()
    for command in (
        ["ingest", AFTER, "--run", "b"],
        ["rm", "a"],
        ["prune", "--keep", "0"],
        ["compact"],
    ):
        code = main([*command, "--db", str(on_small_disk)])
        output = capfd.readouterr().err
        assert code == (0 if command == ["compact"] else 5), command
        if code:
            assert output == (
                f"hlodb: cannot use {on_small_disk}: the disk is full; make room there"
                " and try again\n"
            )
    assert main(["runs", "--format", "csv", "--db", str(on_small_disk)]) == 0
    assert capfd.readouterr().out.count("\n") == 2
    fill.unlink()
    assert main(["ingest", AFTER, "--run", "b", "--db", str(on_small_disk)]) == 0
    with open_for_reading(on_small_disk) as connection:
        found = run_sql(connection, "SELECT run FROM run_list() ORDER BY run").rows
    assert found == [("a",), ("b",)]


def test_writing_to_a_file_on_a_full_disk(
    small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = small_disk / "runs.duckdb"
    assert main(["ingest", BEFORE, "--run", "a", "--db", str(db)]) == 0
    before = content(db)
    fill = fill_up(small_disk)
    capfd.readouterr()
    for command in (
        ["ingest", AFTER, "--run", "b"],
        ["rm", "a"],
        ["prune", "--keep", "0"],
    ):
        assert main([*command, "--db", str(db)]) == 5, command
        assert capfd.readouterr().err == (
            f"hlodb: cannot use {db}: the disk is full; make room there and try again\n"
        )
        assert content(db) == before
    fill.unlink()
    assert main(["ingest", AFTER, "--run", "b", "--db", str(db)]) == 0


@pytest.mark.parametrize("name", ["runs.lake", "runs.duckdb"])
def test_compacting_on_a_full_disk_loses_nothing(
    name: str, small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = small_disk / name
    if db.suffix == ".lake":
        assert main(["lake", "create", str(db)]) == 0
    for run, dump in (("a", BEFORE), ("b", AFTER)):
        assert main(["ingest", dump, "--run", run, "--db", str(db)]) == 0
    before = content(db)
    fill = fill_up(small_disk)
    capfd.readouterr()
    assert main(["compact", "--db", str(db)]) == 5
    assert capfd.readouterr().err == (
        f"hlodb: cannot use {db}: the disk is full; make room there and try again\n"
    )
    assert content(db) == before
    fill.unlink()
    assert main(["compact", "--db", str(db)]) == 0
    assert content(db) == before
    left = {path.name for path in small_disk.iterdir()}
    assert left - {f"{name}.lock"} == {name}


def content(db: Path) -> list[tuple[object, ...]]:
    """Return what was ingested, as a query sees it."""
    with open_for_reading(db) as connection:
        text = (
            "SELECT r.name, m.path, i.name, i.shape, i.op_name FROM runs AS r"
            " JOIN modules AS m USING (run_id) JOIN instructions AS i USING (module_id)"
            " ORDER BY ALL"
        )
        return run_sql(connection, text).rows


def test_a_read_only_disk(
    small_disk: Path, on_small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(remount, check=True)
    capfd.readouterr()
    assert main(["report", "--db", str(on_small_disk), "--format", "json"]) == 0
    output = capfd.readouterr()
    assert '"verdict"' in output.out
    assert output.err == (
        f"hlodb: findings are not recorded: cannot use {on_small_disk}: its file system"
        " is read-only\n"
    )
    assert main(["rm", "a", "--db", str(on_small_disk)]) == 5


def test_a_catalogue_without_queries_is_no_catalogue(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk fills up while they are written."""
    (lake / CATALOGUE).unlink(missing_ok=True)

    def fail(_: object) -> None:
        raise duckdb.IOException('Could not write file "x": No space left on device')

    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "renew_macros", fail)
        with pytest.raises(WarehouseError, match="the disk is full"):
            refresh(lake_at(lake))
    assert not (lake / CATALOGUE).exists()
    with open_for_reading(lake) as connection:
        assert run_sql(connection, "FROM run_list()").rows


def test_too_many_open_files(lake: Path) -> None:
    text = f'IO Error: Cannot open file "{lake}/runs/x.parquet": Too many open files'
    with (
        pytest.raises(WarehouseError, match="may open no more files; raise the limit"),
        open_for_reading(lake),
    ):
        raise duckdb.IOException(text)
