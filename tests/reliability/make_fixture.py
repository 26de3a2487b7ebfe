"""Keeps a warehouse of this schema version: `python -m tests.reliability.make_fixture`.

Until a version is released, run it again whenever tables or what is read into them
change; test_upgrades fails till then. Once released, its file stays as it is for good:
raise SCHEMA_VERSION, write schema/migrations/N.sql, and run it for the new version.
"""

from __future__ import annotations

import lzma
import tempfile
from datetime import datetime
from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest
from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.versions import SCHEMA_VERSION
from tests.conftest import DATA

# Else the run would begin when the files were checked out.
REQUEST = RunRequest(name="seeds", started_at=datetime(2026, 11, 1))


def ingest_seeds(database: Path) -> None:
    """Make a warehouse of the seeds."""
    ingest([str(DATA / "seeds")], database, request=REQUEST)


def main() -> None:
    """Write tests/data/warehouses/vN.duckdb.xz, which holds the seeds."""
    packed = DATA / "warehouses" / f"v{SCHEMA_VERSION}.duckdb.xz"
    packed.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "w.duckdb"
        ingest_seeds(db)
        packed.write_bytes(lzma.compress(db.read_bytes(), preset=9))
    print(f"{packed}: {packed.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
