"""Replays by real compilers are what the same source compiles to.

`make replay` names interpreters; without any, these tests are skipped.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.sources.discover import discover
from hlodb.queries.result import Row
from hlodb.replay.compare import Memory, read_original
from hlodb.replay.compile import DEFAULT_BOUNDS, Edit
from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import recover
from hlodb.replay.replays import Recovered, planned, replay_run
from tests.conftest import DATA
from tests.replay.compilers import SOURCES, VARIABLE, compilers, dump_of

pytestmark = pytest.mark.replay


@pytest.fixture(scope="module")
def found() -> list[Interpreter]:
    interpreters = compilers()
    if not interpreters:
        pytest.skip(f"${VARIABLE} names no interpreter that has JAX")
    return interpreters


def with_tpu(found: list[Interpreter]) -> Interpreter:
    for one in reversed(found):
        if "libtpu" in one.versions:
            return one
    pytest.skip("no interpreter has libtpu")


def replays(
    dump: Path, out: Path, interpreters: list[Interpreter], edit: Edit
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each replay, by the ending of its name."""
    [source] = discover([str(dump)])
    run = Recovered(source, *recover(source))
    plan = planned("run", out, interpreters, edit)
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in replay_run(run, plan, bounds=DEFAULT_BOUNDS).dicts():
        rows.setdefault(row["replay"].removeprefix("run."), []).append(row)
    return rows


def statuses(rows: list[dict[str, Any]]) -> set[str]:
    return {row["status"] for row in rows}


def memory(dump: Path, tmp_path: Path) -> Memory:
    """Return the bytes of the only program of a dump."""
    [source] = discover([str(dump)])
    [found] = read_original(source, tmp_path / f"{dump.name}.duckdb").values()
    return found


def sizes(rows: list[dict[str, Any]]) -> Mapping[str, Row]:
    return {
        row["space_name"]: (row["reserved_bytes"], row["temp_bytes"]) for row in rows
    }


def of_memory(memory: Memory) -> Mapping[str, Row]:
    return {space.name: (it.reserved, it.kinds[-1]) for space, it in memory.items()}


def test_replays_are_exact_and_donation_is_that_of_jax(
    found: list[Interpreter], tmp_path: Path
) -> None:
    for number, one in enumerate(found):
        home = tmp_path / str(number)
        dump = dump_of(one, home / "plain", SOURCES, "cpu")
        donated = dump_of(one, home / "donated", SOURCES, "cpu", "donate")
        rows = replays(dump, home / "out", [one], Edit(donate="auto"))
        assert statuses(rows["unchanged"]) == {"exact"}, one
        assert sizes(rows["edited"]) == of_memory(memory(donated, home)), one


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("plain", "half", Edit(narrow=(("f32", "bf16"),))),
        ("plain", "quiet", Edit(drop=(4,))),
        ("whole", "sharded", Edit(shard=(2, 3))),
    ],
    ids=["narrow", "drop", "shard"],
)
@pytest.mark.parametrize("is_bare", [False, True], ids=["module", "text"])
def test_an_edit_gives_what_the_edited_source_gives(
    before: str, after: str, edit: Edit, is_bare: bool,
    found: list[Interpreter], tmp_path: Path,
) -> None:  # fmt: skip
    """With module.mlir, where a release writes it, and with the text alone."""
    for number, one in enumerate(found):
        home = tmp_path / str(number)
        dump = dump_of(one, home / "before", SOURCES, "cpu", before)
        edited = dump_of(one, home / "after", SOURCES, "cpu", after)
        for folder in [path for path in dump.iterdir() if path.is_dir() and is_bare]:
            shutil.rmtree(folder)
        rows = replays(dump, home / "out", [one], edit)
        assert sizes(rows["edited"]) == of_memory(memory(edited, home)), one


def test_text_alone_is_enough(found: list[Interpreter], tmp_path: Path) -> None:
    for number, one in enumerate(found):
        home = tmp_path / str(number)
        dump = dump_of(one, home / "donated", SOURCES, "cpu", "donate")
        for folder in [path for path in dump.iterdir() if path.is_dir()]:
            shutil.rmtree(folder)
        rows = replays(dump, home / "out", [one], Edit())
        assert statuses(rows["unchanged"]) == {"exact"}, one


def test_another_release_gives_what_the_source_gives_there(
    found: list[Interpreter], tmp_path: Path
) -> None:
    if len(found) < 2:
        pytest.skip("there is one interpreter alone")
    dump = dump_of(found[-2], tmp_path / "old", SOURCES, "cpu")
    new = dump_of(found[-1], tmp_path / "new", SOURCES, "cpu")
    rows = replays(dump, tmp_path / "out", found[-2:], Edit())
    assert sizes(rows[found[-1].label]) == of_memory(memory(new, tmp_path))


def test_another_chip_gives_what_the_source_gives_there(
    found: list[Interpreter], tmp_path: Path
) -> None:
    one = with_tpu(found)
    dump = dump_of(one, tmp_path / "v5e", SOURCES, "v5e:2x2")
    other = dump_of(one, tmp_path / "v6e", SOURCES, "v6e:2x2")
    rows = replays(dump, tmp_path / "out", [one], Edit(topology="v6e:2x2"))
    assert statuses(rows["unchanged"]) == {"exact"}
    assert sizes(rows["edited"]) == of_memory(memory(other, tmp_path))


def test_a_flag_of_the_user_that_is_unknown_is_refused(
    found: list[Interpreter], tmp_path: Path
) -> None:
    one = found[-1]
    dump = dump_of(one, tmp_path / "dump", SOURCES, "cpu")
    rows = replays(dump, tmp_path / "out", [one], Edit(flags={"xla_of_nobody": "1"}))
    [edited] = rows["edited"]
    assert edited["status"] == "failed"
    assert "xla_of_nobody" in edited["note"]


def test_a_flag_of_the_dump_that_is_unknown_is_left_out_and_said(
    found: list[Interpreter], tmp_path: Path
) -> None:
    one = found[-1]
    dump = dump_of(one, tmp_path / "dump", SOURCES, "cpu")
    [options] = dump.glob("*step.debug_options")
    options.write_text(options.read_text() + "xla_of_nobody: true\n")
    [row] = replays(dump, tmp_path / "out", [one], Edit())["unchanged"]
    assert row["status"] == "exact"
    assert row["note"] == "this compiler has no flag xla_of_nobody"


def test_a_narrow_moment_saves_what_the_edited_source_saved(
    found: list[Interpreter], tmp_path: Path
) -> None:
    """Of a speech recogniser, the first moments kept in bf16, as a user wrote it.

    The update reads the moment that is returned, so that no wide one is kept for it.
    """
    makers = [one for one in found if one.versions["jaxlib"] == "0.10.2"]
    if not makers:
        pytest.skip("no interpreter is the one that made the dump")
    with tarfile.open(DATA / "newcomers" / "speech.tar.xz") as archive:
        archive.extractall(tmp_path)
    edit = Edit(narrow=((tuple(range(11)), "bf16"),))
    dump = tmp_path / "speech" / "night2"
    rows = replays(dump, tmp_path / "out", makers, edit)
    [edited] = [r for r in rows["edited"] if r["program"] == "jit_train_step"]
    assert edited["reserved_bytes"] == 936_918_552
    assert edited["reserved_change_bytes"] == -36_714_048
