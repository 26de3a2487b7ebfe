"""Findings of reports, and decisions about them, recorded in a file or in a lake."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hlodb.lake import is_lake
from hlodb.schema.connection import Connection, open_database
from hlodb.schema.warehouse import transaction


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
    from hlodb.lake.layout import CATALOGUE, read_contents, root_of

    root = root_of(database)
    refresh(root)
    with tempfile.TemporaryDirectory(prefix="hlodb-lake-") as folder:
        copy = Path(folder) / CATALOGUE
        make_catalogue(root, read_contents(root), copy)
        with closing(open_database(str(copy))) as connection:
            connection.execute(
                "CREATE TEMP TABLE known AS SELECT finding_id, event_number"
                " FROM finding_events"
            )
            yield connection
            _publish_new(connection, root)
    refresh(root)


def _publish_new(connection: Connection, root: Path) -> None:
    """Write what was added as parts: findings first, their events commit them."""
    from hlodb.lake.layout import FINDINGS_PREFIX, drafts, part_path, publish
    from hlodb.lake.packages import copy_rows

    name = f"{FINDINGS_PREFIX}{secrets.token_hex(8)}"
    new = "FROM finding_events ANTI JOIN known USING (finding_id, event_number)"
    findings = f"FROM findings SEMI JOIN ({new}) USING (finding_id)"
    with drafts(root) as folder:
        for table, select in (("findings", findings), ("finding_events", new)):
            draft = folder / f"{table}.parquet"
            if not copy_rows(connection, select, draft):
                return
            publish(draft, part_path(root, table, name))
