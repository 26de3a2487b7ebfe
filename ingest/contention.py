"""What other processes may have done to a run between two of our transactions.

Nobody holds the warehouse for a whole ingest, so each transaction first makes sure that
the run is as the last one left it, and the last one that nothing it relied on is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from hlodb.errors import WarehouseLocked
from hlodb.ingest.incoming import execute_on
from hlodb.ingest.run_records import recorded_files
from hlodb.ingest.statements import statement
from hlodb.schema.connection import Connection


def require_untouched(
    connection: Connection, run_id: int, name: str, paths: set[str]
) -> None:
    """Raise WarehouseLocked unless the run holds just the files that we left in it."""
    row = connection.execute("SELECT name FROM runs WHERE run_id = ?", [run_id])
    found = row.fetchone()
    if found is None or found[0] != name:
        raise WarehouseLocked(f"run {name} was removed while it was being ingested")
    if (recorded_files(connection, name) or {}).keys() != paths:
        raise WarehouseLocked(
            f"another process ingests a run called {name} at the same time"
            " (give runs their own names with --run)"
        )


def require_whole(
    connection: Connection, run_id: int, name: str, unit_digests: Sequence[int]
) -> None:
    """Raise WarehouseLocked where units could not be copied from other runs.

    That is the case where the run that brought their details was removed or pruned
    after we had seen that nothing need be parsed.
    """
    if not unit_digests:
        return
    wanted = pa.table(
        {"unit_digest": unit_digests, "run_id": [run_id] * len(unit_digests)}
    )
    [[lost]] = execute_on(connection, statement("count_lost"), wanted)
    if lost:
        raise WarehouseLocked(
            f"modules of run {name} were removed with another run while it was being"
            " ingested"
        )
