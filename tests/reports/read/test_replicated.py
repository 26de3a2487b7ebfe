"""What every device holds whole, on a TPU dump of several partitions."""

from __future__ import annotations

import re
import tarfile
from math import prod
from pathlib import Path

import pytest

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.reports.build import build_report
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.compared_runs import Request
from hlodb.reports.read.compilations import replicated_bytes
from hlodb.reports.read.facts import read_modules, read_runs
from hlodb.schema.warehouse import connect
from tests.conftest import DUMPS

TPU = DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz"
WHOLE = re.compile(
    r"= \w+?(\d+)\[([\d,]*)\]\S* parameter\(\d+\), sharding=\{replicated}"
)
SOURCE = re.compile(r"\.(jit_\w+)\.cl_\d+\.before_optimizations\.txt$")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    with tarfile.open(TPU) as archive:
        kept = [m for m in archive if re.search("mlp_step|gpt_fsdp", m.name)]
        archive.extractall(tmp_path / "night", kept)
    return tmp_path / "night"


def bytes_in_text(dump: Path) -> dict[str, int]:
    """Bytes by program, counted in the text of entry computations."""
    return {
        found[1]: sum(
            int(bits) // 8 * prod(int(d) for d in shape.split(",") if d)
            for bits, shape in WHOLE.findall(path.read_text().partition("\nENTRY ")[2])
        )
        for path in dump.rglob("*before_optimizations.txt")
        if (found := SOURCE.search(path.name))
    }


@pytest.mark.slow
def test_what_is_replicated_counts_once_however_many_runs_share_it(
    dump: Path, tmp_path: Path
) -> None:
    """Nights, and other devices, compile the same source."""
    path, sizes = tmp_path / "hlodb.duckdb", bytes_in_text(dump)
    assert sizes["jit_mlp_step"] > 1 << 20
    for name in ("first", "second", "third"):
        ingest([str(dump)], path, request=RunRequest(name=name), jobs=1)
        with connect(path) as connection:
            held = read_modules(connection, read_runs(connection)).values()
            modules = [m for of_run in held for m in of_run]
            found = replicated_bytes(connection, modules, 1)
        assert {m.program: found.get(m.earliest_id, 0) for m in modules} == sizes


@pytest.mark.slow
def test_a_source_that_other_runs_share_has_not_grown(
    dump: Path, tmp_path: Path
) -> None:
    path = tmp_path / "hlodb.duckdb"
    texts = {p: p.read_text() for p in dump.rglob("*mlp_step*_optimizations.txt")}
    for name in ("other", "night", "base"):
        if name == "base":
            for each, text in texts.items():
                each.write_text(text.replace("constant(0)", "constant(1)"))
        ingest([str(dump)], path, request=RunRequest(name=name), jobs=1)
    with connect(path) as connection:
        request, settings = Request("night", "base"), Settings(replicated_bytes=1 << 20)
        gates = build_report(connection, request, settings).gates
    assert [(g.gate, g.status, g.program, g.value) for g in gates] == [
        ("regression", "pass", None, 0),
        ("changed_inputs", "pass", None, 0),
        ("missing_program", "pass", None, 0),
        ("donation_loss", "pass", None, 0),
        ("replicated", "pass", None, 0),
    ]
