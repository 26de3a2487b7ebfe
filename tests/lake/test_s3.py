"""A lake in S3, which a server on this machine plays: the commands as processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hlodb.schema.warehouse import connect
from tests.conftest import DATA, REPOSITORY
from tests.lake.comparing import differing_tables
from tests.reliability.buckets import bucket

pytestmark = pytest.mark.bucket

# Archives hold no times: each gets a day of its own, as nights have.
RELEASES: list[list[str | Path]] = [
    [DATA / "gpu" / f"jaxlib-{number}.tar.xz", "--started-at", day, "--jobs", "1"]
    for number, day in (("0.5.3", "2026-11-19"), ("0.7.2", "2026-11-20"))
]
LAKE = "s3://dumps/runs.lake"


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Start a server with a bucket; return the variables that lead clients to it."""
    with bucket("dumps") as found:
        yield os.environ | found


def started(
    environment: dict[str, str], *arguments: str | Path
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hlodb", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(environment: dict[str, str], *arguments: str | Path) -> str:
    process = started(environment, *arguments)
    out, error = process.communicate()
    assert process.returncode == 0, error
    return out


def test_processes_at_once_then_a_report(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "w.duckdb"
    output(environment, "lake", "create", LAKE)
    for dump in RELEASES:
        output(environment, "ingest", *dump, "--db", file)
    writers = [
        started(environment, "ingest", *dump, "--db", LAKE)
        for dump in (*RELEASES, RELEASES[0])
    ]
    errors = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], errors
    report = ["report", "--run", "jaxlib-0.7.2", "--baseline", "jaxlib-0.5.3",
              "--format", "json", "--warn-only", "--no-record"]  # fmt: skip
    expected = output(environment, *report, "--db", file)
    assert output(environment, *report, "--db", LAKE) == expected.replace(
        str(file), LAKE
    )
    unpacked = tmp_path / "unpacked.duckdb"
    for _ in range(2):
        output(environment, "compact", "--db", LAKE)
    output(environment, "lake", "unpack", LAKE, unpacked)
    with connect(file) as one, connect(unpacked) as other:
        assert differing_tables(one, other) == []


def test_the_commands_of_the_guide(environment: dict[str, str], tmp_path: Path) -> None:
    guide = (REPOSITORY / "docs" / "guides" / "many-machines.md").read_text("utf-8")
    [commands] = re.findall(r"## In a bucket\n.*?```sh\n(.*?)```", guide, re.DOTALL)
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-e", "-c", commands.replace("s3://dumps/runs", "s3://dumps/guide")],
        env=environment | {"PATH": f"{scripts}:{environment['PATH']}"},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    file = tmp_path / "w.duckdb"
    for number, day in (("0.9.2", "2026-11-19"), ("0.10.2", "2026-11-20")):
        dump = REPOSITORY / "examples" / "dumps" / "cpu" / f"jaxlib-{number}.tar.xz"
        when = ["--series", "cpu", "--started-at", day]
        output(environment, "ingest", dump, *when, "--db", file)
    named = environment | {"HLODB_DB": str(file)}
    expected = output(named, "report", "--series", "cpu", "--warn-only")
    assert done.stdout.endswith(expected)


def test_keys_that_are_refused(environment: dict[str, str]) -> None:
    """The server is not there: any client says so in words of its own."""
    nowhere = environment | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    process = started(nowhere, "runs", "--db", LAKE)
    _, error = process.communicate()
    assert process.returncode == 5
    assert f"cannot read {LAKE}" in error
    assert "Traceback" not in error
