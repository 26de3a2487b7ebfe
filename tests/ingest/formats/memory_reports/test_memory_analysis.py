"""JAX's memory analyses as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.memory_reports.memory_analysis import (
    MEMORY_STATS,
    MemoryAnalysis,
    ParsedAnalyses,
    parse_memory_analyses,
)
from hlodb.ingest.records import Reject

ENTRY = {"module": "jit_f", "argument_size_in_bytes": 4096, "peak_memory_in_bytes": 9}
ANALYSIS = MemoryAnalysis("jit_f", {"argument_bytes": 4096, "peak_bytes": 9})


@pytest.mark.parametrize("found", [ENTRY, [ENTRY]])
def test_one_or_many(found: object) -> None:
    assert parse_memory_analyses(json.dumps(found)) == ParsedAnalyses([ANALYSIS])


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {},
        {"module": "jit_f"},
        {"module": 7, "temp_size_in_bytes": 1},
        {"module": "jit_f", "temp_size_in_bytes": "1"},
        {"module": "jit_f", "temp_size_in_bytes": True},
        {"module": "jit_f", "temp_size_in_bytes": 1 << 70},
    ],
)
def test_an_entry_that_is_none(entry: object) -> None:
    message = "entry 1 has no module name with sizes in bytes"
    assert parse_memory_analyses(json.dumps([ENTRY, entry])) == ParsedAnalyses(
        [ANALYSIS], [Reject(0, 0, "memory analysis", "malformed", message, "")]
    )


def test_a_file_that_breaks_off() -> None:
    parsed = parse_memory_analyses('[\n {"module": ')
    assert parsed.analyses == []
    [reject] = parsed.rejects
    assert (reject.line, reject.code) == (2, "malformed")


@given(st.text() | st.just("[" * 100_000))
def test_any_text(text: str) -> None:
    parsed = parse_memory_analyses(text)
    assert all(set(a.sizes) <= set(MEMORY_STATS) for a in parsed.analyses)
