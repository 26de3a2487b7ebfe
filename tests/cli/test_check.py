"""`hlodb check` on a sound dump, and on dumps in which one thing was altered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import transaction
from tests.conftest import DATA

SOUND = DATA / "moved_lines" / "before"
AFTER = "module_0008.jit_cg.cpu_after_optimizations"
CHECKS = [
    "totals",
    "value_bounds",
    "value_places",
    "value_sizes",
    "overlaps",
    "range_bounds",
    "range_starts",
    "range_ends",
    "operands",
    "calls",
    "definitions",
    "uses",
    "report_totals",
    "report_allocations",
    "report_values",
    "memory_analysis",
    "proto",
    "files",
    "references",
    "keys",
]

Fault = tuple[str, str, int, int | None]
"""Check, place, expected, found."""


class Alteration(NamedTuple):
    """A text to be changed in one file of the dump, and the faults that follow."""

    ending: str
    old: str
    new: str
    faults: list[Fault]


ASSIGNMENT = "-buffer-assignment.txt"
RANGES = "-live-range.txt"
REPORT = "-memory-usage-report.txt"
HLO = ".txt"


def _refused(message: str) -> tuple[str, str, int, int]:
    """Return the fault of a line that XLA's parser would refuse, too."""
    return ("files", message, 0, 1)


ALTERATIONS = {
    "size of an allocation": Alteration(
        ASSIGNMENT,
        "allocation 4: size 2048,",
        "allocation 4: size 2560,",
        [
            ("totals", "sum of all allocations", 1061176, 1061688),
            ("report_totals", "total of colour 0", 1061176, 1061688),
        ],
    ),
    "size of a value": Alteration(
        ASSIGNMENT,
        "<98 b.1 @0> (size=2048,",
        "<98 b.1 @0> (size=1024,",
        [
            ("value_sizes", "value 98 of f32[512]{0}", 2048, 1024),
            ("report_values", "values at offset 0 in colour 0, 2.0KiB", 1, 7),
        ],
    ),
    "size of a value by one byte": Alteration(
        ASSIGNMENT,
        "<98 b.1 @0> (size=2048,",
        "<98 b.1 @0> (size=2047,",
        [
            ("value_sizes", "value 98 of f32[512]{0}", 2048, 2047),
        ],
    ),
    "offset out of the allocation": Alteration(
        ASSIGNMENT,
        "<98 b.1 @0> (size=2048,offset=0)",
        "<98 b.1 @0> (size=2048,offset=64)",
        [
            ("value_bounds", "value 98 in allocation 4", 2048, 2112),
            ("report_values", "values at offset 0 in colour 0, 2.0KiB", 1, 7),
        ],
    ),
    "offset onto another value": Alteration(
        ASSIGNMENT,
        "<80 copy.8 @0> (size=4,offset=4160)",
        "<80 copy.8 @0> (size=4,offset=2048)",
        [
            ("overlaps", "pairs of values in colour 0", 0, 2),
            ("report_values", "values at offset 2048 in colour 0, 2.0KiB", 3, 4),
        ],
    ),
    "end beyond the schedule": Alteration(
        RANGES,
        "    b.1{}:0-48",
        "    b.1{}:0-52",
        [("range_bounds", "live range of b.1{}, 0-52", 48, 52)],
    ),
    "end beyond the last use": Alteration(
        RANGES,
        "    wrapped_broadcast{}:6-12",
        "    wrapped_broadcast{}:6-20",
        [
            ("overlaps", "pairs of values in colour 0", 0, 2),
            ("range_ends", "end of wrapped_broadcast{}", 41, 20),
        ],
    ),
    "end before the last use": Alteration(
        RANGES,
        "    copy.8{}:26-38",
        "    copy.8{}:26-30",
        [("range_ends", "end of copy.8{}", 38, 30)],
    ),
    "end one step before the last use": Alteration(
        RANGES,
        "    copy.8{}:26-38",
        "    copy.8{}:26-37",
        [("range_ends", "end of copy.8{}", 38, 37)],
    ),
    "end where it starts": Alteration(
        RANGES,
        "    copy.8{}:26-38",
        "    copy.8{}:26-26",
        [("range_ends", "end of copy.8{}", 38, 26)],
    ),
    "start before the definition": Alteration(
        RANGES,
        "    copy.8{}:26-38",
        "    copy.8{}:25-38",
        [("range_starts", "start of copy.8{}", 26, 25)],
    ),
    "operand that is another instruction": Alteration(
        HLO,
        "%copy.2 = f32[512]{0} copy(%copy.15)",
        "%copy.2 = f32[512]{0} copy(%b.1)",
        [("uses", "operand 0 of copy.2, value 99", 113, 110)],
    ),
    "operand that is nowhere": Alteration(
        HLO,
        "%copy.2 = f32[512]{0} copy(%copy.15)",
        "%copy.2 = f32[512]{0} copy(%copy.99)",
        [
            ("operands", "operand 0 of copy.2", 1, 0),
            ("uses", "operand 0 of copy.2, value 99", 113, None),
            _refused("there is no instruction copy.99 above in this computation"),
        ],
    ),
    "call of a computation that is nowhere": Alteration(
        HLO,
        "calls=%wrapped_multiply_computation\n",
        "calls=%wrapped_multiply_nowhere\n",
        [
            ("calls", "calls of wrapped_multiply", 1, 0),
            _refused("there is no computation wrapped_multiply_nowhere above"),
        ],
    ),
    "name of an instruction": Alteration(
        HLO,
        "%copy.2 = f32[512]{0} copy(%copy.15)",
        "%copy.3 = f32[512]{0} copy(%copy.15)",
        [
            ("operands", "operand 2 of tuple", 1, 0),
            _refused("there is no instruction copy.2 above in this computation"),
        ],
    ),
    "total of a report": Alteration(
        REPORT,
        "Total bytes: 1061176 ",
        "Total bytes: 1061177 ",
        [("report_totals", "total of colour 0", 1061177, 1061176)],
    ),
    "row of a report": Alteration(
        REPORT,
        "64B;         4096;                1; f32[16]",
        "64B;         4096;                2; f32[16]",
        [("report_values", "values at offset 4096 in colour 0, 64B", 2, 1)],
    ),
}


def altered(tmp_path: Path, alteration: Alteration) -> Path:
    """Return a warehouse that holds the dump with one thing altered."""
    dump = tmp_path / "dump"
    shutil.copytree(SOUND, dump)
    path = dump / f"{AFTER}{alteration.ending}"
    text = path.read_text()
    assert text.count(alteration.old) == 1
    path.write_text(text.replace(alteration.old, alteration.new))
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    return tmp_path / "w.duckdb"


def checked(
    db: Path, capfd: pytest.CaptureFixture[str], *options: str
) -> tuple[int, list[dict[str, Any]], str]:
    """Return the exit code, the rows as JSON, and what was said beside."""
    code = main(["check", "--db", str(db), "--format", "json", *options])
    captured = capfd.readouterr()
    return code, json.loads(captured.out), captured.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_alteration_is_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    alteration = ALTERATIONS[name]
    db = altered(tmp_path, alteration)
    code, rows, said = checked(db, capfd)
    faults = [row for row in rows if row["status"] == "fault"]
    keys = ("check_name", "place", "expected", "found")
    assert [tuple(row[key] for key in keys) for row in faults] == alteration.faults
    assert code == 3
    assert {(r["run"], r["path"]) for r in faults} == {("dump", f"{AFTER}.txt")}
    programs = [None if row["check_name"] == "files" else "jit_cg" for row in faults]
    assert [row["program"] for row in faults] == programs
    check, place, expected, found = alteration.faults[0]
    assert (
        f"hlodb: check {check} failed on jit_cg, dump, {AFTER}.txt: {place}:"
        f" expected {expected}, found {found}"
    ) in said


def test_a_sound_dump(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(SOUND)], db, jobs=1)
    code, rows, said = checked(db, capfd)
    assert (code, said) == (0, "")
    assert [row["check_name"] for row in rows] == CHECKS
    assert {row["status"] for row in rows} == {"ok"}
    counts = {row["check_name"]: row["checked_count"] for row in rows}
    assert counts["totals"] == 2
    assert counts["files"] == 14


@pytest.mark.slow
def test_only_one_run_is_asked_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = altered(tmp_path, ALTERATIONS["size of an allocation"])
    ingest([str(SOUND)], db, jobs=1)
    assert checked(db, capfd, "--run", "before")[0] == 0
    assert checked(db, capfd, "--run", "dump")[0] == 3
    assert main(["check", "--db", str(db), "--run", "nothing"]) == 2


def test_tables_for_people(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    db = altered(tmp_path, ALTERATIONS["size of an allocation"])
    assert main(["check", "--db", str(db)]) == 3
    summary, _, faults = capfd.readouterr().out.partition("\n\n")
    lines = summary.splitlines()
    assert lines[2].split() == ["totals", "fault", "1", "2"]
    assert [line.split()[0] for line in lines[2:]] == CHECKS
    words = {name: said.split() for name, _, said in (x.partition(" ") for x in lines)}
    assert words["memory_analysis"] == ["nothing", "to", "compare", "0", "0"]
    assert words["value_bounds"][0] == "ok"
    assert faults.splitlines()[2].split() == [
        *("totals", "dump", "jit_cg", "8", "-", "after_optimizations", f"{AFTER}.txt"),
        *("sum", "of", "all", "allocations", "1,061,176", "1,061,688", "1"),
    ]


@pytest.mark.slow
def test_an_unsound_module_is_flagged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = altered(tmp_path, ALTERATIONS["size of an allocation"])
    question = (
        "SELECT m.path, u.checks FROM unsound_modules() AS u"
        " JOIN modules AS m USING (module_id)"
    )
    assert main(["ingest", str(SOUND), "--db", str(db)]) == 0
    capfd.readouterr()
    assert main(["sql", question, "--db", str(db), "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "path,checks",
        f'{AFTER}.txt,"report_totals, totals"',
    ]


@pytest.mark.slow
def test_a_cut_file_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(SOUND, dump)
    path = dump / f"{AFTER}{ASSIGNMENT}"
    text = path.read_text()
    path.write_text(text[: text.index("allocation 12:") + 5])
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    code, rows, _ = checked(tmp_path / "w.duckdb", capfd)
    faults = {row["check_name"]: row for row in rows if row["status"] == "fault"}
    assert code == 3
    assert faults["files"]["path"] == path.name
    assert faults["totals"]["expected"] == 1061176


def test_broken_references_and_keys(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "w.duckdb"
    ingest([str(SOUND)], db, jobs=1)
    with transaction(db) as connection:
        connection.execute("DELETE FROM computations WHERE name = 'main.3'")
        connection.execute("INSERT INTO memory_profile FROM memory_profile LIMIT 1")
    _, rows, _ = checked(db, capfd)
    faults = [row for row in rows if row["status"] == "fault"]
    assert {row["check_name"] for row in faults} == {"references", "keys"}
    places = sorted(str(row["place"]).partition(",")[0] for row in faults)
    assert places == [
        "instructions without a computation",
        "memory_profile by module_id",
    ]


def test_demo_dumps(demo_warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, rows, said = checked(demo_warehouse, capfd)
    assert (code, said) == (0, "")
    counts = {row["check_name"]: row["checked_count"] for row in rows}
    assert counts["totals"] > 0
    assert counts["report_allocations"] > 0


@pytest.mark.shared
@pytest.mark.slow
def test_all_shared_dumps(
    full_warehouse: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, rows, said = checked(full_warehouse, capfd)
    assert (code, said) == (0, "")
    counts = {row["check_name"]: row["checked_count"] for row in rows}
    assert (counts["totals"], counts["memory_analysis"]) == (127, 25)
