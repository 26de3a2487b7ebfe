"""What a difference follows from, of compiled pairs with several edits."""

from pathlib import Path

import pytest

from bench.causes import EDITS, PAIRS, unpacked
from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.judge.sentences import share_words
from hlodb.reports.read.compared_runs import Request
from hlodb.schema.warehouse import connect

MIB = 2**20
CONSTANT = 8192 * 256 * 4

LOGITS = 8 * 128 * 4096 * 2

Row = tuple[str, str, int | None, bool, str]


@pytest.mark.parametrize(
    ("folder", "archive", "name", "expected", "sentence"),
    [
        (
            PAIRS,
            "decoder-cpu",
            "two_donation_logits",
            [
                (
                    "edit",
                    "cache[0] and 1 more argument no longer donated",
                    None,
                    False,
                    "proven",
                ),
                (
                    "edit",
                    "decoder.py:65 generate: output f32[8,2048] → f32[8,64,2048] of"
                    " log_softmax",
                    None,
                    False,
                    "likely",
                ),
                ("several", "all edits together", 12_550_144, False, "proven"),
            ],
            "",
        ),
        pytest.param(
            PAIRS,
            "decoder-cpu",
            "two_capacity_constant",
            [
                (
                    "edit",
                    "decoder.py:60 generate: constant f32[8192,256] captured",
                    CONSTANT,
                    False,
                    "proven",
                ),
                ("inputs", "the inputs", 64 * MIB, False, "proven"),
                ("several", "the edit, given these inputs", 2 * MIB, False, "likely"),
            ],
            "+8.00 MiB from decoder.py:60; +64.00 MiB from the inputs; +2.00 MiB"
            " likely from the edit, given these inputs",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            PAIRS,
            "lm-cpu",
            "two_output_promotion",
            [
                (
                    "edit",
                    "lm.py:57 LanguageModel.__call__: new output bf16[8,128,4096] of"
                    " LanguageModel/Dense_0/add",
                    LOGITS,
                    False,
                    "proven",
                ),
                ("unexplained", "unexplained", 8, False, "unknown"),
            ],
            "",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            EDITS,
            "dynamax_states",
            "infer_filtered",
            [
                (
                    "edit",
                    "dynamax_states.py:22 infer: hmm_filter, transpose for"
                    " hmm_smoother",
                    -9410552,
                    False,
                    "proven",
                )
            ],
            "",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            EDITS,
            "equinox_tagger",
            "two_one_hot_donated",
            [
                (
                    "edit",
                    "equinox_tagger.py:51 loss_of: one-hot array in place of an index",
                    None,
                    False,
                    "likely",
                ),
                ("unexplained", "unexplained", 1682416, False, "unknown"),
            ],
            "",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_claims_add_up_to_the_difference(
    tmp_path: Path,
    folder: Path,
    archive: str,
    name: str,
    expected: list[Row],
    sentence: str,
) -> None:
    """Bytes add up to what XLA reserves more, and reports print no other claim."""
    pairs = {p.name: p for p in unpacked(folder / f"{archive}.tar.xz", tmp_path)}
    warehouse, pair = tmp_path / "pairs.duckdb", pairs[name]
    for run, dump in (("base", pair.base), ("candidate", pair.candidate)):
        ingest([str(dump)], warehouse, request=RunRequest(name=run), jobs=1)
    with connect(warehouse) as connection:
        asked = {"base": "base", "candidate": "candidate"}
        rows = run_query(connection, "claims", asked).dicts()
        report = build_report(
            connection, Request("candidate", "base", shown=frozenset()), Settings()
        )
    main = [row for row in rows if row["color"] == 0]
    columns = ("kind", "claim", "delta_bytes", "is_against", "standing")
    claims = [tuple(row[c] for c in columns) for row in main]
    assert claims == expected
    assert sum(row["delta_bytes"] or 0 for row in main) == pair.delta_bytes
    assert [row["place"] for row in main] == [*range(1, len(main) + 1)]
    (finding,) = (f for f in report.findings if f.color == 0)
    said = [tuple(getattr(claim, c) for c in columns) for claim in finding.claims]
    assert said == claims
    assert share_words(finding) == sentence
    assert finding.cause is not None
    assert finding.cause.standing == finding.claims[0].standing
