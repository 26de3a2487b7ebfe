"""Large modules are read in packed columns: the rows are those of small modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest import records
from hlodb.ingest.modules import implied_instructions, numbering
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.ingest.tables import normalise
from tests.conftest import DUMPS, all_rows

DUMP = DUMPS / "cpu" / "jaxlib-0.10.2.tar.xz"
BOUNDS = (
    (records, "_CHUNK", 16),
    (numbering, "_MOST_NAMES", 64),
    (numbering, "_MOST_CALLS", 8),
    (numbering, "_MANY", 50),
    (normalise, "_MANY", 30),
    (normalise, "_LARGE", 20),
    (implied_instructions, "_MANY", 10),
)
"""What counts as large or many, and a size that every module of the dump exceeds."""


def test_packed_columns_give_the_rows_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([str(DUMP)], tmp_path / "small.duckdb", jobs=1)
    packed: list[int] = []
    pack = records.PackedTexts.pack

    def counted(texts: records.PackedTexts) -> None:
        pack(texts)
        packed.append(texts.packed)

    monkeypatch.setattr(records.PackedTexts, "pack", counted)
    for module, name, size in BOUNDS:
        monkeypatch.setattr(module, name, size)
    ingest([str(DUMP)], tmp_path / "large.duckdb", jobs=1)
    assert max(packed) > 1000
    assert all_rows(tmp_path / "large.duckdb") == all_rows(tmp_path / "small.duckdb")
