"""A lake in an object store: the store of fsspec in memory stands for a bucket."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fsspec
import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake.layout import lake_at
from hlodb.lake.opening import reading
from hlodb.lake.packing import compact_lake, unpack
from hlodb.lake.storage import storage_at
from hlodb.printed_commands import named_db, url_of
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.lake.comparing import differing_tables

RELEASES = [DATA / "gpu" / f"jaxlib-{number}.tar.xz" for number in ("0.5.3", "0.7.2")]


@pytest.fixture
def bucket(empty_lake: Path) -> Iterator[str]:
    """Return the URL of an empty lake whose catalogue has the queries already."""
    url = "memory://bucket/runs.lake"
    store = fsspec.filesystem("memory")
    store.put(str(empty_lake), "/bucket/runs.lake", recursive=True)
    yield url
    store.rm("/bucket", recursive=True)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def all_equal(file: Path, url: str) -> None:
    with connect(file) as one, reading(url) as other:
        assert differing_tables(one, other) == []


@pytest.mark.slow
def test_commands_take_a_url(bucket: str, output: Path, tmp_path: Path) -> None:
    file = tmp_path / "w.duckdb"
    for db in (str(file), bucket):
        for dump in RELEASES:
            assert main(["ingest", str(dump), "--jobs", "1", "--db", db]) == 0
    all_equal(file, bucket)
    answers = []
    for db in (str(file), bucket):
        for command in (
            ["query", "peak_by_space", "--format", "json"],
            ["runs", "--format", "json"],
        ):
            assert main([*command, "-o", str(output), "--db", db]) == 0
            answers.append(json.loads(output.read_text()))
        assert main(["rm", "jaxlib-0.5.3", "--db", db]) == 0
    assert answers[0] == answers[2] != []
    assert [run["run"] for run in answers[1]] == [run["run"] for run in answers[3]]
    all_equal(file, bucket)
    assert main(["compact", "--db", bucket]) == 0
    all_equal(file, bucket)
    compact_lake(Path(bucket), readers_seconds=0)
    all_equal(file, bucket)
    assert lake_at(bucket).names("runs") == lake_at(bucket).names("keys")
    unpack(Path(bucket), tmp_path / "again.duckdb")
    with connect(file) as one, connect(tmp_path / "again.duckdb") as other:
        assert differing_tables(one, other) == []


def test_a_lake_in_a_bucket_is_read_and_nothing_beside_it(
    bucket: str, output: Path
) -> None:
    assert main(["ingest", str(DATA / "seeds"), "--jobs", "1", "--db", bucket]) == 0
    asked = ["sql", "SELECT name FROM runs", "--format", "csv", "-o", str(output)]
    assert main([*asked, "--db", bucket]) == 0
    assert output.read_text() == "name\nseeds\n"
    store = fsspec.filesystem("memory")
    store.pipe("/bucket/other.csv", b"a\n1\n")
    for path in ("memory://bucket/other.csv", f"{bucket}/../other.csv"):
        assert main(["sql", f"FROM read_csv('{path}')", "--db", bucket]) == 2


def test_no_lake_at_a_url(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--db", "memory://nothing"]) == 2
    assert "`hlodb lake create memory://nothing`" in capfd.readouterr().err


def test_a_url_stays_one_as_a_path() -> None:
    url = "s3://bucket/runs.lake"
    assert url_of(url) == url_of(Path(url)) == named_db(Path(url)) == url
    assert [url_of("runs.lake"), url_of("/s3:/x"), url_of("C:x")] == [None] * 3


@pytest.mark.parametrize("missing", ["put_file", "ls", "cat_file"])
def test_a_bucket_without_rights(
    bucket: str,
    missing: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(fsspec.filesystem("memory"), missing, refused)
    command = ["ingest", str(RELEASES[0]), "--jobs", "1", "--db", bucket]
    assert main(command) == 5
    message = capfd.readouterr().err
    assert f"{bucket}: Access Denied; check the address and your access" in message


@pytest.mark.slow
def test_a_reader_without_the_right_to_write(
    bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ingest([str(RELEASES[0])], tmp_path / "w.duckdb", jobs=1)
    assert main(["ingest", str(RELEASES[0]), "--jobs", "1", "--db", bucket]) == 0

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(fsspec.filesystem("memory"), "put_file", refused)
    all_equal(tmp_path / "w.duckdb", bucket)


@pytest.mark.skipif(find_spec("s3fs") is not None, reason="s3fs is installed")
def test_what_to_install_for_a_bucket(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--db", "s3://bucket/runs.lake"]) == 2
    assert "pip install 'hlodb[remote]'" in capfd.readouterr().err


def test_an_unknown_kind_of_url(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--db", "nonsense://bucket"]) == 5
    assert "cannot reach nonsense://bucket" in capfd.readouterr().err


@pytest.mark.slow
def test_parts_of_a_bucket_that_are_damaged(
    bucket: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(RELEASES[0]), "--jobs", "1", "--db", bucket]) == 0
    store = fsspec.filesystem("memory")
    [part] = store.ls("/bucket/runs.lake/instructions", detail=False)
    store.pipe_file(part, store.cat_file(part)[:100])
    assert main(["query", "peak_contents", "--db", bucket]) == 5
    assert part.rpartition("/")[2] in capfd.readouterr().err
    assert storage_at(bucket).address == bucket


@pytest.mark.slow
def test_a_copied_folder_is_a_lake_in_a_bucket(
    bucket: str, empty_lake: Path, tmp_path: Path
) -> None:
    lake = Path(shutil.copytree(empty_lake, tmp_path / "lake"))
    assert main(["ingest", str(RELEASES[0]), "--jobs", "1", "--db", str(lake)]) == 0
    store = fsspec.filesystem("memory")
    store.rm("/bucket", recursive=True)
    store.put(str(lake), "/bucket/runs.lake", recursive=True)
    with reading(lake) as one, reading(bucket) as other:
        assert differing_tables(one, other) == []
