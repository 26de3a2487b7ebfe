"""Hostile inputs end as docs/reference/hostile-input.md says; names do no harm."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from hlodb.cli import main
from hlodb.commands.ingest import parse_limits
from hlodb.errors import UsageError
from hlodb.ingest.formats.proto import broken_messages
from hlodb.ingest.records import MOST_KEPT
from hlodb.ingest.sources.discover import discover
from hlodb.ingest.sources.limits import Limits
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import write
from tests.reliability.hostile import INPUTS
from tests.reliability.hostile_archives import ARCHIVES
from tests.reliability.hostile_dump import LIMITS, SOUND
from tests.reliability.hostile_page import PAGE, outcomes, page
from tests.reliability.integrity import faults

LIMITS_THAT_REFUSE = {
    "file_bytes": "larger than the limit",
    "fact_bytes": "flags larger than the limit",
    "line_bytes": "a line longer than the limit",
    "expansion_ratio": "gz: bomb",
    "expansion_free_bytes": "gz: bomb",
    "archive_members": "tar: very many members",
    "held_bytes": "tar: companions that lie far apart",
    "directory_bytes": "zip: very large table of contents",
    "path_characters": "tar: very long name",
    "nesting_depth": "text proto nested deeper than the limit",
}
"""Input of the corpus that passes the limit."""


@pytest.mark.slow
def test_the_page_is_what_happens() -> None:
    """`python -m tests.reliability.hostile_page` renews it; review with git diff."""
    assert len(ARCHIVES) >= 10 and len(INPUTS) >= 40
    assert LIMITS_THAT_REFUSE.keys() == asdict(LIMITS).keys()
    assert page(outcomes()) == PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_limits() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = dict(re.findall(r"`([a-z_]+)` \(([0-9,]+[MG]?)\b", text))
    amounts = {name: value.replace(",", "") for name, value in named.items()}
    limits = parse_limits([f"{name}={value}" for name, value in amounts.items()])
    assert (amounts.keys(), limits) == (asdict(Limits()).keys(), Limits())
    fixed = (f"{MOST_KEPT:,} rejects", "64 MiB and 8 times its size")
    assert [part for part in fixed if part not in text] == []
    needed = {
        name: vars(broken_messages)[name] for name in ("_FREE_BYTES", "_MOST_TIMES")
    }
    assert needed == {"_FREE_BYTES": 64 << 20, "_MOST_TIMES": 8}


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS_THAT_REFUSE)
def test_every_limit_can_be_set_and_refuses(limit: str, tmp_path: Path) -> None:
    dump = str(INPUTS[LIMITS_THAT_REFUSE[limit]](tmp_path))
    lowered = [f"--limit={name}={value}" for name, value in asdict(LIMITS).items()]
    assert refusals(dump, tmp_path / "default.duckdb", []) == 0
    assert refusals(dump, tmp_path / "lowered.duckdb", lowered) > 0


def refusals(dump: str, db: Path, options: list[str]) -> int:
    # 3 where the archive as a whole is refused.
    assert main(["ingest", dump, "--db", str(db), *options]) in (0, 3)
    with connect(db) as connection:
        rows = connection.execute("SELECT count(*) FROM rejects WHERE code = 'refused'")
        [(count,)] = rows.fetchall()
    return int(count)


@pytest.fixture
def opened() -> Iterator[list[tuple[str, bool]]]:
    """Return what this process opens meanwhile, and whether it is for writing."""
    found: list[tuple[str, bool]] = []
    is_watching = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if is_watching and event == "open" and isinstance(arguments[0], str | bytes):
            writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
            path, _, flags = arguments
            found.append((os.fsdecode(path), bool((flags or 0) & writing)))

    # It cannot be removed.
    sys.addaudithook(hook)
    yield found
    is_watching = False


def is_plain(path: str) -> bool:
    return os.path.isfile(path) or os.path.isdir(path)


def test_nothing_is_unpacked_and_no_device_is_opened(
    tmp_path: Path, opened: list[tuple[str, bool]]
) -> None:
    """Modules of Python, which are loaded and compiled when needed, are left out."""
    for number, (name, make) in enumerate(INPUTS.items()):
        below = tmp_path / str(number)
        below.mkdir()
        dump = make(below)
        before, start = {*below.rglob("*")}, len(opened)
        with suppress(UsageError):
            for source in discover([str(dump)], limits=LIMITS):
                deque(source.units(), maxlen=0)
        paths = {path for path, _ in opened[start:] if "__pycache__" not in path}
        written = {path for path, is_writing in opened[start:] if is_writing}
        assert {path for path in written if "__pycache__" not in path} == set(), name
        assert [p for p in paths if os.path.exists(p) and not is_plain(p)] == [], name
        assert {*below.rglob("*")} == before, name
    assert sum(path.startswith(str(tmp_path)) for path, _ in opened) > 100


HOSTILE = "a'b\"c|d<script>alert(1)</script>\u202eevil\x1b[31m`x`"
"""Quote, double quote, bar, markup, text that turns round, colour, command."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a warehouse whose run, series, program and file have that name."""
    folder = tmp_path_factory.mktemp("names")
    name = f"module_0001.{HOSTILE.replace('/', '_')}.before_optimizations.txt"
    text = SOUND.replace(b"jit_f", HOSTILE.encode())
    dump = write(folder / "dump", {name: text})
    db = folder / "w.duckdb"
    options = ["--run", f"{HOSTILE}\nx", "--series", HOSTILE, "--label", f"x={HOSTILE}"]
    assert main(["ingest", str(dump), "--db", str(db), *options]) == 0
    assert faults(db) == []
    return db


def answer(db: Path, form: str, capfd: pytest.CaptureFixture[str]) -> str:
    capfd.readouterr()
    for command in (["runs"], ["modules"], ["query", "run_list"]):
        assert main([*command, "--db", str(db), "--format", form]) == 0
    return capfd.readouterr().out


@pytest.mark.slow
def test_names_on_a_terminal(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(hostile, "table", capfd)
    assert "evil" in text
    assert [c for c in text if c in "\x1b\u202e" or (c < " " and c != "\n")] == []


def test_names_in_what_commands_say(
    hostile: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = str(shutil.copy(hostile, tmp_path))
    capfd.readouterr()
    assert main(["prune", "--keep", "0", "--dry-run", "--db", db]) == 0
    assert main(["ingest", "--retry-rejects", "--db", db]) == 0
    assert main(["rm", f"{HOSTILE}\nx", "--db", db]) == 0
    said = capfd.readouterr().err.splitlines()
    name = "a'b\"c|d<script>alert(1)</script>\\u202eevil\\x1b[31m`x`\\nx"
    assert [line.partition(",")[0] for line in said if not line.endswith("/s)")] == [
        f"hlodb: run {name} would be pruned",
        f"hlodb: run {name}: 1 place could not be read",
        f"hlodb: run {name} is deleted",
    ]


def test_names_that_are_no_utf8(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder, a file in a log, a module in JSON; a name that one gives is refused."""
    dump, db = f"{tmp_path}/d\udcff", str(tmp_path / "w.duckdb")
    os.mkdir(dump)
    name = b"module_0001.jit_f\xff.before_optimizations.txt"
    log = b"*** Begin %s ***\n%s*** End %s ***\n" % (name, SOUND, name)
    analysis = b'[{"module": "jit_\\ud800", "temp_size_in_bytes": 1}]'
    Path(dump, "log.txt").write_bytes(log)
    Path(dump, "memory_analysis.json").write_bytes(analysis)
    assert main(["ingest", dump, "--db", db]) == 0
    with connect(db) as connection:
        found = connection.execute(
            "SELECT r.name, m.path, a.module_name FROM runs AS r"
            " JOIN modules AS m USING (run_id) JOIN memory_analysis AS a USING (run_id)"
        ).fetchall()
    path = "log.txt/module_0001.jit_f\\udcff.before_optimizations.txt"
    assert found == [("d\\udcff", path, "jit_\\ud800")]
    capfd.readouterr()
    for option in ("--run", "--series", "--commit", "--label"):
        assert main(["ingest", dump, "--db", db, option, "k=\udcff"]) == 2
    assert capfd.readouterr().err.count("is not UTF-8") == 4


def test_names_in_markdown(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = answer(hostile, "markdown", capfd)
    assert "evil" in text
    assert re.search(r"(?<!\\)<script", text) is None and "\x1b" not in text
    rows = [line for line in text.splitlines() if "evil" in line]
    assert rows and all(line.startswith("|") and line.endswith("|") for line in rows)


def test_names_in_json(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["runs", "--db", str(hostile), "--format", "json"]) == 0
    text = capfd.readouterr().out
    assert [c for c in text if c in "\x1b\u202e" or (c < " " and c != "\n")] == []
    [row] = json.loads(text)
    assert (row["run"], row["series"]) == (f"{HOSTILE}\nx", HOSTILE)


def test_names_in_reports(hostile: Path, tmp_path: Path) -> None:
    forms = ["text", "markdown", "comment", "junit", "json"]
    written = [f"--write={form}={tmp_path / form}" for form in forms]
    # XLA's parser would refuse the program's name: the data is not sound.
    options = ["--no-record", "--allow-empty", "--db", str(hostile)]
    assert main(["report", *written, *options]) == 3
    texts = {form: (tmp_path / form).read_text() for form in forms}
    for form, text in texts.items():
        assert "evil" in text, form
        assert [c for c in text if c in "\x1b\u202e" or (c < " " and c != "\n")] == []
    assert json.loads(texts["json"])
    assert fromstring(texts["junit"]).tag == "testsuites"
    for form in ("markdown", "comment"):
        fenced = re.compile(r"^```.*?^```$", flags=re.DOTALL | re.MULTILINE)
        assert re.search(r"(?<!\\)<script", fenced.sub("", texts[form])) is None


def test_names_as_parameters(hostile: Path) -> None:
    run = ["-p", f"run={HOSTILE}\nx"]
    assert main(["query", "module_list", *run, "--db", str(hostile)]) == 0
    assert main(["rm", f"{HOSTILE}\ny", "--db", str(hostile)]) == 2


def test_limits() -> None:
    assert parse_limits(["file_bytes=2GiB", "archive_members=7"]) == Limits(
        file_bytes=2 << 30, archive_members=7
    )
    assert parse_limits(["file_bytes=2G"]) == Limits(file_bytes=2 << 30)
    assert parse_limits(["nesting_depth=7"]) == Limits(nesting_depth=7)
    wrong = ("file_bytes", "file_bytes=", "file_bytes=-1", "file_bytes=1X", "no=1")
    for text in (*wrong, "nesting_depth=101"):
        with pytest.raises(UsageError, match="limit"):
            parse_limits([text])
