"""Each message about a usual mistake names the command that works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hlodb.cli import COMMANDS, main
from hlodb.queries.catalogue import BUILDING_BLOCKS, load_catalogue
from hlodb.queries.describe import QUESTIONS
from hlodb.schema.creation import create_file
from tests.conftest import REPOSITORY


def said(capfd: pytest.CaptureFixture[str]) -> str:
    captured = capfd.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("peak_contents", "; did you mean `hlodb query peak_contents`?"),
        ("peak_content", "; did you mean `hlodb query peak_contents`?"),
        ("reports", "; did you mean report?"),
        ("zzz", "; `hlodb --help` lists them"),
    ],
)
def test_a_command_that_is_none(
    typed: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([typed]) == 2
    assert said(capfd) == f"hlodb: there is no command {typed!r}{hint}\n"


def test_a_program_behind_the_query(
    demo_warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = ["--db", str(demo_warehouse), "--format", "csv"]
    answers = []
    for words in (["jit_cnn"], ["program=jit_cnn"], ["-p", "program=jit_cnn"]):
        assert main(["query", "peak_contents", *words, *db]) == 0
        answers.append(capfd.readouterr().out)
    assert len(set(answers)) == 1
    assert "jit_cnn" in answers[0]
    assert main(["query", "run_list", "jit_cnn", *db]) == 2
    told = "hlodb: query run_list takes no program; parameters: -p series=…\n"
    assert said(capfd) == told


def test_the_warehouse_before_the_command(
    demo_warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It wins over the environment; what follows the command wins over both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HLODB_DB", "none.duckdb")
    db = ["--db", str(demo_warehouse)]
    assert main([*db, "runs", "--format", "csv"]) == 0
    assert "v5e-jax-0.10.2" in capfd.readouterr().out
    assert main(["--db", "none.duckdb", "runs", *db]) == 0
    capfd.readouterr()
    assert main(["runs"]) == 2
    assert said(capfd).startswith("hlodb: there is no warehouse at none.duckdb")


def test_an_unknown_program_lists_the_programs(
    demo_warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["query", "peak_contents", "jit_cn", "--db", str(demo_warehouse)]
    assert main(asked) == 2
    assert re.fullmatch(
        r"hlodb: the warehouse has no program 'jit_cn'; did you mean jit_cnn\?"
        r" It has jit__.*, jit_cg, jit_cnn, .*\n",
        said(capfd),
    )


def test_triage_without_findings(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    create_file(tmp_path / "w.duckdb")
    assert main(["triage", "--db", str(tmp_path / "w.duckdb")]) == 0
    captured = capfd.readouterr()
    assert captured.out.splitlines()[-1] == "(no rows)"
    db = tmp_path / "w.duckdb"
    told = f"hlodb: no findings recorded; `hlodb --db {db} report` records them\n"
    assert captured.err == told


def test_commands_in_errors_name_the_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Unless it is the one that a command finds by itself."""
    monkeypatch.chdir(tmp_path)
    create_file(tmp_path / "w.duckdb")
    told = "hlodb: the warehouse has no run: ingest a dump, see `hlodb {}runs`\n"
    assert main(["report", "--db", "w.duckdb"]) == 4
    assert said(capfd) == told.format("--db w.duckdb ")
    assert main(["--db", "w.duckdb", "report"]) == 4
    assert said(capfd) == told.format("--db w.duckdb ")
    monkeypatch.setenv("HLODB_DB", "w.duckdb")
    assert main(["report"]) == 4
    assert said(capfd) == told.format("")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["runs", "--sries", "x"],
            "no such option '--sries' (did you mean --series or --wide?); see",
        ),
        (
            ["diff", "a", "b", "--write", "html=x"],
            "no such option '--write': pass --format html -o FILE; see",
        ),
        (["report", "--fail-on", "x"], "invalid value for '--fail-on'"),
        (["diff", "x"], "missing argument 'B'"),
        (["report", "pr-17"], "unexpected argument pr-17 (did you mean --run pr-17?)"),
        (["runs", "pr-17"], "got unexpected extra argument (pr-17)"),
    ],
)
def test_errors_have_one_style(
    arguments: list[str], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    (line,) = said(capfd).splitlines()
    assert line.startswith(f"hlodb: {told}")
    assert line.endswith(f"; see `hlodb {arguments[0]} --help`")


def test_the_list_of_queries_begins_with_questions(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["query"]) == 0
    text = capfd.readouterr().out
    first, *asked = text.partition("\n\n")[0].splitlines()
    assert (first, len(asked)) == ("Frequent questions", 6)
    apart = {"checks", *BUILDING_BLOCKS}
    catalogue = load_catalogue()
    hidden = [q.name for q in catalogue.values() if q.group in apart]
    last = f"{len(hidden)} building blocks and checks: hlodb query --all"
    assert text.splitlines()[-1] == last
    named = set(re.findall(r"^  ([a-z_0-9]+)  ", text, re.MULTILINE))
    assert named == {*catalogue} - {*hidden}
    assert main(["query", "--all"]) == 0
    text = capfd.readouterr().out
    assert set(re.findall(r"^  ([a-z_0-9]+)  ", text, re.MULTILINE)) == {*catalogue}


def test_frequent_questions_name_what_there_is() -> None:
    for command in QUESTIONS.values():
        _, name, *words = command.split()
        assert name in COMMANDS
        assert name != "query" or words[0] in load_catalogue()


def test_statements_of_the_demo_can_be_pasted(
    demo_warehouse: Path, tmp_path: Path
) -> None:
    """They are printed as a shell takes them, whatever quotes they hold."""
    script = (REPOSITORY / "examples" / "demo.sh").read_text()
    (ask,) = re.findall(r"^ask\(\) .*$", script, re.MULTILINE)
    sql = """SELECT 'a' AS "0.4.13", '$HOME' AS b,\n  name FROM runs LIMIT 1"""
    shown = subprocess.run(
        [
            "bash",
            "-c",
            f"dim='' plain=''\nhlodb() {{ :; }}\n{ask}\nask \"$1\"",
            "-",
            sql,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    pasted = shown.removeprefix("$ ").replace("hlodb sql -", "cat")
    done = subprocess.run(["bash", "-c", pasted], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{sql}\n", "")
