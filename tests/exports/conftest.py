"""A warehouse with programs of a TPU, which have several memory spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.renewal import renew_macros
from tests.conftest import REPOSITORY, Made


@pytest.fixture(scope="session")
def tpu_db(made: Made) -> Path:
    def make(path: Path) -> None:
        dump = str(REPOSITORY / "examples" / "dumps" / "tpu")
        ingest([dump], path, jobs=1, prepare=renew_macros)

    return made("exports_tpu", make)
