"""Dumps of newcomers' trials, tests/data/newcomers, as warehouses."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.queries.run import run_query
from hlodb.schema.connection import Connection
from tests.conftest import DATA


def ingested(name: str, folder: Path, pattern: str = "*") -> Path:
    """Return a warehouse with a run for each dump of an archive."""
    with tarfile.open(DATA / "newcomers" / f"{name}.tar.xz") as archive:
        archive.extractall(folder)
    warehouse = folder / f"{name}.duckdb"
    for dump in sorted((folder / name).glob(pattern)):
        ingest([str(dump)], warehouse, request=RunRequest(name=dump.name), jobs=1)
    return warehouse


def asked(
    connection: Connection, query: str, run: str, **more: Any
) -> list[dict[str, Any]]:
    """Return the answer about the main memory of a run."""
    return run_query(connection, query, {"run": run, "color": 0, **more}).dicts()
