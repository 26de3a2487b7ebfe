"""Arenas go to MiniMalloc as `repack_whatif` packs them, and its answer comes back."""

from __future__ import annotations

import csv
import subprocess
from collections import defaultdict
from pathlib import Path
from shutil import which
from typing import Any

import pytest

import hlodb
from hlodb.cli import main
from hlodb.errors import UsageError
from hlodb.exports.packing import Arena, Block, answer_bytes, largest_arena
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from hlodb.text import human_bytes

PROGRAM = "jit_cnn"
ARENA = Arena(
    module_id=1,
    color=0,
    allocation_id=2,
    size_bytes=40,
    align_bytes=8,
    blocks=(Block("a#1", 0, 3, 16), Block("b#2", 2, 4, 8), Block("c#3", 3, 5, 16)),
)
HEAD = "id,lower,upper,size,offset\n"


def lowest_place_for(blocks: list[Block]) -> dict[str, int]:
    """Place the blocks one by one, each as low as it goes."""
    placed: dict[Block, int] = {}
    for block in blocks:
        place = 0
        for other, start in sorted(placed.items(), key=lambda item: item[1]):
            meets = other.lower < block.upper and block.lower < other.upper
            if meets and start < place + block.size:
                place = max(place, start + other.size)
        placed[block] = place
    return {block.id: place for block, place in placed.items()}


def packed(arena: Arena) -> str:
    """Return an answer: the largest first, as the query orders equal ones."""
    order = sorted(arena.blocks, key=lambda b: (-b.size, b.lower, b.upper))
    offsets = lowest_place_for(order)
    lines = [",".join(map(str, (*b, offsets[b.id]))) + "\n" for b in arena.blocks]
    return HEAD + "".join(lines)


@pytest.mark.slow
def test_blocks_are_those_that_the_query_packs(tpu_db: Path) -> None:
    with connect(tpu_db) as connection:
        placed = run_query(connection, "placed_values").dicts()
        selected = run_query(connection, "selected_memory").dicts()
        packings = run_query(connection, "repack_whatif").dicts()
    modules = {(r["module_number"], r["rank"]): r["module_id"] for r in selected}
    tenants: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for row in placed:
        tenants[row["module_id"], row["allocation_id"]].append(row)
    ways = [r for r in packings if (r["fit"], r["largest_first"]) == ("lowest", "size")]
    assert len(ways) > 10
    for row in ways:
        module_id = modules[row["module_number"], row["rank"]]
        arena = largest_arena(tenants[module_id, row["allocation_id"]])
        assert arena is not None
        assert (arena.size_bytes, arena.align_bytes, len(arena.blocks)) == (
            *(row["allocation_bytes"], row["align_bytes"], row["block_count"]),
        )
        assert answer_bytes(arena, packed(arena), "answer") == row["packed_bytes"]


@pytest.mark.slow
def test_an_answer_is_compared_with_other_packings(
    tpu_db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", PROGRAM, "--to", "minimalloc", "--db", str(tpu_db)]
    file, answer = tmp_path / "arena.csv", tmp_path / "packed.csv"
    assert main([*words, "-o", str(file)]) == 0
    shown = capsys.readouterr().err
    assert f"--input={file} --output=packed.csv" in shown
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    offset, text = 0, HEAD
    for row in rows:
        text += ",".join([*row.values(), str(offset)]) + "\n"
        offset += int(row["size"])
    answer.write_text(text)
    assert main([*words, "--answer", str(answer)]) == 0
    found = capsys.readouterr().out
    with hlodb.open(tpu_db) as warehouse:
        best = warehouse.query("repack_whatif", program=PROGRAM).dicts()[0]
    assert [line.split("  ")[0] for line in found.splitlines()[2:]] == [
        "XLA",
        f"hlodb: largest {best['largest_first']} first, {best['fit']}",
        "packed.csv",
        "lower bound",
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("id,offset\n", "answer:1: no header"),
        (HEAD + "a#1,0,3,16\n", "answer:2: not a line of whole numbers"),
        (HEAD + "a#1,0,4,16,0\n", "answer:2: a#1,0,4,16 is no block"),
        (HEAD + "a#1,0,3,16,4\n", "answer:2: offset 4 is no multiple of 8"),
        (HEAD + "a#1,0,3,16,-8\n", "answer:2: offset -8 is no multiple of 8"),
        (HEAD + "a#1,0,3,16,0\nb#2,2,4,8,16\n", "answer lacks 1 block of the arena"),
        (
            HEAD + "a#1,0,3,16,0\nb#2,2,4,8,8\nc#3,3,5,16,16\n",
            "a#1 and b#2 share bytes at step 2",
        ),
    ],
)
def test_an_answer_that_is_none(answer: str, said: str) -> None:
    with pytest.raises(UsageError, match="answer") as raised:
        answer_bytes(ARENA, answer, "answer")
    assert said in str(raised.value)


def test_blocks_may_take_the_place_of_earlier_ones() -> None:
    answer = HEAD + "a#1,0,3,16,0\nb#2,2,4,8,16\nc#3,3,5,16,0\n"
    assert answer_bytes(ARENA, answer, "answer") == 24


@pytest.mark.oracle
def test_minimalloc_reads_the_file_and_its_answer_is_read(
    tpu_db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is built from its sources, which no package index has."""
    solver = which("minimalloc")
    if solver is None:
        pytest.skip("minimalloc is not on PATH")
    words = ["export", PROGRAM, "--to", "minimalloc", "--db", str(tpu_db)]
    file, answer = tmp_path / "arena.csv", tmp_path / "packed.csv"
    assert main([*words, "-o", str(file)]) == 0
    with hlodb.open(tpu_db) as warehouse:
        best = warehouse.query("repack_whatif", program=PROGRAM).dicts()[0]
    options = ["--minimize_capacity", "--validate", "--timeout=20s"]
    options += [f"--capacity={best['packed_bytes']}"]
    subprocess.run(
        [solver, *options, f"--input={file}", f"--output={answer}"], check=True
    )
    with answer.open() as lines:
        height = max(
            int(line["offset"]) + int(line["size"]) for line in csv.DictReader(lines)
        )
    assert best["floor_bytes"] <= height <= best["packed_bytes"]
    capsys.readouterr()
    assert main([*words, "--answer", str(answer)]) == 0
    [line] = [x for x in capsys.readouterr().out.splitlines() if "packed.csv" in x]
    assert line.removeprefix("packed.csv").lstrip().startswith(human_bytes(height))
