"""The tables of a lake: their folders, and their columns in SQL.

A lake holds what a file stores. What the file numbers (runs, forms, snapshots, paths,
files) has the key of its content for a number, so that writers agree without asking.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from hlodb.ingest.load.delete import METRIC_TABLES
from hlodb.schema.stored import stored_tables

NUMBERED = {
    "form_id": "store.instruction_forms",
    "snapshot_id": "store.snapshots",
    "path_id": "store.paths",
    "file_id": "store.files",
}
"""Tables by their number; it comes first, the key of the content second."""

_IN_CATALOGUE = frozenset(
    ("runs", "findings", "finding_events", "memory_spaces", "device_memory",
     "warehouse_info")
)  # fmt: skip
"""Tables that the catalogue itself holds: small ones."""


_OF_RUNS = ("store.snapshots", "store.paths", "store.files", "store.location_sets")


@cache
def part_tables() -> tuple[str, ...]:
    """Return the tables that are views over parts, each after those that name its keys.

    Runs come first, then what they hold, then what modules hold, then shared forms.
    """
    names = [name for name in stored_tables() if name not in _IN_CATALOGUE]
    of_runs = [name for name in names if key_of(name) == "run_id"]
    of_modules = [name for name in names if key_of(name) == "module_id"]
    known = {*of_runs, *of_modules, *_OF_RUNS}
    return (*of_runs, *_OF_RUNS, *of_modules, *(n for n in names if n not in known))


def folder_of(table: str) -> str:
    """Return the folder with the parts of a table."""
    return table.removeprefix("store.")


def key_of(table: str) -> str:
    """Return the column, always the first, by which packages share rows of a table.

    All rows of one key are of one package; they are equal in each that has them, but
    for memory reports.
    """
    return next(iter(stored_tables()[table]))


def key_column(number: str) -> str:
    """Return the column with the key behind a number."""
    return f"{number.removesuffix('_id')}_key"


def quoted(table: str) -> str:
    """Return the name of a table in SQL."""
    return ".".join(f'"{part}"' for part in table.split("."))


def literal(text: object) -> str:
    """Return a text in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def literals(texts: Iterable[object]) -> str:
    """Return a list of texts in SQL."""
    return f"[{', '.join(map(literal, texts))}]"


def packed(table: str, *, is_whole: bool) -> str:
    """Return the SELECT that turns numbers into keys; rows in order of their key.

    It reads a warehouse with the temporary table packed_runs (run_id, run_key); unless
    `is_whole`, only what these runs use, and PACKED_MODULES besides.
    """
    own = key_of(table)
    names, joins = [], []
    for name in stored_tables()[table]:
        if name in NUMBERED and NUMBERED[name] == table:
            names.append(f't."{key_column(name)}" AS "{name}"')
        elif name in NUMBERED:
            names.append(f'{name[0]}."{key_column(name)}" AS "{name}"')
            joins.append(f"JOIN {NUMBERED[name]} AS {name[0]} USING ({name})")
        elif name == "run_id":
            names.append("r.run_key AS run_id")
            joins.append("JOIN packed_runs AS r USING (run_id)")
        elif own in NUMBERED and name == key_column(own):
            continue
        else:
            names.append(f't."{name}"')
    return (
        f"SELECT {', '.join(names)} FROM {quoted(table)} AS t {' '.join(joins)}"
        f"{'' if is_whole or own == 'run_id' else _only_used(own)} ORDER BY 1, t.rowid"
    )


_USED = {
    "snapshot_id": "SELECT snapshot_id FROM store.occurrences SEMI JOIN packed_runs"
    " USING (run_id)",
    "path_id": "SELECT path_id FROM store.occurrences SEMI JOIN packed_runs"
    " USING (run_id)",
    "file_id": "SELECT file_id FROM store.run_files SEMI JOIN packed_runs"
    " USING (run_id)",
    "form_id": "SELECT form_id FROM store.instructions SEMI JOIN packed_modules"
    " USING (module_id)",
    "module_id": "SELECT module_id FROM packed_modules",
    "locations_id": "SELECT locations_id FROM packed_modules",
    "numbering_id": "SELECT numbering_id FROM store.location_sets"
    " SEMI JOIN packed_modules USING (locations_id)",
    "list_id": "SELECT list_id FROM store.location_sets"
    " SEMI JOIN packed_modules USING (locations_id)",
    "frames_id": "SELECT frames_id FROM store.location_sets"
    " SEMI JOIN packed_modules USING (locations_id)",
}
"""Keys of the rows that the runs in packed_runs use, by column."""

PACKED_MODULES = (
    "CREATE OR REPLACE TEMP TABLE packed_modules AS"
    " SELECT DISTINCT module_id, locations_id FROM modules"
    " SEMI JOIN packed_runs USING (run_id)"
)
"""Makes the contents of the modules of these runs a table."""


def _only_used(key: str) -> str:
    return f' WHERE t."{key}" IN ({_USED[key]})'


_WHOLE = "FROM modules JOIN runs USING (run_id) WHERE pruned_at IS NULL"


def used(table: str, *, drops_timelines: bool) -> str:
    """Return the SELECT of the keys of a table that runs of the lake still use.

    As after `hlodb rm` and `hlodb prune` of a file.
    """
    own = key_of(table)
    if own in ("snapshot_id", "path_id"):
        return f"SELECT {own} FROM store.occurrences"
    if own == "file_id":
        return "SELECT file_id FROM store.run_files"
    if own == "form_id":
        return "SELECT form_id FROM store.instructions"
    if own in ("numbering_id", "list_id", "frames_id"):
        return f"SELECT {own} FROM store.location_sets"
    if table == "memory_timeline" and drops_timelines:
        return f"SELECT module_id {_WHOLE}"
    if table in METRIC_TABLES:
        return "SELECT module_id FROM modules"
    return f"SELECT {own} {_WHOLE} AND is_detailed"


def shown(table: str) -> str:
    """Return the columns of `parts AS t`, as a file has them."""
    own = key_of(table)
    names = [
        f't."{own}" AS "{name}"'
        if own in NUMBERED and name == key_column(own)
        else "k.run_id"
        if name == "run_id"
        else f't."{name}"'
        for name in stored_tables()[table]
    ]
    return ", ".join(names)


def no_rows(table: str) -> str:
    """Return a SELECT of no rows that has the columns of a part."""
    own = key_of(table)
    columns = ", ".join(
        f'NULL::{"BIGINT" if name in NUMBERED else kind} AS "{name}"'
        for name, kind in stored_tables()[table].items()
        if own not in NUMBERED or name != key_column(own)
    )
    return f"SELECT {columns} WHERE false"


def unpacked(table: str, target: str) -> str:
    """Return the SELECT that turns keys into numbers, for a table of `target`."""
    own = key_of(table)
    if own in NUMBERED:
        return f"SELECT t.* REPLACE (row_number() OVER () AS {own}) FROM {table} AS t"
    numbers = [name for name in stored_tables()[table] if name in NUMBERED]
    replaced = ", ".join(f"n{i}.{name} AS {name}" for i, name in enumerate(numbers))
    joins = " ".join(
        f"JOIN {target}.{NUMBERED[name]} AS n{i} ON n{i}.{key_column(name)} = t.{name}"
        for i, name in enumerate(numbers)
    )
    columns = f"t.* REPLACE ({replaced})" if numbers else "t.*"
    return f"SELECT {columns} FROM {quoted(table)} AS t {joins}"
