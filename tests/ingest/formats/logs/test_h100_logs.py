"""Logs of jobs that ran out of memory on an H100: what happened, written beforehand."""

from __future__ import annotations

import tarfile
import tomllib
from typing import Any

import pytest

from hlodb.ingest.formats.hlo_text.blocks import InstructionCache
from hlodb.ingest.formats.logs.log_text import parse_log
from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import OomReport
from tests.conftest import DATA
from tests.ingest.formats.logs.told import in_bytes

FOLDER = DATA / "h100"
LOGS: list[dict[str, Any]] = tomllib.loads((FOLDER / "truth.toml").read_text())["log"]
FAILURES = ("allocation", "program_memory", "buffer_assignment", "killed")


def text_of(name: str) -> str:
    with tarfile.open(FOLDER / "logs.tar.xz") as logs:
        member = logs.extractfile(name)
        assert member is not None
        return member.read().decode()


def near(size: int | None, expected: int | str) -> bool:
    """Whether two sizes agree, one of which may be printed to three digits."""
    return size is not None and abs(size - in_bytes(expected)) * 100 <= size


def tells(report: OomReport, failure: dict[str, Any]) -> bool:
    sizes = {k: v for k, v in failure.items() if k.endswith("_bytes")}
    names = ("program_name", "allocator_name")
    instruction = failure.get("instruction", "")
    return (
        report.form == failure["form"]
        and report.space_name == failure.get("space")
        and all(near(report.sizes.get(k), v) for k, v in sizes.items())
        and all(report.texts.get(k) == failure[k] for k in names if k in failure)
        and failure.get("operation", "") in report.texts.get("operation", "")
        and (not instruction or instruction in (report.buffers[0].instruction or ""))
    )


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log["file"])
def test_failures_of_a_job(log: dict[str, Any]) -> None:
    reports = parse_oom_log(text_of(log["file"])).reports
    failed = [report for report in reports if report.form in FAILURES]
    assert [f for f in log["failures"] if not any(tells(r, f) for r in failed)] == []
    sizes = [failure["requested_bytes"] for failure in log["failures"]]
    assert [
        report
        for report in failed
        if not any(near(report.sizes.get("requested_bytes"), size) for size in sizes)
    ] == []
    assert [report for report in reports if report.form == "unknown"] == []
    said = [report for report in reports if report.form == "allocation_warning"]
    for size in log.get("said", []):
        assert any(near(one.sizes["requested_bytes"], size) for one in said)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log["file"])
def test_instructions_that_a_message_prints_are_no_program(log: dict[str, Any]) -> None:
    parsed = parse_log(log["file"], text_of(log["file"]), InstructionCache())
    assert parsed.hlo.modules == []
    assert list(parsed.rejects) == []
