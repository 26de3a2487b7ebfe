"""Files hashed beside other work: what is found, and that it ends."""

import os
import shutil
import threading
import tracemalloc
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from hlodb.ingest import hashed_ahead
from hlodb.ingest.discover import RunSource, discover
from hlodb.ingest.hashed_ahead import (
    FileDigest,
    HashedAhead,
    digest_of,
    local_files,
    older_runs,
)
from hlodb.ingest.ingest import ingest
from hlodb.ingest.limits import Limits
from hlodb.ingest.local_files import local_entry
from hlodb.ingest.run_records import RunRequest
from hlodb.ingest.units import Entry
from tests.conftest import DATA

DUMP = DATA / "moved_lines" / "before"
CONTENTS = {"a": b"alpha", "b": b"", "c": b"gamma"}


def entry(name: str, content: bytes) -> Entry:
    return Entry(name, len(content), None, lambda: BytesIO(content), f"/d/{name}")


def entries() -> list[Entry]:
    return [entry(name, content) for name, content in CONTENTS.items()]


def finished(listed: Sequence[Entry], limits: Limits) -> dict[str, FileDigest]:
    """Give what is hashed where there is time enough for all."""
    with HashedAhead(limits) as ahead:
        ahead.begin(listed)
        assert ahead._thread is not None
        ahead._thread.join()
    return ahead.digests


def test_digests_and_sizes_by_origin() -> None:
    assert finished(entries(), Limits()) == {
        f"/d/{name}": FileDigest(sha256(content).hexdigest(), len(content))
        for name, content in CONTENTS.items()
    }


def test_it_stops_at_a_file_that_cannot_be_read() -> None:
    def fail() -> BinaryIO:
        raise PermissionError

    first, _, last = entries()
    broken = Entry("b", 1, None, fail, "/d/b")
    assert list(finished([first, broken, last], Limits())) == ["/d/a"]
    assert list(finished(entries(), Limits(file_bytes=4))) == []


def test_it_ends_with_the_block() -> None:
    """Of two files the second is left, as the block ends while the first is read."""
    reading, is_over = threading.Event(), threading.Event()

    def wait() -> BinaryIO:
        reading.set()
        is_over.wait()
        return BytesIO(b"slow")

    before = threading.active_count()
    with HashedAhead(Limits()) as ahead:
        ahead.begin([Entry("slow", 4, None, wait, "/d/slow"), *entries()])
        reading.wait()
        ahead._is_over.set()
        is_over.set()
    assert list(ahead.digests) == ["/d/slow"]
    assert threading.active_count() == before


def test_a_file_that_is_being_hashed_is_waited_for() -> None:
    """To read it beside the thread would take as long, and the room of both."""
    opened, asked = list[str](), threading.Event()

    def wait() -> BinaryIO:
        opened.append("slow")
        asked.wait()
        return BytesIO(b"slow")

    slow = Entry("slow", 4, None, wait, "/d/slow")
    with HashedAhead(Limits()) as ahead:
        ahead.begin([slow])
        while not opened:
            pass
        threading.Timer(0.01, asked.set).start()
        found = ahead.digest_of(slow)
    assert found == FileDigest(sha256(b"slow").hexdigest(), 4)
    assert opened == ["slow"]


def test_files_that_were_not_hashed_ahead_are_read() -> None:
    first, *_, last = entries()
    with HashedAhead(Limits()) as ahead:
        ahead._hash([first])
        found = [ahead.digest_of(first), ahead.digest_of(last)]
    assert [(file.sha256, file.size_bytes) for file in found] == [
        (sha256(content).hexdigest(), 5) for content in (b"alpha", b"gamma")
    ]


def test_a_file_is_never_held_whole(tmp_path: Path) -> None:
    """Of 64 MB no more than a few are held at a time."""
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    large = local_entry(str(path), str(tmp_path))
    tracemalloc.start()
    try:
        found = digest_of(large, Limits())
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.size_bytes == 64 << 20
    assert peak_bytes < 4 << 20


def test_it_need_not_begin() -> None:
    with HashedAhead(Limits()) as ahead:
        pass
    assert ahead.digests == {}


@pytest.mark.parametrize("hashed", [0, 1, 1000])
def test_an_ingest_reads_only_what_was_not_hashed_ahead(
    hashed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, read = tmp_path / "w.duckdb", list[str]()
    [first] = ingest([str(DUMP)], db, jobs=1)

    def begin(self: HashedAhead, listed: Sequence[Entry]) -> None:
        self._hash(listed[:hashed])
        read.clear()

    def noted(found: Entry, limits: Limits) -> FileDigest:
        read.append(found.path)
        return digest_of(found, limits)

    monkeypatch.setattr(HashedAhead, "begin", begin)
    monkeypatch.setattr(hashed_ahead, "digest_of", noted)
    [again] = ingest([str(DUMP)], db, jobs=1)
    [source] = discover([str(DUMP)])
    assert read == [e.path for e in source.entries][hashed:][::-1]
    assert (again.unchanged_files, again.bytes) == (first.files, first.bytes)


def test_what_the_warehouse_may_have_is_older_than_itself(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", shutil.copytree(DUMP, tmp_path / "dump")
    [source] = discover([str(dump)])
    assert older_runs([source], db, RunRequest()) == []
    db.touch()
    assert older_runs([source], db, RunRequest()) == [source]
    assert older_runs([source], db, RunRequest(retry_rejects=True)) == []
    newest = db.stat().st_mtime + 10
    os.utime(min(dump.iterdir()), (newest, newest))
    other, known = discover([str(dump), str(DUMP)])
    assert older_runs([other, known], db, RunRequest()) == [known]
    # Neither times of files nor files that can be told apart: an archive, for one.
    timeless = [RunSource("r", "/d", 3, entries()), RunSource("r", "/d.tar", 3)]
    assert older_runs(timeless, db, RunRequest()) == []


@pytest.mark.parametrize("origin", ["gs://bucket/dump", "https://host/dump.zip"])
def test_files_elsewhere_are_not_read_twice(origin: str) -> None:
    ours = RunSource("r", "/d", 3, entries())
    assert local_files([RunSource("r", origin, 3, entries()), ours]) == ours.entries
