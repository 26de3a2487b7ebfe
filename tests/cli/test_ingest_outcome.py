"""What `hlodb ingest` says of what it could not read, and its exit code."""

from __future__ import annotations

import json
import shutil
import tarfile
from datetime import datetime
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.schema.warehouse import connect

DUMP = Path(__file__).parents[1] / "data" / "changes" / "dtype" / "widened"
TEXT = "module_0000.jit_step.cpu_after_optimizations.txt"
LIVE_RANGES = "module_0000.jit_step.cpu_after_optimizations-live-range.txt"
FLAGS = "module_0000.jit_step.debug_options"
BROKEN = "module_0099.jit_z.cpu_after_optimizations.txt"
BINARY = bytes(range(256)) * 20

HOW = (
    "XLA writes a dump when XLA_FLAGS=--xla_dump_to=DIRECTORY is set before the"
    " program starts."
)
SHOWN = "`hlodb --db w.duckdb query rejects_summary -p run=dump` lists them"
ALL_SHOWN = "`hlodb --db w.duckdb query rejects_summary`"
LOST = f"run dump: 1 place could not be read, no module was loaded; {SHOWN}"
PARTLY = f"run dump: 1 place could not be read, everything else was loaded; {SHOWN}"
NOTHING = f"1 place could not be read, and no module was loaded: see {ALL_SHOWN}"

CONTENTS: dict[str, bytes | None] = {
    TEXT: None,
    LIVE_RANGES: None,
    FLAGS: b"xla_dump_to: '/x'\n",
    BROKEN: BINARY,
    "a.bin": BINARY,
    "x.py": b"print(1)\n",
}
"""Content of files by name; that of DUMP where there is none."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump").mkdir()
    return tmp_path / "dump"


def fill(folder: Path, *names: str) -> None:
    for name in names:
        content = CONTENTS[name]
        if content is None:
            shutil.copy(DUMP / name, folder)
        else:
            (folder / name).write_bytes(content)


def ingest(
    capfd: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[int], list[str]]:
    """Return the exit code, modules by run, and what was said but for the last rate."""
    code = main(["ingest", *arguments, "--db", "w.duckdb", "--format", "json"])
    printed = capfd.readouterr()
    runs = json.loads(printed.out)["runs"] if printed.out else []
    said = [line.removeprefix("hlodb: ") for line in printed.err.splitlines()]
    return (
        code,
        [r["modules"] for r in runs],
        [s for s in said if not s.endswith("/s)")],
    )


@pytest.mark.parametrize(
    ("names", "code", "modules", "said"),
    [
        ([TEXT], 0, [1], []),
        ([TEXT, BROKEN], 0, [1], [PARTLY]),
        ([BROKEN], 3, [0], [LOST, NOTHING]),
        ([FLAGS, BROKEN], 3, [0], [LOST, NOTHING]),
        ([LIVE_RANGES], 0, [1], []),
        ([LIVE_RANGES, BROKEN], 0, [1], [PARTLY]),
        ([FLAGS], 0, [0], ["run dump holds no module"]),
        ([], 2, [], [f"{{folder}} is empty. {HOW}"]),
        (
            ["a.bin"],
            2,
            [],
            [f"{{folder}} holds no XLA dump, only a.bin (binary data). {HOW}"],
        ),
    ],
    ids=lambda value: "+".join(map(str, value)) if isinstance(value, list) else None,
)
def test_a_directory(
    names: list[str],
    code: int,
    modules: list[int],
    said: list[str],
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    fill(folder, *names)
    expected = [line.format(folder=folder) for line in said]
    assert ingest(capfd, "dump") == (code, modules, expected)


def test_a_second_try_says_the_same(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(folder, BROKEN)
    first = ingest(capfd, "dump")
    code, modules, said = ingest(capfd, "dump")
    assert said.pop(1) == "run dump is unchanged, already ingested"
    assert (code, modules, said) == first


def test_strict_fails_where_something_is_loaded(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(folder, TEXT, BROKEN)
    assert ingest(capfd, "dump", "--strict") == (
        3,
        [1],
        [PARTLY, f"1 place could not be read: see {ALL_SHOWN}"],
    )


def test_an_archive_without_a_dump(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is found out while it is read, and ends as such a directory does."""
    fill(folder, "x.py")
    with tarfile.open("dump.tar", "w") as archive:
        archive.add(folder, "dump")
    assert ingest(capfd, "dump.tar") == (
        2,
        [0],
        [
            "run dump holds no XLA dump; `hlodb --db w.duckdb rm dump` deletes it",
            f"no XLA dump in the named paths. {HOW}",
        ],
    )


def test_a_run_that_is_called_like_an_option_can_be_forgotten(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "x.py")
    with tarfile.open("dump.tar", "w") as archive:
        archive.add(folder, "dump")
    _, _, said = ingest(capfd, "dump.tar", "--run", "-x")
    forgetting = "hlodb --db w.duckdb rm -- -x"
    assert said[0] == f"run -x holds no XLA dump; `{forgetting}` deletes it"
    assert main(forgetting.split()[1:]) == 0


def test_a_broken_archive_beside_a_dump(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One bad input stops nothing: the rest is in, and what isn't is reported."""
    fill(folder, TEXT)
    Path("bad.zip").write_bytes(BINARY)
    code, modules, said = ingest(capfd, "dump", "bad.zip")
    assert (code, modules) == (0, [1, 0])
    assert said == [
        "run bad: 1 place could not be read, no module was loaded;"
        " `hlodb --db w.duckdb query rejects_summary -p run=bad` lists them",
    ]
    code, modules, said = ingest(capfd, "bad.zip")
    assert (code, modules, said[-1]) == (3, [0], NOTHING)


def test_a_name_reaches_no_terminal_with_control_characters(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(folder, FLAGS)
    _, _, said = ingest(capfd, "dump", "--run", "a\x1b[31m\u202eb")
    assert said == ["run a\\x1b[31m\\u202eb holds no module"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param("2026-01-31", datetime(2026, 1, 31), marks=pytest.mark.slow),
        pytest.param(
            "2026-01-31 02:03:04",
            datetime(2026, 1, 31, 2, 3, 4),
            marks=pytest.mark.slow,
        ),
        ("2026-01-31T02:03:04Z", datetime(2026, 1, 31, 2, 3, 4)),
        ("2026-01-31T02:03:04.5+05:30", datetime(2026, 1, 30, 20, 33, 4)),
        ("yesterday", None),
    ],
)
def test_times_as_others_write_them(
    given: str, stored: datetime | None, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(folder, TEXT)
    code, *_ = ingest(capfd, "dump", "--started-at", given)
    assert code == (2 if stored is None else 0)
    if stored is not None:
        with connect("w.duckdb") as connection:
            found = connection.execute("SELECT started_at FROM runs").fetchall()
        assert found == [(stored,)]
