"""Keeps a warehouse of this schema version as a test fixture: `python -m …`.

Run it once for each version, when its tables are final and before they change again.
"""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path

from hlodb.ingest.ingest import ingest
from hlodb.schema.versions import SCHEMA_VERSION
from tests.conftest import DATA


def main() -> None:
    """Write tests/data/warehouses/vN.duckdb.xz, which holds the seeds."""
    packed = DATA / "warehouses" / f"v{SCHEMA_VERSION}.duckdb.xz"
    packed.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "w.duckdb"
        ingest([str(DATA / "seeds")], db)
        packed.write_bytes(lzma.compress(db.read_bytes(), preset=9))
    print(f"{packed}: {packed.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
