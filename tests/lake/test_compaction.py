"""Deleting, pruning and compacting change a lake as they change a file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.lake import packing
from hlodb.lake.ingestion import add_runs
from hlodb.lake.layout import lake_at, names_in
from hlodb.lake.opening import reading
from hlodb.lake.packages import write_package
from hlodb.lake.packing import compact_lake, pack
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.lake.comparing import differing_tables

RELEASES = [DATA / "gpu" / f"jaxlib-{number}.tar.xz" for number in ("0.5.3", "0.7.2")]


@pytest.fixture(scope="module")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "w.duckdb"
    # The last run holds the same modules as the first.
    again = shutil.copy(RELEASES[0], path.parent / "again.tar.xz")
    ingest([*map(str, RELEASES), str(again)], path, jobs=1)
    return path


@pytest.fixture
def file(made_file: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made_file, tmp_path / "w.duckdb"))


@pytest.fixture(
    params=[
        "a package each",
        pytest.param("one package", marks=pytest.mark.slow),
    ]
)
def lake(
    request: pytest.FixtureRequest, file: Path, empty_lake: Path, tmp_path: Path
) -> Path:
    path = Path(shutil.copytree(empty_lake, tmp_path / "w.lake"))
    if request.param == "one package":
        pack(file, path)
    else:
        add_runs(file, lake_at(path))
    return path


def difference(file: Path, lake: Path) -> list[str]:
    with connect(file) as one, reading(lake) as other:
        return differing_tables(one, other)


@pytest.mark.parametrize(
    "command",
    [
        ["rm", "jaxlib-0.7.2"],
        pytest.param(["rm", "jaxlib-0.5.3", "jaxlib-0.7.2"], marks=pytest.mark.slow),
        pytest.param(["rm", "jaxlib-0.5.3"], marks=pytest.mark.slow),
        pytest.param(["prune", "--keep", "1"], marks=pytest.mark.slow),
        pytest.param(
            ["prune", "--keep", "1", "--drop-timelines"], marks=pytest.mark.slow
        ),
    ],
    ids=" ".join,
)
def test_a_lake_loses_what_a_file_loses(
    file: Path, lake: Path, command: list[str]
) -> None:
    for db in (file, lake):
        assert main([*command, "--db", str(db)]) == 0
    assert difference(file, lake) == []
    assert main(["check", "--db", str(lake), "-o", "-", "--format", "csv"]) == 0
    compact_lake(lake)
    assert difference(file, lake) == []


@pytest.mark.slow
def test_a_deleted_run_comes_back(file: Path, lake: Path) -> None:
    main(["rm", "jaxlib-0.7.2", "--db", str(lake)])
    main(["ingest", str(RELEASES[1]), "--db", str(lake)])
    assert difference(file, lake) == []


@pytest.mark.slow
def test_a_pruned_run_becomes_whole_again(file: Path, lake: Path) -> None:
    main(["prune", "--keep", "1", "--db", str(lake)])
    main(["ingest", *map(str, RELEASES), "--db", str(lake)])
    assert difference(file, lake) == []


@pytest.mark.slow
def test_compaction_leaves_one_package_and_then_nothing_else(
    file: Path, lake: Path
) -> None:
    shown = [difference(file, lake)]
    for _ in range(3):
        compact_lake(lake, readers_seconds=0)
        shown.append(difference(file, lake))
    assert shown == [[]] * 4
    assert len(names_in(lake_at(lake), "runs")) == 1
    assert names_in(lake_at(lake), "instructions") == names_in(lake_at(lake), "runs")
    assert compact_lake(lake) is False


@pytest.mark.slow
def test_a_reader_of_the_state_before_can_go_on(file: Path, lake: Path) -> None:
    main(["rm", "jaxlib-0.7.2", "--db", str(lake)])
    with reading(lake) as before:
        expected = before.execute("SELECT count(*) FROM instructions").fetchall()
        compact_lake(lake)
        compact_lake(lake)
        found = before.execute("SELECT count(DISTINCT name) > 0, count(*) FROM"
                               " instructions").fetchall()  # fmt: skip
    assert found == [(True, *expected[0])]


@pytest.mark.slow
def test_a_run_that_comes_while_others_are_merged(
    made_file: Path,
    file: Path,
    empty_lake: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So does a second compaction, and a run that is deleted meanwhile."""
    lake = Path(shutil.copytree(empty_lake, tmp_path / "w.lake"))
    for number, dump in enumerate((*RELEASES, made_file.parent / "again.tar.xz")):
        ingest([str(dump)], tmp_path / f"{number}.duckdb", jobs=1)
    for number in (0, 1):
        add_runs(tmp_path / f"{number}.duckdb", lake_at(lake))

    def meanwhile(*arguments: object, **options: object) -> None:
        monkeypatch.undo()
        add_runs(tmp_path / "2.duckdb", lake_at(lake))
        compact_lake(lake)
        main(["rm", "jaxlib-0.7.2", "--db", str(lake)])
        write_package(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(packing, "write_package", meanwhile)
    compact_lake(lake)
    main(["rm", "jaxlib-0.7.2", "--db", str(file)])
    shown = [difference(file, lake)]
    for _ in range(2):
        compact_lake(lake, readers_seconds=0)
        shown.append(difference(file, lake))
    assert shown == [[]] * 3
