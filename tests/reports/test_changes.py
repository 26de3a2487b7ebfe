"""One thing changed in a program: the report says exactly that."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.ingest import ingest
from hlodb.ingest.run_records import RunRequest
from hlodb.reports.build import build_report
from hlodb.reports.model import Finding
from hlodb.reports.scene import Request
from hlodb.reports.settings import Settings
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

EXACT = Settings(floor_bytes=0, floor_ratio=0.0)
KIB = 1024


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("changes") / "changes.duckdb"
    for folder in sorted((DATA / "changes").glob("*/*")):
        if folder.is_dir():
            name = f"{folder.parent.name}/{folder.name}"
            ingest([str(folder)], path, request=RunRequest(name=name), jobs=1)
    return path


def change(warehouse: Path, what: str, how: str) -> Finding:
    request = Request(
        candidate=f"{what}/{how}", baseline=f"run:{what}/base", kind="diff"
    )
    with connect(warehouse) as connection:
        (finding,) = build_report(connection, request, EXACT).findings
    assert finding.residual_bytes == 0
    return finding


def parts(finding: Finding) -> dict[tuple[str, str], int]:
    return {(p.part, p.kind): p.delta_bytes for p in finding.parts}


def title(finding: Finding) -> str:
    assert finding.cause is not None
    return finding.cause.title


def test_one_tensor_doubled(warehouse: Path) -> None:
    finding = change(warehouse, "tensor", "doubled")
    assert parts(finding) == {("resized", "temp"): 16 * KIB}
    assert title(finding) == "resized: slice f32[64,64] to f32[128,64] (+16.00 KiB)"


def test_one_donation_dropped(warehouse: Path) -> None:
    finding = change(warehouse, "donation", "dropped")
    assert parts(finding) == {("alias", "live_out"): 32 * KIB}
    assert title(finding) == (
        "lost alias: tanh, output {1} shared its memory with a parameter (+32.00 KiB)"
    )
    assert finding.divergence is not None
    assert finding.divergence.blame == "framework"


def test_one_dtype_widened(warehouse: Path) -> None:
    finding = change(warehouse, "dtype", "widened")
    assert parts(finding) == {
        ("retyped", "temp"): 16 * KIB,
        ("retyped", "thread_local"): 4,
    }
    assert title(finding) == (
        "retyped: convert_element_type s16[64,128] to s32[64,128] and 2 more"
        " (+16.00 KiB)"
    )


def test_one_more_block_recomputed(warehouse: Path) -> None:
    finding = change(warehouse, "remat", "extra")
    assert parts(finding) == {("life", "temp"): -16 * KIB}
    assert title(finding) == (
        "more is recomputed (15 → 30 rematerialised instructions): 1 buffer of"
        " dot_general no longer live at the peak (-16.00 KiB)"
    )


def test_the_source_line_is_named(warehouse: Path) -> None:
    (buffer,) = change(warehouse, "donation", "dropped").buffers
    assert (buffer.source_file, buffer.op_path) == ("make_changes.py", "optimizer/tanh")
