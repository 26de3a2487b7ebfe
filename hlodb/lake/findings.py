"""Findings of reports, and decisions about them, recorded in a file or in a lake."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hlodb.lake import is_lake
from hlodb.schema.connection import Connection
from hlodb.schema.limits import open_limited
from hlodb.schema.warehouse import transaction

if TYPE_CHECKING:
    from hlodb.lake.storage import Storage


@contextmanager
def recording(database: Path) -> Iterator[Connection]:
    """Yield a connection through which findings and their events may be added.

    They are kept all or not at all. Raises as `transaction`, or as `open_lake`.
    """
    if not is_lake(database):
        with transaction(database) as connection:
            yield connection
        return
    # Loaded for lakes only: a file needs nothing of it.
    from hlodb.lake.catalogue import make_catalogue, refresh
    from hlodb.lake.layout import CATALOGUE, lake_at, read_contents
    from hlodb.lake.storage import writing

    lake = lake_at(database)
    with (
        writing(lake.address),
        tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder,
        lake.drafts() as drafts,
    ):
        copy = Path(folder) / CATALOGUE
        make_catalogue(lake, read_contents(lake), copy)
        opened = open_limited(
            copy, folders=[lake.address, drafts], prepare=lake.prepare
        )
        with closing(opened) as connection:
            connection.execute(
                "CREATE TEMP TABLE known AS SELECT finding_id, event_number"
                " FROM finding_events"
            )
            yield connection
            _publish_new(connection, lake, drafts)
    refresh(lake)


def _publish_new(connection: Connection, lake: Storage, drafts: Path) -> None:
    """Write what was added as parts: findings first, their events commit them."""
    from hlodb.lake.layout import FINDINGS_PREFIX, part_name
    from hlodb.lake.packages import copy_rows

    name = f"{FINDINGS_PREFIX}{secrets.token_hex(8)}"
    new = "FROM finding_events ANTI JOIN known USING (finding_id, event_number)"
    findings = f"FROM findings SEMI JOIN ({new}) USING (finding_id)"
    for table, select in (("findings", findings), ("finding_events", new)):
        draft = drafts / f"{table}.parquet"
        if not copy_rows(connection, select, draft):
            return
        lake.put(draft, part_name(table, name))
