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
from tests.newcomers import ingested

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


MIB = 1024 * 1024

SOURCE = """HloModule jit_f{header}

ENTRY main {{
  x = f32[1024,1024]{{1,0}} parameter(0)
  w = f32[1024,512]{{1,0}} parameter(1)
  ROOT y = f32[1024,512]{{1,0}} dot(x, w), lhs_contracting_dims={{1}}, \
rhs_contracting_dims={{0}}
}}
"""
ALIASED = ", input_output_alias={ {}: (1, {}, may-alias) }"
BEFORE, AFTER = "before_optimizations", "after_optimizations"


@pytest.mark.parametrize(
    ("header", "stage", "count", "shared"),
    [
        (", num_partitions=4", BEFORE, 4, 0),
        (f"{ALIASED}, num_partitions=4", BEFORE, 4, 2 * MIB),
        (", num_partitions=1", BEFORE, 1, 0),
        ("", BEFORE, 1, 0),
        # The partitioner has written the shapes of one device.
        (", num_partitions=4", AFTER, 1, 0),
    ],
)
def test_shapes_of_all_partitions_are_divided_by_their_number(
    tmp_path: Path, header: str, stage: str, count: int, shared: int
) -> None:
    """Arguments of 4 and 2 MiB, and a result of 2 MiB that may lie in the second."""
    text = tmp_path / f"module_0001.jit_f.{stage}.txt"
    text.write_text(SOURCE.format(header=header))
    [row] = rows(tmp_path, text, "partial_memory")
    sizes = ("argument_bytes", "result_bytes", "shared_bytes", "least_bytes")
    assert row["split_count"] == count
    assert [row[size] * count for size in sizes] == [
        6 * MIB,
        2 * MIB,
        shared,
        8 * MIB - shared,
    ]
    # Nothing is scheduled yet, so what else lives at once is not known.
    assert row["largest_bytes"] is None


@pytest.mark.slow
def test_no_bound_of_a_sharded_source_is_above_the_peak(tmp_path: Path) -> None:
    """Four chips hold the training and the decode step of a mixture of experts."""
    with connect(ingested("experts", tmp_path, "night2")) as connection:
        found = run_query(connection, "peak_by_space", {"color": 0}).dicts()
    peaks = {row["program"]: row["live_peak_bytes"] for row in found}
    sources = tmp_path / "sources"
    sources.mkdir()
    for text in (tmp_path / "experts" / "night2").glob(f"*.{BEFORE}.txt"):
        text.rename(sources / text.name)
    bounds = rows(tmp_path, sources, "partial_memory")
    assert {row["program"]: row["split_count"] for row in bounds} == {
        "jit_train_step": 4,
        "jit_decode_step": 4,
    }
    for row in bounds:
        peak = peaks[row["program"]]
        assert 0.2 * peak < row["least_bytes"] <= peak
