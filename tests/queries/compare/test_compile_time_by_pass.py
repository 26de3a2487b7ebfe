"""Timings of passes against sums over the files that libtpu wrote."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

_PASS = re.compile(
    r'pass_name: "(.*)"\n  pipeline_name: "(.*)"\n(?:  .*\n)*?'
    r"  start_timestamp_usec: (\d+)\n  end_timestamp_usec: (\d+)\n"
)


@pytest.mark.parametrize("release", ["0.10.2", "0.12.0.1"])
def test_files_of_tpus_are_summed(release: str, tmp_path: Path) -> None:
    archive = DATA / "passes" / f"timed-v5e-jax-{release}.tar.xz"
    with tarfile.open(archive) as packed:
        file = packed.extractfile("module_0000.metadata.textproto")
        assert file is not None
        text = file.read().decode()
    microseconds: Counter[tuple[str, str]] = Counter()
    for name, pipeline, start, end in _PASS.findall(text):
        microseconds[pipeline, name] += int(end) - int(start)
    database = tmp_path / "w.duckdb"
    ingest([str(archive)], database, jobs=1)
    with connect(database) as connection:
        rows = run_query(connection, "compile_time_by_pass").dicts()
    assert len(rows) > 300
    assert sum(row["call_count"] for row in rows) == text.count("pass_metadata {")
    assert sum(row["changed_count"] for row in rows) == text.count("module_changed: t")
    found = {
        (row["pipeline"], row["pass_name"]): round(row["pass_seconds"] * 1e6)
        for row in rows
    }
    assert found == microseconds
