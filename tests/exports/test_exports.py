"""Exports add up to the figures of the queries that they are made of."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import hlodb
from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from tests.conftest import DATA, Made
from tests.exports.pprof_profile import read_profile

PROGRAM = "jit_cg"

_WHOLE = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string", "minLength": 1}
_EVENTS: dict[str, dict[str, Any]] = {
    "M": {"name": {"const": "process_name"}, "pid": _WHOLE},
    "C": {"name": _TEXT, "pid": _WHOLE, "ts": _WHOLE},
    "b": {
        "cat": _TEXT,
        "id2": {"type": "object", "required": ["local"]},
        "name": _TEXT,
        "pid": _WHOLE,
        "tid": _WHOLE,
        "ts": _WHOLE,
    },
}
_EVENTS["e"] = _EVENTS["b"]
_ARGS = {
    "M": {"type": "object", "required": ["name"]},
    "C": {"type": "object", "additionalProperties": _WHOLE, "minProperties": 1},
    "b": {"type": "object"},
}
TRACE_SCHEMA = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "otherData": {"type": "object"},
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    {
                        "type": "object",
                        "required": ["ph", *fields, *(["args"] if ph in _ARGS else [])],
                        "properties": {
                            "ph": {"const": ph},
                            **fields,
                            "args": _ARGS.get(ph, {}),
                        },
                        "additionalProperties": False,
                    }
                    for ph, fields in _EVENTS.items()
                ]
            },
        },
    },
    "additionalProperties": False,
}
"""The phases that are written of the Trace Event Format: metadata, counters and the
beginnings and ends of asynchronous slices."""


@pytest.fixture(scope="module")
def db(made: Made) -> Path:
    def make(path: Path) -> None:
        dump = str(DATA / "moved_lines" / "before")
        ingest([dump], path, jobs=1, prepare=renew_macros)

    return made("exports", make)


@pytest.fixture(scope="module")
def space(db: Path) -> dict[str, Any]:
    with hlodb.open(db) as warehouse:
        [row] = warehouse.query("peak_by_space", program=PROGRAM).dicts()
        return row


def exported(db: Path, form: str, folder: Path) -> str:
    file = folder / form
    words = ["export", PROGRAM, "--to", form, "--db", str(db), "-o", str(file)]
    assert main(words) == 0
    return file.read_text()


def local(event: dict[str, Any]) -> str:
    return str(event["id2"]["local"])


def test_a_trace_has_the_curve_and_every_value(
    db: Path, space: dict[str, Any], tmp_path: Path
) -> None:
    found = json.loads(exported(db, "perfetto", tmp_path))
    jsonschema.validate(found, TRACE_SCHEMA)
    events = found["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    counters = [event for event in events if event["ph"] == "C"]
    most = max(counters, key=lambda event: event["args"]["bytes"])
    assert most["args"]["bytes"] == space["live_peak_bytes"]
    assert most["ts"] <= space["peak_step"]
    assert counters[-1]["args"]["bytes"] == 0
    begins = {local(event): event for event in events if event["ph"] == "b"}
    ends = {local(event): event for event in events if event["ph"] == "e"}
    assert begins.keys() == ends.keys()
    assert all(begins[key]["ts"] < ends[key]["ts"] for key in begins)
    with hlodb.open(db) as warehouse:
        values = warehouse.query(
            "longest_live_ranges", program=PROGRAM, all_kinds=True
        ).dicts()
    assert sorted(event["args"]["bytes"] for event in begins.values()) == sorted(
        row["size_bytes"] for row in values
    )
    assert kinds["M"] == 1


def test_stacks_add_up_to_the_peak(
    db: Path, space: dict[str, Any], tmp_path: Path
) -> None:
    found = json.loads(exported(db, "speedscope", tmp_path))
    [profile] = found["profiles"]
    assert profile["name"] == f"{PROGRAM}: host"
    assert sum(profile["weights"]) == profile["endValue"] == space["live_peak_bytes"]
    assert len(profile["samples"]) == len(profile["weights"])
    places = {place for sample in profile["samples"] for place in sample}
    assert places == set(range(len(found["shared"]["frames"])))
    lines = exported(db, "folded", tmp_path).splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == profile["endValue"]
    assert {line.partition(";")[0] for line in lines} == {profile["name"]}


def test_a_profile_adds_up_to_the_peak_and_to_its_source_lines(
    db: Path, space: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "peak.pb.gz"
    words = ["export", PROGRAM, "--to", "pprof", "--db", str(db), "-o", str(file)]
    assert main(words) == 0
    profile = read_profile(gzip.decompress(file.read_bytes()))
    assert profile.sample_types == [("host", "bytes")]
    assert profile.default_sample_type == "host"
    assert sum(size for _, (size,) in profile.samples) == space["live_peak_bytes"]
    lines: Counter[tuple[str, int]] = Counter()
    for stack, (size,) in profile.samples:
        for place in {(file, line) for _, file, line in stack if file}:
            lines[place] += size
    with hlodb.open(db) as warehouse:
        rows = warehouse.query("peak_by_source_line", program=PROGRAM).dicts()
    assert lines == {
        (row["source_file"], row["source_line"]): row["owned_bytes"]
        for row in rows
        if row["source_file"]
    }
    assert lines


def test_a_program_that_is_not_there(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "jit_gc", "--to", "folded", "--db", str(db)]) == 2
    assert PROGRAM in capsys.readouterr().err
