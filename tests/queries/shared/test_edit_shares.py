"""What of a difference follows from which edit, of compiled pairs with several."""

from pathlib import Path

import pytest

from bench.causes import PAIRS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.sentences import share_words
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect

MIB = 2**20
CACHES = 2 * 4 * 8 * 512 * 256 * 2
"""Keys and values of four layers, which are no longer donated."""

CONSTANT = 8192 * 256 * 4

LOGITS = 8 * 128 * 4096 * 2


@pytest.mark.parametrize(
    ("archive", "name", "expected", "sentence"),
    [
        (
            "decoder-cpu",
            "two_donation_logits",
            [
                ("edit", "cache[0] and 1 more argument no longer donated", CACHES, 2),
                ("edit", "output f32[8,2048] → f32[8,64,2048] of log_softmax", 0, 0),
                ("edit", "removed: squeeze, slice", 0, 0),
                ("several", None, -4 * MIB, 2),
                ("unexplained", None, -32768, 3),
            ],
            "+16.00 MiB from cache[0] and 1 more argument no longer donated; -4.00 MiB"
            " from more than one of these; -32.00 KiB unexplained",
        ),
        pytest.param(
            "decoder-cpu",
            "two_capacity_constant",
            [
                ("edit", "constant f32[8192,256] captured", CONSTANT, 1),
                ("inputs", None, 64 * MIB, 7),
                ("unexplained", None, 2 * MIB, 1),
            ],
            "+64.00 MiB from the inputs; +8.00 MiB from decoder.py:60; +2.00 MiB"
            " unexplained",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "lm-cpu",
            "two_output_promotion",
            [
                ("edit", "bf16 → f32 in 2 operations", 0, 0),
                (
                    "edit",
                    "new output bf16[8,128,4096] of LanguageModel/Dense_0/add",
                    LOGITS + 8,
                    3,
                ),
            ],
            "+8.00 MiB from lm.py:57",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_each_edit_has_what_descends_from_it(
    tmp_path: Path,
    archive: str,
    name: str,
    expected: list[tuple[str, str | None, int, int]],
    sentence: str,
) -> None:
    """All bytes that XLA reserves more are of an edit, the inputs, or unexplained."""
    pairs = {p.name: p for p in unpacked(PAIRS / f"{archive}.tar.xz", tmp_path)}
    warehouse, pair = tmp_path / "pairs.duckdb", pairs[name]
    for run, folder in (("base", pair.base), ("candidate", pair.candidate)):
        ingest([str(folder)], warehouse, request=RunRequest(name=run), jobs=1)
    with connect(warehouse) as connection:
        ids = dict(connection.execute("SELECT name, run_id FROM runs").fetchall())
        asked = {
            "base_runs": [ids["base"]],
            "base_places": [1],
            "candidate_runs": [ids["candidate"]],
            "candidate_places": [1],
        }
        rows = run_query(connection, "edit_shares", asked).dicts()
        report = build_report(
            connection, Request("candidate", "base", shown=frozenset()), Settings()
        )
    main = [row for row in rows if row["color"] == 0]
    assert sum(row["delta_bytes"] for row in main) == pair.delta_bytes
    columns = ("origin", "sentence", "delta_bytes", "buffer_count")
    assert sorted(tuple(row[c] for c in columns) for row in main) == expected
    (finding,) = (f for f in report.findings if f.color == 0)
    assert share_words(finding) == sentence
    assert (
        finding.edits[0].sentence
        == max(
            (row for row in main if row["sentence"]), key=lambda row: row["delta_bytes"]
        )["sentence"]
    )
