"""Forms that other programs read hold to their own rules, in every situation."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import (
    text_string_to_metric_families as prometheus_families,
)

from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Budget, Settings
from hlodb.reports.judge.report import Report
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import FORMATS, renderer
from hlodb.reports.render.json_schema import FILE_NAME, json_schema, schema_text
from hlodb.reports.render.sarif import MOST_RESULTS
from hlodb.schema.warehouse import connect
from hlodb.text import json_text, visible
from tests.conftest import REPOSITORY
from tests.reports.situations import EACH, GROWN, MIB, STEP, night
from tests.reports.worlds import Program, make

SARIF_SCHEMA = json.loads(
    (Path(__file__).parent / "sarif-2.1.0-used.schema.json").read_text()
)


@pytest.fixture(params=EACH)
def report(request: pytest.FixtureRequest, reported: Callable[[str], Report]) -> Report:
    return reported(request.param)


@pytest.mark.slow
def test_commands_in_json_name_the_warehouse(
    reported: Callable[[str], Report],
) -> None:
    report = replace(reported("mixed"), db="other.duckdb")
    findings = json.loads(renderer("json")(report))["findings"]
    commands = [command for finding in findings for command in finding["commands"]]
    assert commands
    assert {command[:23] for command in commands} == {"hlodb --db other.duckdb"}


def test_the_published_schema_is_up_to_date() -> None:
    published = REPOSITORY / "hlodb" / "reports" / FILE_NAME
    assert published.read_text() == schema_text(), (
        "python -m hlodb.reports.render.json_schema writes it anew"
    )


def test_every_definition_says_what_it_is() -> None:
    assert [n for n, d in json_schema()["$defs"].items() if not d["description"]] == []


def test_the_published_schema_is_a_schema() -> None:
    schema = json.loads(schema_text())
    assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.slow
def test_json_holds_to_the_published_schema(report: Report) -> None:
    found = json.loads(renderer("json")(report))
    jsonschema.Draft202012Validator(json_schema()).validate(found)


def test_sarif_holds_to_the_standard(report: Report) -> None:
    log = json.loads(renderer("sarif")(report))
    jsonschema.Draft202012Validator(SARIF_SCHEMA).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    assert len(run["results"]) <= MOST_RESULTS
    prints = [json.dumps(r["partialFingerprints"]) for r in run["results"]]
    assert len(set(prints)) == len(prints)


def test_junit_counts_its_cases(report: Report) -> None:
    suites = ET.fromstring(renderer("junit")(report).encode())
    (suite,) = suites
    cases = suite.findall("testcase")
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    assert suite.get("tests") == str(len(cases))
    for name, tag in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        assert suite.get(name) == str(sum(c.find(tag) is not None for c in cases))
    failed = sum(gate.status == "fail" for gate in report.gates)
    assert suite.get("failures") == str(failed)


def junit_cases(report: Report) -> list[tuple[str | None, str]]:
    """Return the cases of the gate `regression` with what became of them."""
    cases = ET.fromstring(renderer("junit")(report).encode()).iter("testcase")
    return [
        (case.get("name"), " ".join(x.tag for x in case if x.tag != "properties"))
        for case in cases
        if case.get("classname") == "hlodb.regression"
    ]


@pytest.mark.slow
def test_junit_has_a_case_for_every_rank_and_namesake(tmp_path: Path) -> None:
    """What fails on one hides nothing that passes on another."""
    other = replace(STEP, source="other", text="other")

    def ranks(*programs: Program) -> list[Program]:
        return [replace(p, rank=r, source=f"{r}") for r, p in enumerate(programs)]

    nights = (
        night(1, *ranks(STEP, STEP, STEP), other),
        night(
            2,
            *ranks(STEP, GROWN, STEP),
            replace(other, buffers=GROWN.buffers, text="grown"),
            replace(STEP, source="third", text="third"),
        ),
    )
    with connect(make(tmp_path / "hlodb.duckdb", *nights)) as connection:
        report = build_report(connection, Request(), Settings())
    assert sorted(junit_cases(report), key=repr) == [
        ("jit_step #4 host", "failure"),
        ("jit_step #5 host", ""),
        ("jit_step host rank 0", ""),
        ("jit_step host rank 1", "failure"),
        ("jit_step host rank 2", ""),
    ]


def test_junit_skips_what_cannot_be_compared(
    reported: Callable[[str], Report],
) -> None:
    for name in ("changed_inputs", "no_baseline", "zero_modules"):
        assert junit_cases(reported(name)) == [("jit_step host", "skipped")]
    for name in ("missing_program", "new_program"):
        assert junit_cases(reported(name)) == [
            ("jit_eval host", "skipped"), ("jit_step host", "")
        ]  # fmt: skip


def test_junit_knows_no_none(report: Report) -> None:
    suites = ET.fromstring(renderer("junit")(report).encode())
    assert "None" not in [p.get("value") for p in suites.iter("property")]


def test_junit_says_one_thing_of_a_case(report: Report) -> None:
    for case in ET.fromstring(renderer("junit")(report).encode()).iter("testcase"):
        assert len([x for x in case if x.tag != "properties"]) <= 1


@pytest.mark.slow
def test_budgets_of_ranks_are_told_apart(tmp_path: Path) -> None:
    """Each form says which rank, of the budget that counts: the lowest."""
    worlds = night(1, *(replace(STEP, rank=r, source=f"{r}") for r in range(2)))
    settings = Settings(budgets=(Budget("*", bytes=9 * MIB), Budget("jit*", bytes=1)))
    with connect(make(tmp_path / "hlodb.duckdb", worlds)) as connection:
        report = build_report(connection, Request(), settings)
    cases = ET.fromstring(renderer("junit")(report).encode()).iter("testcase")
    assert [
        (case.get("name"), case.find("failure") is not None)
        for case in cases
        if case.get("classname") == "hlodb.budget"
    ] == [
        ("jit_step host rank 0", True),
        ("jit_step host rank 1", True),
    ]
    results = json.loads(renderer("sarif")(report))["runs"][0]["results"]
    said = [
        f"jit_step rank {r} CPU memory is 4.00 MiB over the budget of 1 B"
        for r in range(2)
    ]
    assert [r["message"]["text"] for r in results] == said
    found = [r["partialFingerprints"]["hlodbFinding/v1"] for r in results]
    assert len(set(found)) == 2 and not any("/2" in text for text in found)
    assert report.headline.split(": ")[1].startswith(said[0])
    told = renderer("github")(report).splitlines()[1:]
    assert told == [f"::error title=hlodb budget::{text}" for text in said]
    shown = [row for t in tables(renderer("markdown")(report)) for row in t]
    assert [cells(row)[2].strip() for row in shown if "FAIL" in row] == [
        r"jit\_step rank 0",
        r"jit\_step rank 1",
    ]


@pytest.mark.slow
def test_a_gate_names_the_one_of_several_namesakes(tmp_path: Path) -> None:
    """All programs of PyTorch have one name; the number tells which is too large."""
    several = night(1, STEP, replace(GROWN, source="other"))
    settings = Settings(budgets=(Budget("*", bytes=5 * MIB),))
    with connect(make(tmp_path / "hlodb.duckdb", several)) as connection:
        report = build_report(connection, Request(), settings)
    (failed,) = [g for g in report.gates if g.status == "fail"]
    (row,) = [p for p in report.programs if p.candidate_bytes == failed.value]
    assert (failed.program, failed.module_number) == ("jit_step", row.module_number)
    over = f"jit_step #{failed.module_number} CPU memory is 1.00 MiB over the budget"
    assert over in report.headline


@pytest.mark.parametrize("form", ["markdown", "summary", "comment"])
def test_markdown_tables_hold_their_columns(report: Report, form: str) -> None:
    for table in tables(renderer(form)(report)):
        widths = {len(cells(row)) for row in table}
        assert len(widths) == 1, table
        assert set("".join(cells(table[1]))) <= set("-: ")


@pytest.mark.parametrize("form", ["markdown", "summary", "comment"])
def test_markdown_has_no_markup_of_others(report: Report, form: str) -> None:
    text = outside_fences(renderer(form)(report))
    assert "<script>" not in text
    assert "@all" not in text


@pytest.mark.parametrize("form", [f for f in FORMATS if not f.startswith("csv")])
def test_no_name_reaches_a_terminal_raw(
    reported: Callable[[str], Report], form: str
) -> None:
    lines = renderer(form)(reported("hostile_names")).split("\n")
    assert [line for line in lines if visible(line) != line] == []


def test_json_and_csv_keep_names_as_they_are(
    reported: Callable[[str], Report],
) -> None:
    report = reported("hostile_names")
    (name,) = {f.program for f in report.findings}
    assert visible(name) != name
    found = json.loads(renderer("json")(report))["findings"]
    assert {f["program"] for f in found} == {name}
    rows = csv.DictReader(io.StringIO(renderer("csv")(report)))
    assert {row["program"] for row in rows} == {name}


def test_json_escapes_what_terminals_do_not_print() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x11000))))
    text = json_text(every)
    assert json.loads(text) == every
    assert visible(text) == text
    assert {"ü", "𐀀"} <= set(text)


@pytest.mark.parametrize("form", ["csv", "csv-gates", "csv-parts", "csv-programs"])
def test_csv_rows_have_the_columns_of_the_header(report: Report, form: str) -> None:
    header, *rows = csv.reader(io.StringIO(renderer(form)(report)))
    assert {len(row) for row in rows} <= {len(header)}


def test_csv_parts_add_up_to_the_difference(report: Report) -> None:
    sums: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(renderer("csv-parts")(report))):
        sums[row["id"]] = sums.get(row["id"], 0) + int(row["delta_bytes"])
    deltas = {f.id: f.delta_bytes for f in report.findings if f.parts}
    assert sums == deltas


def test_benchmarks_name_what_is_needed(report: Report) -> None:
    entries = json.loads(renderer("benchmark")(report))
    names = [entry["name"] for entry in entries]
    assert len(set(names)) == len(names)
    assert {frozenset(e) - {"range"} for e in entries} <= {
        frozenset(("name", "unit", "value"))
    }
    values = [entry["value"] for entry in entries]
    needs = {p.candidate_bytes for p in report.programs} - {None}
    assert needs <= {0, *values}


def test_open_metrics_are_gauges_of_every_program(report: Report) -> None:
    text = renderer("openmetrics")(report)
    parsed = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {f.name: f for f in parsed}
    assert {f.type for f in families.values()} == {"gauge"}
    needs: dict[tuple[str, ...], int] = {}
    for p in report.programs:
        if p.candidate_bytes is not None:
            key = (visible(p.program), p.space, "" if p.rank is None else str(p.rank))
            needs[key] = max(p.candidate_bytes, needs.get(key, 0))
    labels = ("program", "space", "rank")
    found = {
        tuple(s.labels[name] for name in labels): int(s.value)
        for s in families["hlodb_reserved_bytes"].samples
        if s.value < 2**53
    }
    assert found == {k: v for k, v in needs.items() if v < 2**53}
    failed = sum(gate.status == "fail" for gate in report.gates)
    states = {s.labels["status"]: s.value for s in families["hlodb_gates"].samples}
    assert states["fail"] == failed
    older = {f.name for f in prometheus_families(text)}
    assert older == set(families)


ANNOTATION = re.compile(r"::(error|warning|notice)( \w+=[^,:]*(,\w+=[^,:]*)*)?::[^\n]+")


def test_annotations_are_workflow_commands(report: Report) -> None:
    lines = renderer("github")(report).splitlines()
    assert [line for line in lines if not ANNOTATION.fullmatch(line)] == []
    assert sum(line.startswith("::error") for line in lines) <= 12


def test_every_form_is_the_same_again(report: Report) -> None:
    for form in ("text", "markdown", "html", "json", "junit", "sarif"):
        assert renderer(form)(report) == renderer(form)(report)


def tables(text: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.startswith("| "):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def cells(row: str) -> list[Any]:
    return re.split(r"(?<!\\)\|", row)[1:-1]


def outside_fences(text: str) -> str:
    return re.sub(r"^(`{3,})[a-z]+\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
