"""Names and lines of donated arguments, compared with the text of their parameters."""

from __future__ import annotations

import csv
import re
import tarfile
from pathlib import Path

import duckdb
import pytest

from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, DUMPS, REPOSITORY

Connection = duckdb.DuckDBPyConnection
Said = tuple[str | None, str | None, int | None]

AFTER = re.compile(r"module_(\d+)\..*\.(?:cpu|cl_\d+)\.?_?after_optimizations\.txt$")
PARAMETER = re.compile(r" parameter\((\d+)\)(.*)$", re.MULTILINE)
OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
SOURCE = re.compile(r'source_file="([^"]*)" source_line=(\d+)')


def arguments(archive: Path) -> dict[tuple[int, int], Said]:
    """Return the printed facts of the entry's parameters, by module and number."""
    found: dict[tuple[int, int], Said] = {}
    with tarfile.open(archive) as members:
        for member in members:
            name = AFTER.search(member.name)
            if not name:
                continue
            data = members.extractfile(member)
            assert data is not None
            entry = data.read().decode().partition("\nENTRY ")[2].partition("\n}")[0]
            for number, rest in PARAMETER.findall(entry):
                op_name, source = OP_NAME.search(rest), SOURCE.search(rest)
                found[int(name[1]), int(number)] = (
                    re.sub(r"\\(.)", r"\1", op_name[1]) if op_name else None,
                    source[1] if source else None,
                    int(source[2]) if source else None,
                )
    return found


def assert_named(connection: Connection, run: str, archive: Path) -> set[Said]:
    said = arguments(archive)
    with (REPOSITORY / "schema" / "memory_spaces.csv").open() as file:
        spaces = {
            (row["platform"], int(row["color"])): row["space_name"]
            for row in csv.DictReader(file)
        }
    platform = "tpu" if run.startswith("v5e") else "cpu"
    shown = set()
    for query in ("donation_ledger", "missed_donation_value"):
        rows = run_query(connection, query, {"run": run}).dicts()
        assert rows
        named = [(r["op_name"], r["source_file"], r["source_line"]) for r in rows]
        assert named == [said[r["module_number"], r["parameter_number"]] for r in rows]
        shown |= set(named)
        assert [r["space_name"] for r in rows] == [
            spaces[platform, r["color"]] for r in rows
        ]
    return shown


@pytest.mark.parametrize(
    ("run", "archive", "name"),
    [
        ("v5e-jax-0.10.2", "tpu/v5e-jax-0.10.2", "p['blocks']['down']"),
        ("jaxlib-0.4.30", "cpu/jaxlib-0.4.30", "params[0][0]"),
        ("jaxlib-0.4.13", "cpu/jaxlib-0.4.13", None),
    ],
)
def test_arguments_of_jax_are_named_as_in_their_texts(
    reading: Connection, run: str, archive: str, name: str | None
) -> None:
    shown = assert_named(reading, run, DUMPS / f"{archive}.tar.xz")
    assert (name, None, None) in shown


@pytest.mark.slow
def test_arguments_of_pytorch_have_a_line(framework_warehouse: Path) -> None:
    archive = DATA / "frameworks" / "pytorch-2.9.0" / "first.tar.xz"
    with connect(framework_warehouse) as connection:
        shown = assert_named(connection, "pytorch-2.9.0/first", archive)
    assert ("xla__device_data", "/opt/programs/frameworks/train.py", 106) in shown


@pytest.mark.slow
def test_a_changed_alias_names_its_argument(reading: Connection) -> None:
    """As in the candidate, else as in the base."""
    asked: dict[str, Value] = {"base": "jaxlib-0.4.13", "candidate": "v5e-jax-0.10.2"}
    rows = run_query(reading, "alias_changes", asked).dicts()
    names: dict[tuple[str, int], set[str | None]] = {}
    for run in asked.values():
        for row in run_query(reading, "donation_ledger", {"run": run}).dicts():
            key = (row["program"], row["parameter_number"])
            names.setdefault(key, set()).add(row["op_name"])
    named = [row for row in rows if row["op_name"] is not None]
    assert named
    for row in rows:
        own = names[row["program"], row["parameter_number"]]
        assert row["op_name"] in own
        if row["candidate_status"] is None:
            assert row["op_name"] is None
