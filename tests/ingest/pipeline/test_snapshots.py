"""Snapshots of executions: read where nothing else tells of their module, and once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.formats.proto.snapshot import module_of_snapshot
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.pipeline.staging import stage_run
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.discover import discover
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.ingest.dumps import packed_tar, write
from tests.ingest.formats.proto.proto_pairs import members
from tests.ingest.loading import load

DUMP = members(DATA / "proto" / "snapshots-jaxlib-0.10.2.tar.xz")
Row = tuple[object, ...]

NAME = "module_0000.jit_step"
FIRST, SECOND = f"{NAME}.snapshot.-1925245867.pb", f"{NAME}.snapshot.-1925245868.pb"
SOURCE = f"{NAME}.execution_0000.hlo_unoptimized_snapshot.pb"
SOURCE_AGAIN = f"{NAME}.execution_0001.hlo_unoptimized_snapshot.pb"
SNAPSHOTS = {name: data for name, data in DUMP.items() if "snapshot" in name}


def _as_tar(folder: Path, files: dict[str, bytes]) -> Path:
    # Latest first: what tells of the module comes behind what only repeats it.
    folder.mkdir()
    path = folder / "dump.tar"
    path.write_bytes(packed_tar(dict(sorted(files.items(), reverse=True))))
    return path


def _ingested(db: Path, dump: Path) -> tuple[list[Row], list[Row]]:
    """Return the modules of a dump, and its snapshots with what became of them."""
    [summary] = load(db, dump, name="run")
    assert summary.rejects == 0
    with connect(db) as connection:
        modules = connection.execute(
            "SELECT path, stage, instruction_count FROM modules ORDER BY stage DESC"
        ).fetchall()
        files = connection.execute(
            "SELECT path, status, size_bytes FROM dump_files"
            " WHERE kind = 'hlo_snapshot' ORDER BY path"
        ).fetchall()
    return modules, files


@pytest.mark.parametrize(
    ("snapshot", "proto"),
    [
        (FIRST, f"{NAME}.cpu_after_optimizations.hlo.pb"),
        (SECOND, f"{NAME}.cpu_after_optimizations.hlo.pb"),
        (SOURCE, f"{NAME}.before_optimizations.hlo.pb"),
    ],
)
def test_the_module_in_a_snapshot_is_that_of_the_proto(
    snapshot: str, proto: str
) -> None:
    read = parse_hlo_proto(module_of_snapshot(DUMP[snapshot]))
    assert read.rejects == []
    assert read.module == parse_hlo_proto(DUMP[proto]).module
    assert read.assignment is None


def test_a_snapshot_is_known_by_its_content() -> None:
    assert recognise("renamed.pb", DUMP[FIRST]).kind == "hlo_snapshot"


def test_a_snapshot_that_is_cut_short_gives_a_reject() -> None:
    read = parse_hlo_proto(module_of_snapshot(DUMP[FIRST][:1000]))
    assert [reject.code for reject in read.rejects] == ["broken_message"]
    assert read.module is not None
    assert parse_hlo_proto(module_of_snapshot(b"\xff")).rejects != []


@pytest.mark.parametrize("dumped", [write, _as_tar])
def test_snapshots_alone_give_each_module_once(
    tmp_path: Path, dumped: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    modules, files = _ingested(
        tmp_path / "w.duckdb", dumped(tmp_path / "dump", SNAPSHOTS)
    )
    assert modules == [
        (SOURCE, "before_optimizations", 19),
        (FIRST, "after_optimizations", 26),
    ]
    assert files == [
        (SOURCE, "loaded", len(DUMP[SOURCE])),
        (SOURCE_AGAIN, "ignored", len(DUMP[SOURCE_AGAIN])),
        (FIRST, "loaded", len(DUMP[FIRST])),
        (SECOND, "ignored", len(DUMP[SECOND])),
    ]


@pytest.mark.parametrize("dumped", [write, _as_tar])
def test_snapshots_beside_the_module_repeat_it(
    tmp_path: Path, dumped: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    modules, files = _ingested(tmp_path / "w.duckdb", dumped(tmp_path / "dump", DUMP))
    assert modules == [
        (f"{NAME}.before_optimizations.txt", "before_optimizations", 19),
        (f"{NAME}.cpu_after_optimizations.txt", "after_optimizations", 26),
    ]
    assert files == [
        (path, "ignored", len(DUMP[path]))
        for path in (SOURCE, SOURCE_AGAIN, FIRST, SECOND)
    ]


def test_staged_snapshots_give_each_module_once(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", write(tmp_path / "dump", SNAPSHOTS)
    stage_run(discover([str(dump)])[0], RunRequest(), db)
    ingest([], db)
    with connect(db) as connection:
        rows = connection.execute("SELECT path FROM modules ORDER BY path").fetchall()
    assert rows == [(SOURCE,), (FIRST,)]


def test_snapshots_are_unchanged_when_they_come_again(tmp_path: Path) -> None:
    db, dump = tmp_path / "w.duckdb", write(tmp_path / "dump", SNAPSHOTS)
    load(db, dump)
    [again] = load(db, dump)
    assert (again.unchanged_files, again.new_modules) == (4, 0)
