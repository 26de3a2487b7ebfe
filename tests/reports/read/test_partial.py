"""Programs of which both runs have HLO text alone are compared by what it tells."""

from __future__ import annotations

from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.render.forms import renderer
from hlodb.schema.warehouse import connect

TEXT = """HloModule jit_f, is_scheduled=true

ENTRY main {
  x = f32[512,512]{1,0} parameter(0)
  big = f32[1024,1024]{1,0} broadcast(x), dimensions={0,1}
  ROOT y = f32[512]{0} slice(big), slice={[0:512]}
}
"""


def test_two_texts_differ_by_their_bounds(tmp_path: Path) -> None:
    for name, text in (("base", TEXT), ("candidate", TEXT.replace("1024", "2048"))):
        dump = tmp_path / name
        dump.mkdir()
        (dump / "jit_f.after_optimizations.txt").write_text(text)
        request = RunRequest(name=name)
        ingest([str(dump)], tmp_path / "w.duckdb", request=request, jobs=1)
    with connect(tmp_path / "w.duckdb") as connection:
        asked = Request("candidate", "base", shown=frozenset())
        report = build_report(connection, asked, Settings())
        unchanged = Request("base", "base", shown=frozenset())
        same = build_report(connection, unchanged, Settings())
    assert renderer("text")(report).partition("\n\nWhat was")[0].split("\n") == [
        "⚪ nothing to compare: neither run holds a program with a buffer assignment",
        "",
        "In short",
        "────────",
        "Not judged, but different: without a buffer assignment, jit_f, by its HLO: at"
        " least 5.00 → 17.00 MiB (+12.00 MiB): largest array of one instruction"
        " +12.00 MiB.",
        "$ hlodb query partial_memory_diff -p base=base -p candidate=candidate",
    ]
    assert same.notes == []
