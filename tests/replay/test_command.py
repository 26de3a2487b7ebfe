"""`hlodb replay` from the command line, with an interpreter that plays the compiler."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.replay.fake_jax import fake_python, jobs

STEM = "module_0000.jit_train_step"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two dumps of one program, of three layers and of four."""
    folder = tmp_path_factory.mktemp("dumps")
    for layers in ("3", "4"):
        with tarfile.open(DATA / "layers" / f"cpu-{layers}.tar.xz") as tar:
            tar.extractall(folder / layers)
    return folder


INTERRUPTIBLE = """
import signal
from hlodb.cli import run
signal.signal(signal.SIGINT, signal.default_int_handler)
run()
"""
"""hlodb, which would ignore the signal in the background of a shell."""


def totals(dump: Path, tmp_path: Path) -> tuple[int, int]:
    """Return reserved bytes and those of temporaries, added up from the assignment."""
    file = tmp_path / f"{dump.name}.duckdb"
    ingest([str(dump)], file, jobs=1)
    with connect(file) as connection:
        [found] = connection.execute(
            "SELECT sum(size_bytes), sum(size_bytes) FILTER (kind = 'temp')"
            " FROM modules JOIN allocations USING (module_id)"
        ).fetchall()
    return int(found[0]), int(found[1])


@pytest.fixture(scope="module")
def sizes(
    dumps: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[int, int]]:
    """Return reserved bytes and those of temporaries, of three layers and of four."""
    folder = tmp_path_factory.mktemp("sizes")
    return [totals(dumps / layers, folder) for layers in ("3", "4")]


def replayed(
    capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, list[dict[str, Any]], str]:
    code = main(["replay", "--format", "json", *map(str, arguments)])
    out, narration = capsys.readouterr()
    return code, json.loads(out or "[]"), narration


def test_an_unchanged_replay_is_exact_and_an_edit_is_compared_with_it(
    dumps: Path,
    sizes: list[tuple[int, int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    python = fake_python(tmp_path / "fake", dumps / "3", donated=dumps / "4")
    out = tmp_path / "out"
    code, rows, narration = replayed(
        capsys, dumps / "3", "--out", out, "--with", python,
        "--donate", "2,0", "--flag", "xla_a=b=c", "--flag", "--xla_d=",
    )  # fmt: skip
    (reserved, temp), (more, more_temp) = sizes
    program = {
        "program": "jit_train_step",
        "module_number": 0,
        "place": STEM,
        "space_name": "host",
    }
    assert rows == [
        {
            "replay": "3.unchanged", **program, "status": "exact",
            "reserved_bytes": reserved, "reserved_change_bytes": 0,
            "temp_bytes": temp, "temp_change_bytes": 0, "note": "",
        },
        {
            "replay": "3.edited", **program, "status": "changed",
            "reserved_bytes": more, "reserved_change_bytes": more - reserved,
            "temp_bytes": more_temp, "temp_change_bytes": more_temp - temp,
            "note": "a note",
        },
    ]  # fmt: skip
    assert (code, narration) == (
        0,
        f"hlodb: 1 changed, 1 exact; the dumps are in {out}\n",
    )
    plain, edited = jobs(python)
    assert (plain["donate"], plain["flags"]) == (None, {})
    assert (edited["donate"], edited["flags"]) == (
        [2, 0],
        {"xla_a": "b=c", "xla_d": ""},
    )
    # The new dump is one as any other.
    assert totals(out / "3.edited", tmp_path) == (more, more_temp)


def test_edits_of_types_arguments_and_results_reach_the_compiler(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = fake_python(tmp_path / "fake", dumps / "3")
    code, _, _ = replayed(
        capsys, dumps / "3", "--out", tmp_path / "out", "--with", python,
        "--narrow", "f32=bf16", "--narrow", "4,1=f8e5m2", "--shard", "2,3,2",
        "--drop", "0",
    )  # fmt: skip
    plain, edited = jobs(python)
    names = ("narrow", "shard", "drop", "donate", "source")
    assert code == 0
    assert [plain[name] for name in names] == [[], [], [], None, "program.txt"]
    assert [edited[name] for name in names] == [
        [["f32", "bf16"], [[4, 1], "f8e5m2"]], [2, 3], [0], None, "program.txt"
    ]  # fmt: skip


def test_a_module_that_was_edited_by_hand_is_compiled_in_place_of_the_programs(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own donations count: those of the text's header are not marked again."""
    python = fake_python(tmp_path / "fake", dumps / "3")
    file = tmp_path / "mine.mlir"
    file.write_text("module @mine {}")
    arguments = ["--out", tmp_path / "out", "--with", python, "--mlir", file]
    code, _, _ = replayed(capsys, dumps / "3", *arguments)
    plain, edited = jobs(python)
    names = ("source", "aliases", "donors")
    assert code == 0
    assert plain["source"] == "program.txt"
    assert plain["aliases"]
    assert [edited[name] for name in (*names, "text")] == [
        "program.mlir", [], [], "module @mine {}"
    ]  # fmt: skip


def test_every_replay_is_dumped_after_passes_if_asked(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = fake_python(tmp_path / "fake", dumps / "3")
    arguments = ["--out", tmp_path / "out", "--with", python, "--passes"]
    replayed(capsys, dumps / "3", *arguments, "--donate", "auto")
    flags = [job["environment"]["XLA_FLAGS"].split() for job in jobs(python)]
    assert [one.count("--xla_dump_hlo_pass_re=.*") for one in flags] == [1, 1]


def test_an_inexact_replay_is_said_and_so_is_what_follows_from_it(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fake_python(tmp_path / "first", dumps / "4", release="0.10.2")
    second = fake_python(tmp_path / "second", dumps / "4", release="0.11.2")
    arguments = ["--out", tmp_path / "out", "--with", first, "--with", second]
    code, rows, _ = replayed(capsys, dumps / "3", *arguments)
    found = [(row["replay"], row["status"], row["note"]) for row in rows]
    inexact, equal = found
    assert code == 0
    assert inexact[:2] == ("3.unchanged", "inexact")
    assert inexact[2].startswith("parameter: +")
    said = "its unchanged replay is inexact"
    assert equal == ("3.jaxlib-0.11.2", "equal", said)


def test_a_failed_program_costs_the_exit_code_alone(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    for number, name in ((0, "jit_train_step"), (1, "jit_refuse")):
        text = f"HloModule {name}, entry_computation_layout={{()->f32[]}}\n"
        file = dump / f"module_000{number}.{name}.before_optimizations.txt"
        file.write_text(text)
    (dump / "module_0002.jit_late.cpu_after_optimizations.txt").write_text(
        "HloModule jit_late, is_scheduled=true\n"
    )
    python = fake_python(tmp_path / "fake", dumps / "3")
    arguments = [dump, "--out", tmp_path / "out", "--with", python]
    code, rows, narration = replayed(capsys, *arguments)
    assert [(row["program"], row["status"], row["note"]) for row in rows] == [
        ("jit_train_step", "new", ""),
        ("jit_refuse", "failed", "XlaRuntimeError: INVALID_ARGUMENT: no"),
        (
            "jit_late",
            "failed",
            "the dump has neither its module.mlir nor its before_optimizations,"
            " which a compilation cache does not keep",
        ),
    ]
    assert code == 3
    assert narration.startswith("hlodb: 2 failed, 1 new;")


def test_each_process_counts_by_itself(
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in ("rank_0", "rank_1"):
        shutil.copytree(dumps / "3", tmp_path / "dump" / rank)
    python = fake_python(tmp_path / "fake", dumps / "3")
    arguments = [tmp_path / "dump", "--out", tmp_path / "out", "--with", python]
    _, rows, narration = replayed(capsys, *arguments)
    found = [(row["place"], row["status"]) for row in rows]
    assert found == [(f"rank_{n}/{STEM}", "exact") for n in (0, 1)]
    assert narration.startswith("hlodb: 2 exact;")


def test_a_program_that_does_not_fit_is_compared_all_the_same(
    dumps: Path,
    sizes: list[tuple[int, int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A TPU's compiler writes the assignment before it refuses the program."""
    dump = tmp_path / "dump"
    shutil.copytree(dumps / "3", dump)
    text = dump / f"{STEM}.before_optimizations.txt"
    text.write_text(text.read_text() + "// exceed\n")
    python = fake_python(tmp_path / "fake", dumps / "3", donated=dumps / "4")
    arguments = [dump, "--out", tmp_path / "out", "--with", python, "--donate", "0"]
    code, rows, _ = replayed(capsys, *arguments)
    (reserved, _), (more, _) = sizes
    note = "RESOURCE_EXHAUSTED: too much"
    names = ("status", "reserved_bytes", "reserved_change_bytes", "note")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("failed", reserved, 0, note),
        ("failed", more, more - reserved, f"{note}; a note"),
    ]
    assert code == 3


def test_an_interruption_ends_the_compilers(dumps: Path, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    text = "HloModule jit_hang, entry_computation_layout={()->f32[]}\n"
    (dump / "module_0000.jit_hang.before_optimizations.txt").write_text(text)
    python = fake_python(tmp_path / "fake", dumps / "3")
    arguments = [str(dump), "--out", str(tmp_path / "out"), "--with", str(python)]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "replay", *arguments],
        stderr=subprocess.PIPE,
    ) as process:
        while not jobs(python):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, narration = process.communicate(timeout=60)
    assert (process.returncode, narration) == (130, b"\nhlodb: interrupted\n")
    [job] = jobs(python)
    with pytest.raises(ProcessLookupError):
        os.kill(job["pid"], 0)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--donate", "all"], 2, "'all' is neither auto nor numbers as 0,3"),
        (["--narrow", "f32"], 2, "'f32' is neither TYPE=TYPE nor N,…=TYPE; types are"),
        (["--narrow", "f32=c64"], 2, "'f32=c64' is neither TYPE=TYPE nor N,…=TYPE"),
        (["--shard", "all"], 2, "'all' are no numbers as 0,3"),
        (["--drop", "-1"], 2, "'-1' are no numbers as 0,3"),
        (["--mlir", "FAKE", "DUMP"], 2, "--mlir replaces one program, and there are 2"),
        (["--flag", "donate"], 2, "'donate' is no flag such as xla_NAME=VALUE"),
        (["--device", "v6e"], 2, "'v6e' is no slice such as v6e:2x2"),
        (["--program", "jit_other"], 4, "no program 'jit_other' of the dump can be"),
        (["--with", "nowhere/python"], 2, "there is no such interpreter"),
        (["--with", "FAKE", "--with", "FAKE"], 2, "two interpreters have jaxlib-"),
        (["--with", "FAKE", "--device", "v6e:2x2"], 2, "has no libtpu"),
        (["--with", "FAKE", "--out", "FULL"], 2, "holds another dump: name another"),
        (["--with", "BARE"], 2, "has no JAX: pass --with PYTHON that has it"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_compiled(
    arguments: list[str], code: int, message: str,
    dumps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    python = fake_python(tmp_path / "fake", dumps / "3")
    full = tmp_path / "full"
    (full / "3.unchanged" / "x").mkdir(parents=True)
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\n")
    bare.chmod(0o755)
    names = {
        "FAKE": str(python),
        "FULL": str(full),
        "BARE": str(bare),
        "DUMP": str(dumps / "4"),
    }
    given = [names.get(argument, argument) for argument in arguments]
    found = main(["replay", str(dumps / "3"), "--out", str(tmp_path / "out"), *given])
    assert (found, jobs(python)) == (code, [])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_cache_says_why_it_is_not_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = DATA / "cache" / "jaxlib-0.10.2.tar.xz"
    code = main(["replay", str(archive), "--out", str(tmp_path / "out")])
    assert code == 4
    assert "cannot be compiled again" in capsys.readouterr().err
