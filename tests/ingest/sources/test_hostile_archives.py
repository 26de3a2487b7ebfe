"""Archives made to do harm, or broken: sound files are read, the rest is reported."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.sources.archives import safe_path
from hlodb.ingest.sources.discover import Limits, RefusedFile, discover
from tests.ingest.dumps import FILES, packed_tar, packed_zip
from tests.ingest.sources.reading_archives import GOOD, HLO, read


def test_members_larger_than_the_limit() -> None:
    files = {"x.txt": bytes(2000), GOOD: HLO}
    reason = "larger than 1,000 bytes, the limit for one file"
    expected = ([GOOD], [RefusedFile("x.txt", reason)])
    assert read(packed_tar(files), Limits(file_bytes=1000)) == expected
    assert read(packed_zip(files), Limits(file_bytes=1000)) == expected


def test_too_many_members() -> None:
    files = {f"module_{n:04}.f.before_optimizations.txt": HLO for n in range(9)}
    paths, refused = read(packed_tar(files), Limits(archive_members=3))
    assert paths == sorted(files)[:3]
    assert refused == [
        RefusedFile("a", "the rest is not read: more than 3 members"),
    ]


def test_garbage_with_the_name_of_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(b"not a tar at all")
    [source] = discover([str(archive)])
    assert list(source.units()) == []
    reason = "neither a tar nor a zip archive, or cut short"
    assert source.refused == [RefusedFile("x.tar.gz", reason)]
    assert not source.has_dump


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.txt", "a/b.txt"),
        ("./a//b.txt", "a/b.txt"),
        ("a\\b.txt", "a/b.txt"),
        ("a..b/c...txt", "a..b/c...txt"),
        ("a/\udcff.txt", "a/\\udcff.txt"),
        ("", ""),
        ("/", ""),
        ("..", ""),
        ("a/..", ""),
        ("a\0b", ""),
        ("\\\\host\\share", ""),
    ],
)
def test_safe_path(name: str, expected: str) -> None:
    assert safe_path(name) == expected


PACKED = {
    "tar": packed_tar(FILES),
    "tar.gz": gzip.compress(packed_tar(FILES)),
    "zip": packed_zip(FILES),
}


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(PACKED)),
    st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=20
    ),
    st.integers(0, 20_000),
)
def test_damaged_archives_end_in_files_and_refusals(
    form: str, changes: list[tuple[int, int]], length: int
) -> None:
    packed = bytearray(PACKED[form])
    for place, value in changes:
        packed[place % len(packed)] = value
    data = bytes(packed) if length % 2 else bytes(packed[: length % len(packed) + 2])
    paths, refused = read(data, Limits(file_bytes=1 << 20))
    assert len(paths) + len(refused) >= 0
