"""What changed between two runs of programs that several ranks compile."""

from __future__ import annotations

import shutil
import tarfile
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import Value
from hlodb.warehouse import open as open_warehouse
from tests.conftest import DATA, DUMPS

NIGHTS = ("jaxlib-0.4.35", "jaxlib-0.5.3")
EXACT = {"min_delta_bytes": 0, "min_delta_ratio": 0.0}


def give_ranks(folder: Path, night: str, ranks: int, called: str = "rank_") -> Path:
    """Unpack one program of a release, as if each rank had compiled it."""
    with tarfile.open(DUMPS / "cpu" / f"{night}.tar.xz") as archive:
        members = [m for m in archive.getmembers() if ".jit_cnn." in m.name]
        for rank in range(ranks):
            for member in members:
                member.name = Path(member.name).name
                archive.extract(member, folder / night / f"{called}{rank}")
    return folder / night


@pytest.mark.slow
def test_a_program_counts_once_however_many_ranks_compile_it(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    for night in NIGHTS:
        ingest([str(give_ranks(tmp_path, night, 3))], db, jobs=1)
    with open_warehouse(db) as warehouse:
        base, candidate = NIGHTS
        rows = warehouse.query("top_movers", base=base, candidate=candidate).dicts()
        grown = warehouse.query("peak_regressions", base=base, candidate=candidate)
        deltas = grown.column("delta_reserved_bytes")
    assert (len(deltas), set(deltas)) == (3, {7_789_504})
    sums = ("program_count", "sum_delta_bytes", "max_delta_bytes")
    assert [tuple(row[name] for name in sums) for row in rows] == [
        (1, 7_789_504, 7_789_504)
    ]


@pytest.mark.slow
def test_hosts_without_ranks_are_counted(tmp_path: Path) -> None:
    """What equal modules of theirs have in common is one row."""
    db = tmp_path / "w.duckdb"
    for night in NIGHTS:
        ingest([str(give_ranks(tmp_path, night, 3, "zone_"))], db, jobs=1)
    with open_warehouse(db) as warehouse:
        asked = dict(zip(("base", "candidate"), NIGHTS, strict=True))
        (grown,) = warehouse.query("peak_regressions", **asked).dicts()
        (cause,) = warehouse.query("top_movers", **asked).dicts()
    assert (grown["module_count"], grown["delta_reserved_bytes"]) == (3, 7_789_504)
    assert grown["hosts"] == "zone_0/, zone_1/, zone_2/"
    counts = "program_count", "module_count", "sum_delta_bytes"
    assert tuple(cause[name] for name in counts) == (1, 3, 7_789_504)


@pytest.mark.slow
def test_hosts_that_grew_by_other_bytes_are_not_added_up(tmp_path: Path) -> None:
    """Two arenas of 16 KiB became 32 and, as if packed worse, 40."""
    tensor, db = DATA / "changes" / "tensor", tmp_path / "w.duckdb"
    for night, dump in {"first": "base", "second": "doubled"}.items():
        for host in ("zone_a", "zone_b"):
            shutil.copytree(tensor / dump, tmp_path / night / host)
    (file,) = (tmp_path / "second" / "zone_b").glob("*-buffer-assignment.txt")
    arena = "allocation 26: size {}, preallocated-temp"
    file.write_text(
        file.read_text().replace(arena.format(32 << 10), arena.format(40 << 10))
    )
    for night in ("first", "second"):
        ingest([str(tmp_path / night)], db, jobs=1)
    with open_warehouse(db) as warehouse:
        asked: dict[str, Value] = {"base": "first", "candidate": "second", **EXACT}
        grown = warehouse.query("peak_regressions", **asked).dicts()
        (cause,) = warehouse.query("top_movers", **asked).dicts()
    assert [(r["hosts"], r["delta_reserved_bytes"]) for r in grown] == [
        ("zone_b/", 24 << 10),
        ("zone_a/", 16 << 10),
    ]
    counts = "program_count", "module_count", "sum_delta_bytes", "max_delta_bytes"
    assert tuple(cause[name] for name in counts) == (1, 2, 24 << 10, 24 << 10)


@pytest.mark.slow
def test_buffers_of_modules_that_share_a_name_have_their_numbers(
    training_warehouse: Path,
) -> None:
    """By number they add up to what each module grew by."""
    nights = {"base": "first", "candidate": "second"}
    with open_warehouse(training_warehouse) as warehouse:
        grown = warehouse.query("peak_regressions", **nights).dicts()
        buffers = warehouse.query(
            "buffer_diff", **nights, only_changes=False, top=None
        ).dicts()
    sums: Counter[int] = Counter()
    for row in buffers:
        sums[row["module_number"]] += row["delta_bytes"]
    expected: Counter[int] = Counter()
    for row in grown:
        before, now = row["base_reserved_bytes"], row["candidate_reserved_bytes"]
        expected[row["module_number"]] += (now or 0) - (before or 0)
    assert sums == expected
    assert len(expected) > 1


@pytest.mark.slow
def test_what_is_the_same_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    """A content of a pair that differs stands in one that doesn't, too."""
    db = tmp_path / "w.duckdb"
    base, later = (give_ranks(tmp_path, night, 2) for night in NIGHTS)
    mixed = shutil.copytree(base, tmp_path / "mixed")
    shutil.rmtree(mixed / "rank_1")
    shutil.copytree(later / "rank_1", mixed / "rank_1")
    again = shutil.copytree(base, tmp_path / "again")
    for night in (base, mixed, again):
        ingest([str(night)], db, jobs=1)
    with open_warehouse(db) as warehouse:
        ask = partial(warehouse.query, "buffer_diff", base=base.name, top=100_000)
        changed = ask(candidate="mixed").dicts()
        everything = ask(candidate="mixed", only_changes=False).dicts()
        same = ask(candidate="again").rows
    assert changed == [row for row in everything if row["part"] != "same"]
    assert {row["rank"] for row in everything} == {0, 1}
    assert {row["rank"] for row in changed} == {1}
    assert same == []
