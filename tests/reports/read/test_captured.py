"""Programs that were captured on a TPU: text and memory_analysis(), no assignment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bench.causes import PAIRS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect


@pytest.mark.slow
def test_a_lost_donation_is_told_without_an_assignment(tmp_path: Path) -> None:
    pairs = {p.name: p for p in unpacked(PAIRS / "decoder-tpu.tar.xz", tmp_path)}
    pair, warehouse = pairs["gen_donation"], tmp_path / "w.duckdb"
    for name, folder in (("base", pair.base), ("candidate", pair.candidate)):
        dump = tmp_path / f"captured-{name}"
        dump.mkdir()
        (text,) = folder.glob("*.after_optimizations.txt")
        shutil.copy(text, dump / "jit_generate.after_optimizations.txt")
        said = {
            "module": "jit_generate",
            **json.loads((folder / "memory.json").read_text()),
        }
        (dump / "memory_analysis.json").write_text(json.dumps([said]))
        ingest([str(dump)], warehouse, request=RunRequest(name=name), jobs=1)
    with connect(warehouse) as connection:
        request = Request("candidate", "base", shown=frozenset())
        report = build_report(connection, request, Settings())
        same = build_report(
            connection, Request("base", "base", shown=frozenset()), Settings()
        )
    assert renderer("text")(report).partition("\n\nWhat was")[0].split("\n") == [
        "⚪ nothing to compare: neither run holds a program with a buffer assignment",
        "",
        "In short",
        "────────",
        "Not judged, but different: memory_analysis() of jit_generate, which has no"
        " buffer assignment: 23.07 → 39.07 MiB (+16.00 MiB): 16.00 MiB no longer"
        " donated.",
        "$ hlodb query memory_analysis_diff -p base=base -p candidate=candidate",
    ]
    assert same.notes == []
