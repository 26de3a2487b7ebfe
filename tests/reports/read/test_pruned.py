"""What is said of a difference when the details of a run were pruned."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.findings import Finding
from hlodb.reports.read.causes import Cause
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.differences import Part
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

EXACT = Settings(floor_bytes=0, floor_ratio=0.0)
CHANGES = DATA / "changes" / "donation"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    for run in ("base", "dropped"):
        shutil.copytree(CHANGES / run, tmp_path / run)
    database = tmp_path / "w.duckdb"
    for run in ("base", "dropped"):
        ingest([str(tmp_path / run)], database)
    return database


def findings(database: Path) -> list[Finding]:
    with connect(database) as connection:
        request = Request(candidate="dropped", baseline="run:base", kind="diff")
        return build_report(connection, request, EXACT).findings


def by_kind(finding: Finding) -> dict[str, int]:
    """Bytes of whole kinds; fragmentation, which profiles know, apart."""
    sums: dict[str, int] = defaultdict(int)
    for part in finding.parts:
        is_packing = part.part == "fragmentation"
        sums["fragmentation" if is_packing else part.kind] += part.delta_bytes
    return {kind: size for kind, size in sums.items() if size}


@pytest.mark.slow
@pytest.mark.parametrize("pruned", [["base"], ["base", "dropped"]])
def test_kinds_are_told_and_nothing_is_made_up(
    pruned: list[str], warehouse: Path
) -> None:
    [detailed] = findings(warehouse)
    kept = str(2 - len(pruned))
    assert main(["prune", "--keep", kept, "--db", str(warehouse)]) == 0
    [finding] = findings(warehouse)
    assert (finding.id, finding.delta_bytes) == (detailed.id, detailed.delta_bytes)
    assert by_kind(finding) == by_kind(detailed)
    assert finding.residual_bytes == 0
    assert finding.parts == [Part("whole", "live_out", finding.delta_bytes or 0, 0)]
    assert finding.cause == Cause(
        key="unknown/whole/live_out",
        title="+32.00 KiB of live_out (details of a run are pruned)",
        blame="unknown",
        share_ratio=1.0,
        standing="proven",
        is_part=True,
    )
    assert (finding.divergence, finding.buffers, finding.op_mix) == (None, [], [])


@pytest.mark.slow
def test_a_run_that_comes_again_is_explained_again(
    warehouse: Path, tmp_path: Path
) -> None:
    detailed = findings(warehouse)
    assert main(["prune", "--keep", "0", "--db", str(warehouse)]) == 0
    ingest([str(tmp_path / run) for run in ("base", "dropped")], warehouse)
    assert findings(warehouse) == detailed
