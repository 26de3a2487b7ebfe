"""A network for volumes that needs more memory at a smaller batch.

tests/data/newcomers/volumes.tar.xz has its training step with batches of 4 and 8. Below
8, libtpu 0.9.2 moves space into the batch: 83.24 GiB at 4, and 46.33 GiB at 8.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.queries.run import Value, run_query
from hlodb.schema.warehouse import connect
from tests.newcomers import ingested

GIB = 1 << 30


@pytest.fixture(scope="module")
def volumes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested("volumes", tmp_path_factory.mktemp("volumes"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "least", "beyond"), [(16, 0, None), (70, 0, 8), (90, 8, None)]
)
def test_a_size_that_fits_beyond_one_that_does_not_is_named(
    volumes: Path, limit: int, least: int, beyond: int | None
) -> None:
    with connect(volumes) as connection:
        asked: dict[str, Value] = {"limit_bytes": limit * GIB, "color": 0}
        row, *_ = run_query(connection, "largest_fit", asked).dicts()
    assert least <= row["lower_size"] <= row["largest_size"]
    assert row["fitting_beyond"] == beyond
    assert beyond is None or row["largest_size"] < 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("15GiB", "no size fits by the laws of the sizes that were compiled"),
        (
            "70GiB",
            "images[0] = 8 was compiled and fits, though a smaller size does not",
        ),
    ],
)
def test_the_command_says_so(
    volumes: Path, limit: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "--db", str(volumes), "--limit", limit]) == 0
    assert said in capfd.readouterr().err
