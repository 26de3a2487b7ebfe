"""Blocks of files in an object store, which the store of fsspec in memory plays."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Lock

import duckdb
import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from hlodb.garbage import no_collection
from hlodb.lake import kept_blocks
from hlodb.lake.kept_blocks import keeping
from tests.conftest import needs_proc


class Counting(MemoryFileSystem):  # type: ignore[misc]
    """Counts the bytes that are asked for."""

    cachable = False
    lock = Lock()
    asked = 0

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None
    ) -> bytes:
        content: bytes = super().cat_file(path, start=start, end=end)
        with self.lock:
            self.asked += len(content)
        return content


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(kept_blocks, "_BLOCK_BYTES", 1000)
    return Counting()


@needs_proc
def test_threads_get_what_the_files_hold_and_ask_once(
    files: Counting, tmp_path: Path
) -> None:
    chance = Random(1)
    contents = {f"/kept/{size}": chance.randbytes(size) for size in range(0, 9999, 333)}
    for path, content in contents.items():
        files.pipe(path, content)
    kept = keeping(files, str(tmp_path))
    wanted = [
        (path, start, count)
        for path in contents
        for start, count in ((0, 9999), (10, 500), (990, 20), (1000, 1000), (9000, 5))
    ] * 5
    chance.shuffle(wanted)

    def is_right(path: str, start: int, count: int) -> bool:
        file = kept.open(path)
        file.seek(start)
        return bool(file.read(count) == contents[path][start : start + count])

    before = len(os.listdir("/proc/self/fd"))
    with no_collection(), ThreadPoolExecutor(8) as pool:
        assert all(pool.map(is_right, *zip(*wanted, strict=True)))
        assert len(os.listdir("/proc/self/fd")) <= before + 8
    assert files.asked == sum(map(len, contents.values()))


def test_duckdb_reads_through_it(files: Counting, tmp_path: Path) -> None:
    part = tmp_path / "part.parquet"
    duckdb.sql("SELECT range AS n FROM range(10000)").write_parquet(str(part))
    files.pipe("/kept/part.parquet", part.read_bytes())
    with duckdb.connect() as connection:
        connection.register_filesystem(keeping(files, str(tmp_path)))
        rows = connection.sql("SELECT sum(n) FROM 'memory://kept/part.parquet'")
        assert rows.fetchall() == [(49_995_000,)]


def test_a_file_that_got_shorter_is_an_error(files: Counting, tmp_path: Path) -> None:
    files.pipe("/kept/cut", bytes(5000))
    file = keeping(files, str(tmp_path)).open("/kept/cut")
    files.pipe("/kept/cut", bytes(10))
    with pytest.raises(OSError, match="/kept/cut ends before its 5,000 bytes"):
        file.read(3000)


@pytest.fixture(autouse=True)
def emptied() -> None:
    store = fsspec.filesystem("memory")
    if store.exists("/kept"):
        store.rm("/kept", recursive=True)
