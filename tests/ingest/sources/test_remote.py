"""Runs behind URLs: fsspec's memory file system, and a web server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hlodb.errors import UsageError
from hlodb.ingest.sources import remote
from hlodb.ingest.sources.discover import Limits, RefusedFile, discover
from tests.ingest.dumps import (
    COMPRESSIONS,
    FILES,
    UNITS,
    contents,
    packed_tar,
    packed_zip,
    write,
)

fsspec = pytest.importorskip("fsspec")

LATER = {
    "later/dump.zip": packed_zip(FILES),
    "later/dump.tar.gz": COMPRESSIONS[".gz"](packed_tar(FILES)),
    "later/module_0001.f.before_optimizations.txt.xz": COMPRESSIONS[".xz"](
        b"HloModule f\n"
    ),
}


@pytest.fixture
def memory() -> Iterator[None]:
    system = fsspec.filesystem("memory")
    for path, data in {**{f"dump/{p}": d for p, d in FILES.items()}, **LATER}.items():
        system.pipe_file(f"/{path}", data)
    yield
    system.rm("/dump", recursive=True)
    system.rm("/later", recursive=True)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("aiohttp", reason="fsspec reads the web with aiohttp")
    write(tmp_path / "dump", FILES)
    write(tmp_path, LATER)
    handler = partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}"
        web.shutdown()


@pytest.fixture(params=["memory", "server"])
def base(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(request.param)
    return found or "memory:/"


@pytest.mark.parametrize("path", ["dump", "dump/"])
def test_folder(base: str, path: str) -> None:
    [source] = discover([f"{base}/{path}"])
    assert source.name == "dump"
    assert contents(source) == UNITS
    assert (source.refused, source.has_dump) == ([], True)


@pytest.mark.parametrize("path", ["later/dump.zip", "later/dump.tar.gz"])
def test_archive(base: str, path: str) -> None:
    [source] = discover([f"{base}/{path}"])
    assert source.name == "dump"
    assert contents(source) == UNITS
    assert source.refused == []


def test_folder_with_archives(base: str) -> None:
    sources = discover([f"{base}/later"])
    assert [source.name for source in sources] == ["later", "dump.tar.gz", "dump.zip"]
    assert [len(contents(source)) for source in sources] == [1, 7, 7]


def test_single_file(base: str) -> None:
    name = "module_0001.f.before_optimizations.txt.xz"
    [source] = discover([f"{base}/later/{name}"])
    assert contents(source) == [[(name, b"HloModule f\n")]]


def test_pattern(memory: None) -> None:
    sources = discover(["memory://later/*.zip"])
    assert [source.name for source in sources] == ["dump"]
    assert contents(sources[0]) == UNITS


def test_origin_can_be_opened_again(base: str) -> None:
    for first in discover([f"{base}/later"])[1:]:
        [again] = discover([first.origin])
        assert contents(again) == contents(first)


def test_limits_hold(base: str) -> None:
    [source] = discover([f"{base}/dump"], limits=Limits(file_bytes=17))
    read = {path: data for unit in contents(source) for path, data in unit}
    assert read == {path: data for path, data in FILES.items() if len(data) <= 17}
    large = "larger than 17 bytes, the limit for one file"
    assert sorted(source.refused) == sorted(
        RefusedFile(path, large) for path in FILES if path not in read
    )


def test_nothing_there(base: str) -> None:
    with pytest.raises(UsageError) as error:
        discover([f"{base}/nowhere"])
    assert str(error.value) == (
        f"{base}/nowhere: nothing is there. Check the address and your access."
    )


def test_unknown_protocol() -> None:
    with pytest.raises(UsageError) as error:
        discover(["nosuch://bucket/x"])
    assert str(error.value).startswith("nosuch://bucket/x: cannot be read (")


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "fsspec", None)
    with pytest.raises(UsageError) as error:
        discover(["gs://bucket/dump"])
    assert str(error.value) == (
        "gs://bucket/dump: reading URLs needs fsspec."
        " Install it with: pip install 'hlodb[remote]'"
    )


def test_backend_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def url_to_fs(url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", url_to_fs)
    with pytest.raises(UsageError) as error:
        discover(["s3://bucket/dump"])
    assert str(error.value) == (
        "s3://bucket/dump: Install s3fs to access S3."
        " Install it with: pip install 'hlodb[remote]'"
    )


def test_errors_of_backends_are_told(
    memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source] = discover(["memory://dump"])
    kind = type(fsspec.filesystem("memory"))

    def fail(*args: object, **options: object) -> None:
        raise ValueError("token expired")

    monkeypatch.setattr(kind, "open", fail)
    assert contents(source) == []
    assert source.refused[0] == RefusedFile(
        "module_0001.jit_f.debug_options", "cannot be read: token expired"
    )
    assert len(source.refused) == len(FILES)
