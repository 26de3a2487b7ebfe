"""`hlodb explain`: one dump or log, without a warehouse."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.gold_reports import EXPLAINED, EXPLANATION
from tests.ingest.formats.logs.test_oom_log import TPU

CUT = DATA / "changes" / "donation" / "dropped"


def explain(
    folder: Path, *arguments: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder of its own, as a process."""
    return subprocess.run(
        [sys.executable, "-m", "hlodb", "explain", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(DATA.parents[1]), "TMPDIR": str(folder)},
    )


def test_a_dump_is_explained_and_nothing_is_kept(tmp_path: Path) -> None:
    done = explain(tmp_path, str(EXPLAINED), "--top", "3")
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.replace(str(EXPLAINED), EXPLAINED.name)
    # Wrapped otherwise: tests of widths look at that.
    assert printed.split() == EXPLANATION.read_text().split()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_data_are_rows_of_queries(demo_warehouse: Path, tmp_path: Path) -> None:
    run = "v5e-jax-0.10.2"
    done = explain(
        tmp_path, "--db", str(demo_warehouse), "--run", run, "--format", "json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    [found] = json.loads(done.stdout)["runs"]
    assert found["run"] == run
    asked: dict[str, dict[str, Value]] = {
        "live_timeline": {"points": 60},
        "peak_by_role": {"by_rule": False},
        "peak_contents": {"top": 20},
    }
    with connect(demo_warehouse) as connection:
        for query, rows in found["answers"].items():
            more = asked.get(query, {})
            result = run_query(connection, query, {"run": run, **more}).dicts()
            assert rows == json.loads(json.dumps(result)), query
    assert found["answers"].keys() == {
        *("oom_summary", "oom_buffers_explained", "oom_chunks_explained"),
        *("printed_memory", "rejects_summary", "headroom"),
        *("peak_by_space", "live_timeline", "peak_by_role", "peak_by_source_line"),
        *("peak_by_layer", "peak_contents", "remedies", "frag_breakdown"),
    }


@pytest.mark.slow
def test_layers_alike_share_a_line_and_a_loop_over_layers_has_none(
    demo_warehouse: Path, tmp_path: Path
) -> None:
    """The two blocks hold nothing but arguments, which are the same for both."""
    run = ("--run", "v5e-jax-0.10.2", "--format", "markdown")
    told = explain(tmp_path, "--db", str(demo_warehouse), *run).stdout
    assert "15 or more others" in told
    sections = dict(part.split("\n", 1) for part in told.split("\n### ")[1:])
    titles = {
        title.replace("\\", ""): "Which layers hold it:" in text
        for title, text in sections.items()
        if title.endswith("HBM")
    }
    assert titles == {
        "jit_gpt_fsdp: HBM": False,
        "jit_gpt_unrolled: HBM": True,
        "jit_gpt_scan_remat: HBM": False,
    }
    table = told.split("Which layers hold it:\n\n")[1].split("\n\n")[0]
    assert table.replace("\\", "").splitlines()[2:] == [
        "| 18.01 MiB | 73.8 % | blocks_0 … blocks_1 | 2 of 9.01 MiB |",
        "| 6.38 MiB | 26.2 % | (no layer) |  |",
    ]


def test_a_log_on_the_standard_input(tmp_path: Path) -> None:
    done = explain(tmp_path, "-", given=f"step 7\n{TPU}step 8\n")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "save the standard input as a file, and ingest that:" in done.stdout
    assert "hlodb ingest FILE" in done.stdout
    assert lines[0] == (
        "standard input: a program ran out of memory in HBM: it needs 64.00 GiB of"
        " 31.50 GiB, 32.50 GiB too much"
    )
    assert lines[4] == (
        "input.log:2: a program ran out of memory in HBM: it needs 64.00 GiB of"
        " 31.50 GiB, 32.50 GiB too much. The message counts 0 B of arguments: any that"
        " the program has come on top."
    )
    assert lines[7].split() == [
        *("2.00", "GiB", "64.00", "MiB", "HLO", "temp"),
        *("s32[8388608,8,4]{2,1,0:T(8,128)}", "slicewise/FloorMod"),
    ]
    assert lines[8] == (
        "The list is cut: 1 buffer takes 2.00 GiB of the 63.25 GiB of temporaries."
    )
    assert lines[9] == (
        "1.94 GiB of the listed 2.00 GiB are padding, most of it in copy.4: its data"
        " fill 4 of 128 lanes. Fold short dimensions into others, or put several rows"
        " into one, so that the data fill the tile of the layout; wider dimensions save"
        " nothing."
    )


@pytest.mark.slow
def test_what_rematerialisation_left_is_not_called_out_of_memory(
    tmp_path: Path,
) -> None:
    """XLA warns of it where arguments leave no room; the program may still fit."""
    warning = (
        "W1123 21:18:02.169338   17237 hlo_rematerialization.cc:3231] Can't reduce"
        " memory use below 0B (0 bytes) by rematerialization; only reduced to 512B"
        " (512 bytes), down from 512B (512 bytes) originally\n"
    )
    page = explain(tmp_path, "-", "--format", "html", given=warning)
    assert page.returncode == 0
    [headline] = re.findall("<h1>(.*?)</h1>", page.stdout)
    assert "ran out of memory" not in headline
    done = explain(tmp_path, "-", given=warning)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == (
        "standard input: XLA recomputed what it could of a program: 512 B are left, of"
        " 0 B that it wanted"
    )


def test_what_could_not_be_read_is_said(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(CUT, dump)
    [cut] = dump.glob("*-buffer-assignment.txt")
    cut.write_text(cut.read_text()[:900])
    done = explain(tmp_path, str(dump), "--format", "markdown")
    assert done.returncode == 3
    first, _, section, *_ = done.stdout.splitlines()
    assert first.endswith("reserved in CPU memory (1 place could not be read)")
    assert ", at least " in first
    assert section == "### Not read"
    assert f"dump:{cut.name}:14:30" in done.stdout.replace("\\", "")


@pytest.mark.slow
def test_a_report_that_is_cut_or_of_another_program(tmp_path: Path) -> None:
    """What is there is said, and what is missing; nothing is put together of both."""
    log = tmp_path / "job.log"
    log.write_text("".join(f"[rank3]: {line}\n" for line in TPU.splitlines()))
    done = explain(tmp_path, str(log), str(EXPLAINED))
    assert done.returncode == 3
    _, said = done.stdout.split("Out of memory\n")
    lines = said.splitlines()
    assert lines[1] == (
        "job.log:1 (rank 3): a program ran out of memory in HBM: it needs 64.00 GiB of"
        " 31.50 GiB, 32.50 GiB too much. The message counts 0 B of arguments: any that"
        " the program has come on top."
    )
    missing = "No dumped program has these buffers: the dump is of another program."
    assert missing in lines
    done = explain(tmp_path, "-", given=TPU[: TPU.index("     Unpadded")])
    assert done.returncode == 3
    assert done.stdout.splitlines()[0].endswith(" too much (1 place could not be read)")
    assert "the report is cut here" in done.stdout


def test_a_log_beside_its_dump_leads_to_the_program(tmp_path: Path) -> None:
    """The largest program is another one: the one that failed comes first."""
    for name in ("dtype", "remat"):
        shutil.copytree(DATA / "changes" / name / "base", tmp_path / "dump" / name)
    (tmp_path / "job.log").write_text(
        "Out of memory while trying to allocate 16384 bytes."
        " [executable_name='jit_step']\n"
    )
    done = explain(tmp_path, "job.log", "dump", "--format", "markdown")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.replace("\\", "").splitlines()
    assert lines[0] == (
        "## dump: jit_step ran out of memory: a request for 16.00 KiB failed"
    )
    titles = [line for line in lines if line.startswith("### ")]
    assert titles == [
        *("### Out of memory", "### Programs", "### jit_step: CPU memory"),
        *("### jit_loss: CPU memory", "### More"),
    ]
    other = tmp_path / "other.log"
    other.write_text("Error loading program 'jit_f': Attempting to reserve 5.50G\n")
    done = explain(tmp_path, "other.log", "dump")
    assert done.returncode == 3
    assert "No dumped program is called jit_f: the dump is of others." in done.stdout


def test_a_line_that_is_not_understood_is_quoted(tmp_path: Path) -> None:
    line = "NRTD response: unable to allocate a resource, OUT_OF_MEMORY 7"
    done = explain(tmp_path, "-", given=f"step 7\n{line}\n{line[:-1]}9\n")
    assert done.returncode == 3
    assert done.stdout.splitlines()[0] == (
        "standard input: input.log:2 tells of a shortage of memory in words that hlodb"
        f" does not understand: {line}"
    )
    _, section = done.stdout.split("Not understood\n")
    assert section.splitlines()[3].split() == ["input.log:2", "2", *line.split()]


def test_a_page_is_read_where_it_is_named(tmp_path: Path) -> None:
    """In a folder it makes no run: a log that it quotes is an excerpt."""
    page = tmp_path / "docs" / "memory.md"
    page.parent.mkdir()
    page.write_text(f"# Memory\n\n```\n{TPU}```\n")
    done = explain(tmp_path, "docs")
    assert done.returncode == 3
    assert "memory.md (page with a log of running out of memory)" in done.stderr
    done = explain(tmp_path, "docs/memory.md")
    assert done.returncode == 0
    assert "it needs 64.00 GiB of 31.50 GiB, 32.50 GiB too much" in done.stdout


@pytest.mark.slow
def test_ranks_that_say_the_same_are_said_once(tmp_path: Path) -> None:
    ranks = "".join(
        f"[1,{rank}]<stderr>:{line}\n"
        for line in TPU.splitlines()
        for rank in range(12)
    )
    done = explain(tmp_path, "-", given=ranks)
    assert done.returncode == 0
    assert done.stdout.count("Out of memory\n") == 1
    assert ":1 (ranks 0, 1, 2, 3, 4, 5, 6, 7 and 4 more): a program" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["plain.log"], 3, "No line in it tells of running out of memory in words"),
        (["missing"], 2, "--run missing is a run of the warehouse, if it has one"),
        (["no/missing"], 2, "no such file"),
        (["plain.log", "--run", "x"], 2, "pass PATH or --run, not both"),
        (["--db", "none.duckdb"], 2, "there is no warehouse"),
    ],
)
def test_what_cannot_be_explained(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "plain.log").write_text("epoch 1, loss 0.5\n")
    done = explain(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
