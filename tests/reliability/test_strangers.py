"""A warehouse or a lake made by somebody else reads and writes no other file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from hlodb.cli import COMMANDS, main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from tests.conftest import DATA, REPOSITORY, Made
from tests.reliability import strangers
from tests.reliability.strangers import CANARY, SECRET, TARGET

Asked = tuple[set[str], set[str]]
"""Names of functions and of relations."""

PAYLOADS = {
    "read_text": "SELECT content FROM read_text('{canary}')",
    "a bare name": "SELECT {column} FROM '{canary}'",
    "a log": "SELECT 1 FROM"
    " enable_logging(storage := 'file', storage_path := '{target}')",
}
"""What hidden SQL does, by name."""


class Place(NamedTuple):
    """A folder with a warehouse, a secret beside it, and no target."""

    folder: Path
    db: Path

    def payload(self, name: str) -> str:
        return PAYLOADS[name].format(
            canary=self.folder / CANARY,
            target=self.folder / TARGET,
            column=f'"{SECRET}"',
        )


@pytest.fixture(scope="module")
def sound(made: Made) -> Path:
    def make(path: Path) -> None:
        dumps = [str(DATA / "moved_lines" / name) for name in ("before", "after")]
        ingest(dumps, path, jobs=1, prepare=renew_macros)

    return made("strangers", make)


@pytest.fixture(scope="module")
def asked(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Return the functions and relations that hlodb asks for, as traced."""
    folder = tmp_path_factory.mktemp("traced")
    copy = folder / "w.duckdb"
    shutil.copyfile(sound, copy)
    code = (
        "import json, sys; from pathlib import Path;"
        " from tests.reliability.strangers import asked_names;"
        " functions, relations = asked_names(Path(sys.argv[1]));"
        " print(json.dumps([sorted(functions), sorted(relations)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(copy)],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    functions, relations = json.loads(done.stdout.splitlines()[-1])
    return {*functions}, {*relations}


@pytest.fixture(params=["file", "lake"])
def place(request: pytest.FixtureRequest, sound: Path, tmp_path: Path) -> Place:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / CANARY).write_text(f"{SECRET}\n1\n")
    file = folder / "w.duckdb"
    shutil.copyfile(sound, file)
    if request.param == "file":
        return Place(folder, file)
    lake = folder / "w.lake"
    assert main(["lake", "pack", str(file), str(lake)]) == 0
    file.unlink()
    return Place(folder, lake)


def catalogue_of(place: Place) -> Path:
    """Return the database file of a warehouse."""
    return place.db / "lake.duckdb" if place.db.is_dir() else place.db


def outcomes_of(place: Place) -> list[tuple[str, int, str]]:
    """Carry out every command; nothing may reach the canary, or make the target."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.strangers", *map(str, place)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["opened"] == []
    for command, code, text in found["outcomes"]:
        assert SECRET not in text.replace(f'"{SECRET}"', ""), command
        assert code in (0, 1, 2, 3, 4, 5), f"{command}: {text}"
    assert not (place.folder / TARGET).exists()
    secret = SECRET.encode()
    for path in place.folder.rglob("*"):
        if path.is_file() and path.name != CANARY and path != catalogue_of(place):
            assert b"\n1\n" not in path.read_bytes() or secret not in path.read_bytes()
    outcomes: list[tuple[str, int, str]] = found["outcomes"]
    return outcomes


Spoil = Callable[[Place, Asked], int]


def spoil_functions(place: Place, asked: Asked) -> int:
    return strangers.hide_functions(
        catalogue_of(place), asked[0], place.payload("read_text")
    )


def spoil_queries(place: Place, asked: Asked) -> int:
    return strangers.replace_queries(catalogue_of(place), place.payload("read_text"))


def spoil_queries_barely(place: Place, asked: Asked) -> int:
    return strangers.replace_queries(catalogue_of(place), place.payload("a bare name"))


def spoil_queries_with_logs(place: Place, asked: Asked) -> int:
    return strangers.replace_queries(catalogue_of(place), place.payload("a log"))


def spoil_views(place: Place, asked: Asked) -> int:
    names = strangers.shown_names()
    return strangers.replace_relations(
        catalogue_of(place), names, place.payload("read_text")
    )


def spoil_views_barely(place: Place, asked: Asked) -> int:
    names = strangers.shown_names() | asked[1]
    return strangers.replace_relations(
        catalogue_of(place), names, place.payload("a bare name")
    )


def spoil_tables(place: Place, asked: Asked) -> int:
    return strangers.replace_relations(
        catalogue_of(place), strangers.stored_names(), place.payload("read_text")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil",
    [
        spoil_functions,
        spoil_queries,
        spoil_queries_barely,
        spoil_queries_with_logs,
        spoil_views,
        spoil_views_barely,
        spoil_tables,
    ],
)
def test_no_command_leaves_the_warehouse(
    spoil: Spoil, place: Place, asked: Asked
) -> None:
    assert spoil(place, asked) > 0
    assert len(outcomes_of(place)) == len(strangers.COMMANDS)


def test_every_command_is_carried_out() -> None:
    without_warehouse = {"mcp", "replay", "schema", "skill"}
    named = {name for name, *_ in strangers.COMMANDS}
    assert named == COMMANDS.keys() - without_warehouse


@pytest.mark.slow
def test_the_traced_names(asked: Asked) -> None:
    """The names by which a file could get between hlodb and DuckDB are among them."""
    functions, relations = asked
    assert {
        "current_setting",
        "current_database",
        "duckdb_tables",
        "count",
    } <= functions
    assert {"runs", "modules", "warehouse_info"} <= relations
    assert len(functions) > 200


def test_a_macro_that_answers_for_the_lock(
    place: Place, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Answers of the file switch no limit off, and a note names what it hides."""
    with duckdb.connect(str(catalogue_of(place))) as connection:
        connection.execute("CREATE MACRO current_setting(x) AS true")
        connection.execute(
            f"CREATE TYPE {_database(connection)}.main.json AS ENUM ('a')"
        )
    capfd.readouterr()
    sql = f"FROM read_text('{place.folder / CANARY}')"
    assert main(["sql", sql, "--db", str(place.db)]) == 2
    output = capfd.readouterr()
    assert output.out == ""
    assert "disabled by configuration" in output.err
    assert "has macro current_setting(), type json, which hide what" in caplog.text


def _database(connection: duckdb.DuckDBPyConnection) -> str:
    [(name,)] = connection.sql("SELECT current_database()").fetchall()
    return str(name)


def test_answers_do_not_depend_on_hiding_macros(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    commands = (["runs"], ["query", "peak_by_space"], ["sql", "FROM run_list()"])

    def answers() -> list[str]:
        capfd.readouterr()
        for command in commands:
            assert main([*command, "--format", "json", "--db", str(place.db)]) == 0
        return [capfd.readouterr().out]

    before = answers()
    strangers.hide_functions(
        catalogue_of(place), {"count", "max", "coalesce", "sum"}, "SELECT 42"
    )
    assert answers() == before


def test_objects_with_names_of_their_own_are_used(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.duckdb"
    shutil.copyfile(sound, own)
    with duckdb.connect(str(own)) as connection:
        connection.execute("CREATE MACRO mib(x) AS x / 1048576")
        connection.execute("CREATE VIEW run_names AS SELECT name FROM runs")
    sql = "SELECT name, mib(1048576) AS m FROM run_names ORDER BY name"
    assert main(["sql", sql, "--format", "csv", "--db", str(own)]) == 0
    assert capfd.readouterr() == ("name,m\nafter,1.0\nbefore,1.0\n", "")
    assert main(["ingest", str(DATA / "seeds"), "--db", str(own)]) == 0
    assert main(["compact", "--db", str(own)]) == 0
    capfd.readouterr()
    copy = tmp_path / "copy.duckdb"
    assert main(["backup", str(copy), "--db", str(own)]) == 0
    sql = "SELECT name, mib(1048576) FROM run_names"
    for path in (own, copy):
        capfd.readouterr()
        assert main(["sql", sql, "--format", "csv", "--db", str(path)]) == 0
        assert "seeds,1.0" in capfd.readouterr().out


def test_another_text_of_a_query_that_reads_the_file_alone_is_not_noticed(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.duckdb"
    shutil.copyfile(sound, other)
    with duckdb.connect(str(other)) as connection:
        connection.execute(
            "CREATE OR REPLACE MACRO run_list() AS TABLE SELECT 'x' AS run FROM runs"
        )
    sql = "SELECT run FROM run_list()"
    assert main(["sql", sql, "--format", "csv", "--db", str(other)]) == 0
    assert capfd.readouterr() == ("run\nx\nx\n", "")


def test_names_of_duckdb_are_asked_for_in_full() -> None:
    """A file cannot define what `system.main` names."""
    called = re.compile(
        r"(?<!system\.main\.)\b(current_database|current_setting|duckdb_\w+)\s*\("
    )
    rooms = ("hlodb", "ingest", "queries", "schema")
    found = {
        f"{path.relative_to(REPOSITORY)}: {match[1]}"
        for room in rooms
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in (".py", ".sql")
        for match in called.finditer(path.read_text(encoding="utf-8"))
    }
    assert found == set()


@pytest.mark.slow
def test_objects_aside_are_not_reached_by_their_full_names(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    evil = tmp_path / "evil.duckdb"
    shutil.copyfile(sound, evil)
    with duckdb.connect(str(evil)) as connection:
        connection.execute("CREATE MACRO wait() AS TABLE FROM enable_logging()")
        connection.execute("CREATE VIEW waiting AS FROM wait()")
    for sql in (
        "FROM wait()",
        "FROM waiting",
        "FROM evil.main.wait()",
        'FROM "evil".waiting',
        "USE evil; FROM waiting",
        "SET search_path = 'evil.main'; FROM waiting",
    ):
        assert main(["sql", sql, "--db", str(evil)]) == 2, sql
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_a_writer_names_what_was_in_its_way(
    sound: Path,
    tmp_path: Path,
    asked: Asked,
    capfd: pytest.CaptureFixture[str],
) -> None:
    evil = tmp_path / "evil.duckdb"
    shutil.copyfile(sound, evil)
    strangers.hide_functions(evil, asked[0], "SELECT error('mine')")
    assert main(["ingest", str(DATA / "seeds"), "--db", str(evil)]) == 5
    assert "more, which hide what hlodb or DuckDB defines" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_lake_with_a_link(
    kind: str, sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lake, outside = tmp_path / "w.lake", tmp_path / "outside"
    assert main(["lake", "pack", str(sound), str(lake)]) == 0
    outside.mkdir()
    (outside / CANARY).write_text(SECRET)
    link = lake / "runs" / "x.txt" if kind == "file" else lake / "more"
    link.symlink_to(outside / CANARY if kind == "file" else outside)
    for command in (
        ["runs"],
        ["ingest", str(DATA / "seeds")],
        ["rm", "before"],
        ["triage"],
        ["compact"],
    ):
        capfd.readouterr()
        assert main([*command, "--db", str(lake)]) == 5
        assert f"{link}: a link, a pipe or a device, and" in capfd.readouterr().err
    assert [path.name for path in outside.iterdir()] == [CANARY]


@pytest.mark.parametrize("name", ["lake.duckdb", "instructions/*"])
def test_a_lake_with_a_pipe(
    name: str, sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lake = tmp_path / "w.lake"
    assert main(["lake", "pack", str(sound), str(lake)]) == 0
    pipe = next(lake.glob(name))
    pipe.unlink()
    os.mkfifo(pipe)
    for command in (["runs"], ["ingest", str(DATA / "seeds")], ["compact"]):
        capfd.readouterr()
        assert main([*command, "--db", str(lake)]) == 5
        assert f"{pipe}: a link, a pipe or a device, and" in capfd.readouterr().err


def test_a_file_whose_log_is_a_pipe(
    sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "w.duckdb"
    shutil.copyfile(sound, db)
    os.mkfifo(f"{db}.wal")
    assert main(["runs", "--db", str(db)]) == 5
    assert f"{db}.wal is a link, a pipe or a device" in capfd.readouterr().err


@pytest.mark.parametrize("ending", [".lock", ".staged", ".tmp", ".wal"])
def test_a_file_with_a_link_beside_it(
    ending: str, sound: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Else it is emptied, renamed or overwritten where the link leads."""
    db, outside = tmp_path / "w.duckdb", tmp_path / "outside"
    shutil.copyfile(sound, db)
    (outside / "docs").mkdir(parents=True)
    (outside / CANARY).write_text(SECRET)
    link = Path(f"{db}{ending}")
    link.symlink_to(outside if ending in (".staged", ".tmp") else outside / CANARY)
    other = tmp_path / "other.duckdb"
    other.symlink_to(db)
    for path in (db, other):
        for command in (
            ["runs"],
            ["ingest", str(DATA / "seeds")],
            ["rm", "before"],
            ["backup", str(tmp_path / "copy.duckdb")],
            ["compact"],
            ["migrate"],
        ):
            capfd.readouterr()
            assert main([*command, "--db", str(path)]) == 5
            assert f"{link} is a link, a pipe or a" in capfd.readouterr().err
    assert sorted(path.name for path in outside.iterdir()) == [CANARY, "docs"]
    assert (outside / CANARY).read_text() == SECRET


def test_no_address_of_a_warehouse_is_fetched(
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only one that the user names as well is."""
    db = tmp_path / "w.duckdb"
    shutil.copyfile(sound, db)
    address = "memory://somewhere/dump"
    with duckdb.connect(str(db)) as connection:
        connection.execute("UPDATE runs SET origin = ?", [address])
        connection.execute(
            "INSERT INTO rejects (run_id, path, line, code) SELECT run_id, 'x', 1, 'x'"
            " FROM runs"
        )
    asked: list[list[str]] = []

    def discover(paths: list[str], **_: object) -> list[object]:
        asked.append(paths)
        return []

    monkeypatch.setattr("hlodb.ingest.pipeline.retry.discover", discover)
    assert main(["check", "--deep", "--db", str(db)]) in (0, 3)
    assert main(["ingest", "--retry-rejects", "--db", str(db)]) == 0
    output = capfd.readouterr().err
    assert asked == []
    assert f"it came from {address}, which is fetched only with --fetch" in output
    assert f"`hlodb ingest {address} --run after --retry-rejects`" in caplog.text
    main(["check", "--deep", "--fetch", address, "--db", str(db)])
    assert asked == [[address], [address]]
