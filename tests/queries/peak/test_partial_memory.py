"""The lower bound of a peak from HLO alone is none above the peak of the dump."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.conftest import DATA, DUMPS, SHARED_ARCHIVES

ARCHIVES = [
    DATA / "newest" / "cpu-jaxlib-0.12.0.1.tar.xz",
    DATA / "newest" / "tpu-v5e-jax-0.12.0.1.tar.xz",
    *(
        pytest.param(archive, marks=pytest.mark.slow)
        for archive in sorted(DUMPS.glob("*.tar.xz"))
    ),
    *(
        pytest.param(archive, marks=[pytest.mark.slow, pytest.mark.shared])
        for archive in SHARED_ARCHIVES
        if archive.parent.name in ("cpu", "tpu")
    ),
]


def rows(folder: Path, path: Path, query: str) -> list[dict[str, Any]]:
    ingest([str(path)], folder / f"{query}.duckdb", jobs=1)
    with connect(folder / f"{query}.duckdb") as connection:
        return run_query(connection, query, {}).dicts()


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_no_bound_is_above_the_peak(tmp_path: Path, archive: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member)
            if file and member.name.endswith("after_optimizations.txt"):
                (texts / Path(member.name).name).write_bytes(file.read())
    peaks = {
        (row["program"], row["module_number"], row["color"]): row["live_peak_bytes"]
        for row in rows(tmp_path, archive, "peak_by_space")
    }
    bounds = {
        (row["program"], row["module_number"], row["color"]): row["least_bytes"]
        for row in rows(tmp_path, texts, "partial_memory")
        if row["color"] == 0
    }
    assert bounds
    assert bounds.keys() <= peaks.keys()
    above = {key: (b, peaks[key]) for key, b in bounds.items() if b > peaks[key]}
    assert above == {}
    # Half of a peak, on the whole, is said by arguments and results.
    total = sum(peaks[key] for key in bounds)
    assert sum(bounds.values()) > 0.2 * total
