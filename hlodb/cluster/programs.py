"""The programs of many runs, each that differs once, as if a few runs had them all.

A *place* is the number of what one process compiled of one program. It is the same in
every run, rank and folder whose modules of the program are equal: in content, number
and file name, and compiled for the same device by the same compiler. A task makes its
catalogue show the modules of some places, each place once, in the first run of its
device and compiler. Their rank is the place: by the rank in its rows, an answer is
joined with all runs, ranks and folders of the place.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.queries.query import Query
from hlodb.schema.connection import Connection

_FACTS = (
    "r.compiler_version, r.framework_version, r.platform, r.device,"
    " r.device_memory_bytes, r.topology"
)
"""What queries about programs may read of a run, apart from its name."""

_MODULES = """
CREATE TABLE parts.run_modules AS
SELECT
  o.run_id, p.rank, regexp_replace(p.path, '[^/]*$', '') AS folder, s.program,
  regexp_extract(p.path, '[^/]*$') AS file, o.snapshot_id,
  p.* EXCLUDE (path_id, path, rank)
FROM store.occurrences AS o
JOIN store.snapshots AS s USING (snapshot_id)
JOIN store.paths AS p USING (path_id)
JOIN runs AS r USING (run_id)
WHERE list_contains($runs, r.name)
"""

_PLACES = f"""
CREATE TABLE parts.places AS
WITH compiled AS (
  SELECT
    m.run_id, m.rank, m.folder, m.program,
    md5(string_agg(
      concat_ws(chr(0), m.file, m.snapshot_id, m.module_number, m.pass_step), chr(1)
      ORDER BY m.file, m.snapshot_id
    )) AS digest
  FROM parts.run_modules AS m
  GROUP BY ALL
)
SELECT
  dense_rank() OVER (ORDER BY c.program, c.digest, {_FACTS})::INTEGER AS place,
  row_number() OVER (
    PARTITION BY c.program, c.digest, {_FACTS} ORDER BY c.run_id, c.folder, c.rank
  ) = 1 AS is_shown,
  first_value(c.run_id) OVER (PARTITION BY {_FACTS} ORDER BY c.run_id) AS shown_run_id,
  r.name AS run, c.*
FROM compiled AS c
JOIN runs AS r USING (run_id)
"""

_SHOWN = """
CREATE TABLE parts.shown AS
SELECT
  row_number() OVER () AS path_id, p.place, p.shown_run_id,
  m.* EXCLUDE (run_id, rank, folder, program)
FROM parts.places AS p
JOIN parts.run_modules AS m
  ON m.run_id = p.run_id
  AND m.rank IS NOT DISTINCT FROM p.rank
  AND m.folder = p.folder
  AND m.program = p.program
WHERE p.is_shown
"""

_INSTEAD = {
    "store.occurrences": """
SELECT shown_run_id AS run_id, path_id, snapshot_id FROM parts.shown
""",
    "store.paths": """
SELECT
  s.* EXCLUDE (place, shown_run_id, snapshot_id, file),
  s.place AS rank, concat(s.place, '/', s.file) AS path
FROM parts.shown AS s
""",
}
"""What the catalogue shows instead of its tables."""

_OF_EACH_RUN = {
    "run": "p.run",
    "rank": "p.rank",
    "path": "concat(p.folder, regexp_extract(a.path, '[^/]*$'))",
}
"""Columns of an answer that differ between runs of one place."""

JOINED = "JOIN parts.places AS p ON p.place = a.rank"
"""Joins `answer AS a` with the runs, ranks and folders of its places."""


def count_places(connection: Connection, runs: Sequence[str]) -> int:
    """Assign numbers to the places of these runs; return how many there are."""
    connection.execute(_MODULES, {"runs": [*runs]})
    connection.execute(_PLACES)
    [(count,)] = connection.execute(
        "SELECT coalesce(max(place), 0) FROM parts.places"
    ).fetchall()
    return int(count)


def show_places(
    connection: Connection, runs: Sequence[str], bucket: int, buckets: int
) -> list[str]:
    """Let a catalogue show every place of one bucket; return the runs to ask then."""
    count_places(connection, runs)
    connection.execute(f"DELETE FROM parts.places WHERE place % {buckets} <> {bucket}")
    connection.execute(_SHOWN)
    for table, select in _INSTEAD.items():
        _replace(connection, table, select)
    return [
        name
        for (name,) in connection.execute(
            "SELECT name FROM runs WHERE run_id IN"
            " (SELECT shown_run_id FROM parts.places) ORDER BY run_id"
        ).fetchall()
    ]


def _replace(connection: Connection, table: str, select: str) -> None:
    """Put the rows of a SELECT in the place of a table or view."""
    schema, _, name = table.partition(".")
    [(kind,)] = connection.execute(
        "SELECT table_type FROM information_schema.tables"
        " WHERE table_schema = ? AND table_name = ?",
        [schema, name],
    ).fetchall()
    connection.execute(f"CREATE TABLE {schema}.replaced AS {select}")
    connection.execute(f"DROP {'VIEW' if kind == 'VIEW' else 'TABLE'} {table}")
    connection.execute(f"ALTER TABLE {schema}.replaced RENAME TO {name}")


def select_of_all(query: Query) -> str:
    """Return the columns of `answer AS a` for every run of its places."""
    return ", ".join(
        f'{_OF_EACH_RUN[c.name]} AS "{c.name}"'
        if c.name in _OF_EACH_RUN
        else f'a."{c.name}"'
        for c in query.columns
    )
