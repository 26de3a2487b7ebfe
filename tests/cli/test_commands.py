"""Every command as a process, and what `hlodb query` does with queries of users."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hlodb.cli import COMMANDS, cli, main, run
from hlodb.queries.catalogue import load_catalogue
from hlodb.schema.creation import create_file
from hlodb.schema.warehouse import connect
from hlodb.version import __version__
from tests.conftest import DATA

FOLDER = Path(__file__).parents[2] / "hlodb" / "commands"
# Files of that folder that commands share.
SHARED = {
    "__init__",
    "completion",
    "options",
    "report_text",
    "spark",
}

LARGE = """\
-- title: Large allocations
-- question: Which allocations are larger than a limit?
-- definition: Those of at least `least` bytes.
-- grain: allocation
-- param least BIGINT = 0: At least so many bytes.
-- column size_bytes BIGINT bytes lower_is_better: Size of the allocation.
SELECT a.size_bytes
FROM allocations AS a
WHERE a.size_bytes >= $least
ORDER BY a.size_bytes DESC
LIMIT 2
"""


def hlodb(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hlodb", *arguments], capture_output=True, text=True
    )


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    (tmp_path / "large.sql").write_text(LARGE)
    return tmp_path


def test_every_command_is_listed() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - SHARED == set(COMMANDS)
    listing = hlodb("--help").stdout.partition("Commands:\n")[2]
    named = [line.split()[0] for line in listing.splitlines() if line[2:3].strip()]
    assert named[: len(COMMANDS)] == list(COMMANDS)


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["nothing"], 2)])
def test_a_process_ends_with_the_code_of_its_command(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["hlodb", *arguments])
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == code
    assert hlodb(*arguments).returncode == code


@pytest.mark.slow
def test_pandas_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is installed, importing it would take longer than most commands."""
    (tmp_path / "pandas.py").write_text("import os\nos._exit(99)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HLODB_DB", str(tmp_path / "w.duckdb"))
    dumps = DATA / "changes" / "donation"
    commands = (
        ["ingest", str(dumps / "base"), str(dumps / "dropped")],
        ["runs"],
        ["query", "peak_by_space", "-p", "run=dropped"],
        ["diff", "base", "dropped"],
        ["check"],
        ["report", "--warn-only"],
    )
    codes = [hlodb(*arguments).returncode for arguments in commands]
    assert codes == [0 for _ in commands]


def test_a_process_without_memory_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_out(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "main", run_out)
    assert main(["runs"]) == 70
    assert capfd.readouterr().err == (
        "hlodb: out of memory: allow more, or pass fewer --jobs. Stored data is"
        " complete; ingest again for the rest\n"
    )


@pytest.mark.parametrize(("asked", "given"), [(None, "1"), ("3", "3")])
def test_numpy_starts_no_threads_unless_it_is_told_to(
    asked: str | None, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.setenv(name, asked or "")
    if asked is None:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["hlodb", "--version"])
    monkeypatch.setattr(gc, "freeze", lambda: None)
    with pytest.raises(SystemExit):
        run()
    assert os.environ[name] == given


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It begins with the verb of the list, and shows examples."""
    assert main([name, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    usage, _, text = out.partition("\n\n")
    assert usage.startswith(f"Usage: hlodb {name} ")
    assert text.split()[0] == COMMANDS[name].split()[0]
    assert f"  hlodb {name}" in text


WITHOUT_A_WAREHOUSE = (
    "query run_list", "sql SELECT", "runs", "modules", "check", "diff x y", "report",
    "triage", "triage x accept --reason y", "rm x", "prune --keep 1", "compact",
    "backup copy.duckdb", "migrate",
)  # fmt: skip


@pytest.mark.parametrize("arguments", WITHOUT_A_WAREHOUSE)
def test_a_missing_warehouse(
    arguments: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command says the same, makes nothing, and tells how one is made."""
    monkeypatch.chdir(tmp_path)
    assert main([*arguments.split(), "--db", "w.duckdb"]) == 2
    assert capfd.readouterr() == (
        "",
        "hlodb: there is no warehouse at w.duckdb: `hlodb ingest PATH --db w.duckdb`\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_the_catalogue_is_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["query"]) == 0
    capfd.readouterr()
    named = list(load_catalogue())
    assert main(["query", "--format", "json"]) == 0
    listed = json.loads(capfd.readouterr().out)
    assert [query["name"] for query in listed] == named


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (["--format", "csv"], None),
        (["--format", "csv", "-p", "top=7"], 7),
        (["--format", "csv", "-p", "top=100_000"], None),
        (["--format", "markdown"], 20),
        (["--format", "markdown", "-p", "top=7"], 7),
        (["--format", "markdown", "-p", "top="], None),
    ],
)
def test_only_tables_are_cut_and_say_so(
    demo_warehouse: Path,
    asked: list[str],
    shown: int | None,
    capfd: pytest.CaptureFixture[str],
) -> None:
    query = ["query", "largest_allocations", "--db", str(demo_warehouse), *asked]
    with connect(demo_warehouse) as connection:
        counted = connection.execute(
            "SELECT count(*) FROM allocations JOIN modules USING (module_id)"
            " WHERE run_id = (SELECT run_id FROM runs WHERE platform = 'tpu')"
        ).fetchone()
    assert counted is not None
    assert main([*query, "-p", "run=v5e-jax-0.10.2"]) == 0
    out, err = capfd.readouterr()
    header = 1 if "csv" in asked else 2
    assert len(out.splitlines()) - header == (shown or counted[0])
    assert err == (
        ""
        if shown is None
        else f"hlodb: first {shown} of {counted[0]} rows; pass `-p top=N` for N,"
        " `-p top=` for all\n"
    )


def test_an_empty_answer_says_what_to_do(
    demo_warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As the front matter of the query has it; without any it is just empty."""
    program = ["-p", "program=jit_cg", "--db", str(demo_warehouse)]
    assert main(["query", "scaling_law", *program]) == 0
    said = capfd.readouterr().err
    assert said.startswith("hlodb: no rows: no program was compiled at min_sizes sizes")
    assert main(["query", "size_axes", *program]) == 0
    assert capfd.readouterr().err == ""


def test_an_unknown_query(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "peak_contnets"]) == 2
    assert capfd.readouterr().err == (
        "hlodb: there is no query 'peak_contnets'; did you mean peak_contents?\n"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ingst", "did you mean ingest?"), ("xyzzy", "`hlodb --help` lists them")],
)
def test_an_unknown_command(
    name: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 2
    assert capfd.readouterr().err == (f"hlodb: there is no command {name!r}; {hint}\n")


@pytest.mark.parametrize(
    "arguments",
    ["rm nightly", "runs --series nightly", "prune --keep 1 --series nightly"],
)
def test_a_name_that_the_warehouse_does_not_hold(
    arguments: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is refused, with what there is: else a job would do nothing for ever."""
    db = tmp_path / "w.duckdb"
    with connect(db, read_only=False) as connection:
        connection.execute(
            "INSERT INTO runs BY NAME"
            " SELECT 1 AS run_id, 'a\x1b[31mb' AS name, 'weekly' AS series"
        )
    assert main([*arguments.split(), "--db", str(db)]) == 2
    held = "run 'nightly'; it has a\\x1b[31mb"
    if "--series" in arguments:
        held = "series 'nightly'; it has weekly"
    assert capfd.readouterr().err == f"hlodb: the warehouse has no {held}\n"


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_query_of_ones_own(
    demo_warehouse: Path,
    ours: Path,
    by: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if by == "environment":
        monkeypatch.setenv("HLODB_QUERIES", str(ours))
    options = ["--queries", str(ours)] if by == "option" else []
    asked = ["query", *options, "large", "--db", str(demo_warehouse), "-p", "least="]
    assert main([*asked[:-1], "least=100_000_000_000", "--format", "csv"]) == 0
    assert capfd.readouterr().out == "size_bytes\n"
    assert main([*asked[:-1], "least=1", "--format", "csv"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 3
    assert main(["query", *options, "large", "--help"]) == 0
    assert capfd.readouterr().out.startswith("large: Large allocations\n")


def test_a_sound_query_of_ones_own(
    ours: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", "--queries", str(ours), "--lint"]) == 0
    assert capfd.readouterr().out == "1 query, 0 faults\n"


def test_a_faulty_query_of_ones_own(
    ours: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (ours / "large.sql").write_text(LARGE.replace("size_bytes BIGINT", "size VARCHAR"))
    assert main(["query", "--queries", str(ours), "--lint"]) == 2
    printed = capfd.readouterr()
    assert printed.err.startswith(f"{(ours / 'large.sql').as_posix()}:1: columns")
    assert printed.out == "1 query, 1 fault\n"


def test_explained_sql_gives_the_same_rows_in_the_bare_duckdb(
    demo_warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["query", "peak_by_space", "-p", "program=jit_cnn"]
    assert main([*asked, "--explain"]) == 0
    script = capfd.readouterr().out
    assert main([*asked, "--db", str(demo_warehouse), "--format", "json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    done = subprocess.run(
        [Path(sys.executable).parent / "duckdb", "-readonly", "-json", demo_warehouse],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == rows != []


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [["runs"], ["diff", "base", "dropped"], ["report"], ["query", "run_list"]],
)
def test_an_output_that_cannot_be_written(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = str(tmp_path / "w.duckdb")
    changes = Path(__file__).parents[1] / "data" / "changes" / "donation"
    dumps = [str(changes / name) for name in ("base", "dropped")]
    assert main(["ingest", *dumps, "--db", db]) == 0
    capfd.readouterr()
    nowhere = tmp_path / "none" / "x"
    assert main([*command, "--db", db, "--output", str(nowhere)]) == 2
    expected = f"hlodb: cannot write {nowhere}: No such file or directory\n"
    assert capfd.readouterr().err == expected


def test_a_copy_without_a_directory(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "w.duckdb"
    create_file(db)
    copy = tmp_path / "none" / "copy.duckdb"
    assert main(["backup", str(copy), "--db", str(db)]) == 2
    expected = f"hlodb: there is no directory {copy.parent} for the copy\n"
    assert capfd.readouterr().err == expected


def test_a_warehouse_whose_name_is_no_utf8(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    assert main(["runs", "--db", db]) == 2
    assert capfd.readouterr().err == (
        f"hlodb: invalid value for '--db' (env var: 'HLODB_DB'): {db!r} is not UTF-8;"
        " see `hlodb runs --help`\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_what_went_wrong_inside_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a file, as a night can't be had again; where none can be made, at once."""

    def fail(**_: object) -> None:
        raise RuntimeError("a bug\nof two lines")

    monkeypatch.setattr("hlodb.commands.runs.command.callback", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["hlodb", "runs"])
    assert main(["runs"]) == 70
    [kept] = tmp_path.glob("hlodb-*.traceback")
    said = "hlodb: internal error: RuntimeError: a bug\nof two lines\n"
    report = "this is a fault of hlodb: please report it, with that, to its makers"
    assert capsys.readouterr().err == f"{said}where: {kept}\n{report}\n"
    first, second, *_, last_but_one, last = kept.read_text().splitlines()
    assert first == f"hlodb {__version__}: hlodb runs"
    assert second == "Traceback (most recent call last):"
    assert (last_but_one, last) == ("RuntimeError: a bug", "of two lines")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert main(["runs"]) == 70
    told = capsys.readouterr().err
    assert told.startswith(f"{said}Traceback (most recent call last):\n")
    assert told.endswith(f"\nRuntimeError: a bug\nof two lines\n\n{report}\n")
