"""Dumps of the JAX that is installed: nothing rejected, forms and XLA's parser agree.

`make newest` dumps the programs and runs these; without its dumps they are skipped.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.oracle.programs import PLANS
from tests.oracle.test_jaxlib import fields_of, hlo

pytestmark = pytest.mark.oracle

__all__ = ["hlo"]


@pytest.fixture(params=PLANS)
def dump(request: pytest.FixtureRequest) -> Path:
    """Return the folder that a plan dumped into."""
    folder = os.environ.get("HLODB_NEWEST_DUMPS")
    if not folder:
        pytest.skip("no dumps of the newest JAX: `make newest` makes them")
    dump = Path(folder) / str(request.param)
    if not dump.is_dir():
        pytest.skip(f"nothing was dumped for {request.param}: libtpu is not installed")
    return dump


def test_all_is_read_and_agrees_with_itself(dump: Path, tmp_path: Path) -> None:
    ingest([str(dump)], tmp_path / "w.duckdb", jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        assert connection.execute("FROM rejects").fetchall() == []
        unclaimed = "SELECT path, reason FROM dump_files WHERE lines_unclaimed > 0"
        assert connection.execute(unclaimed).fetchall() == []
        unknown = "SELECT path, reason FROM dump_files WHERE kind = 'unknown'"
        assert connection.execute(unknown).fetchall() == []
        checks = run_query(connection, "check_results", {}).dicts()
        assert [row for row in checks if row["status"] != "ok"] == []
        [modules] = connection.execute(
            "SELECT count(*) FROM modules WHERE has_assignment"
        ).fetchall()
    assert modules[0] >= 1


def test_every_text_is_what_jaxlib_reads(hlo: Any, dump: Path) -> None:
    found = Counter[str]()
    for path in sorted(dump.rglob("*.txt")):
        text = path.read_text()
        if not text.startswith("HloModule "):
            continue
        module = hlo.hlo_module_from_text(text)
        theirs = parse_hlo_proto(module.as_serialized_hlo_module_proto())
        ours = parse_hlo(text)
        assert (theirs.rejects, ours.rejects, ours.unclaimed) == ([], [], []), path.name
        assert theirs.module is not None
        assert fields_of(theirs.module) == fields_of(ours.modules[0]), path.name
        found[ours.modules[0].name] += 1
    assert found
