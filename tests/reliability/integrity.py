"""What must hold in every warehouse at every moment, asked in SQL."""

from __future__ import annotations

from pathlib import Path

from hlodb.schema.tables import PUBLIC, STORE
from hlodb.schema.warehouse import connect

_STORED = [
    table
    for table in (*PUBLIC.sorted_tables, *STORE.sorted_tables)
    if not table.info.get("view")
]
_UNIQUE = {
    "runs": "run_id",
    "dump_files": "run_id, path",
    "modules": "run_id, path, part",
    "computations": "module_id, computation_id",
    "store.instructions": "module_id, instruction_id",
    "store.instruction_forms": "form_id",
    "allocations": "module_id, allocation_id",
    "store.values": "module_id, value_id",
    "memory_profile": "module_id, color",
    "memory_timeline": "module_id, color, from_step",
    "locations": "locations_id, instruction_id",
    "stack_frames": "locations_id, stack_frame_id",
    "store.snapshots": "snapshot_id",
    "store.paths": "path_id",
    "store.files": "file_id",
    "store.location_sets": "locations_id",
    "store.location_lists": "list_id, location_number",
}
_USED = {
    "store.instruction_forms": ("form_id", "store.instructions"),
    "store.snapshots": ("snapshot_id", "store.occurrences"),
    "store.paths": ("path_id", "store.occurrences"),
    "store.files": ("file_id", "store.run_files"),
    "store.location_numbers": ("numbering_id", "store.location_sets"),
    "store.location_lists": ("list_id", "store.location_sets"),
    "store.stack_frames": ("frames_id", "store.location_sets"),
}
_SHOWN = (
    ("store.occurrences", "modules"),
    ("store.run_files", "dump_files"),
    ("store.instructions", "instructions"),
)
_WHOLE = "run_id IN (SELECT run_id FROM runs WHERE pruned_at IS NULL)"
_METRICS = ("memory_profile", "memory_timeline")
_COUNTED = (
    ("computations", "computation_count"),
    ("instructions", "instruction_count"),
)


def faults(path: Path) -> list[str]:
    """Return the faults of the warehouse at `path`; nothing if all is well."""
    with connect(path) as connection:
        return [
            f"{what}: {count}"
            for what, sql in _questions().items()
            for (count,) in [connection.execute(sql).fetchone() or (0,)]
            if count
        ]


def _questions() -> dict[str, str]:
    asked: dict[str, str] = {}
    for table in _STORED:
        name = ".".join(f'"{part}"' for part in table.fullname.split("."))
        if "run_id" in table.c and table.name != "runs":
            asked[f"{name} of no run"] = (
                f"SELECT count(*) FROM {name} WHERE run_id NOT IN"
                " (SELECT run_id FROM runs)"
            )
            continue
        for key in ("module_id", "locations_id"):
            if key in table.c and table.fullname not in _USED:
                whole = "true" if table.name in _METRICS else _WHOLE
                asked[f"{name} that no run holds"] = (
                    f"SELECT count(*) FROM {name} WHERE {key} NOT IN"
                    f" (SELECT {key} FROM modules WHERE {whole} AND {key} IS NOT NULL)"
                )
    for fullname, key in _UNIQUE.items():
        name = ".".join(f'"{part}"' for part in fullname.split("."))
        asked[f"{name} twice"] = (
            f"SELECT count(*) - count(DISTINCT ({key})) FROM {name}"
        )
    for table_name, count in _COUNTED:
        asked[f"modules whose {table_name} are not all there"] = f"""
            SELECT count(*)
            FROM modules AS m
            LEFT JOIN (
              SELECT module_id, count(*) AS found FROM {table_name} GROUP BY ALL
            ) AS d USING (module_id)
            WHERE m.{_WHOLE} AND m.computation_count > 0
              AND m.unit_digest IS NOT NULL AND m.{count} <> coalesce(d.found, 0)
        """
    for stored, view in _SHOWN:
        asked[f"rows of {stored} that {view} does not show"] = (
            f"SELECT (SELECT count(*) FROM {stored}) - (SELECT count(*) FROM {view})"
        )
    for used, (key, user) in _USED.items():
        asked[f"{used} that {user} does not use"] = (
            f"SELECT count(*) FROM {used} WHERE {key} NOT IN (SELECT {key} FROM {user})"
        )
    asked["modules whose allocations miss XLA's own total"] = f"""
        SELECT count(*)
        FROM modules AS m
        JOIN (
          SELECT module_id, sum(size_bytes) AS found FROM allocations GROUP BY ALL
        ) AS a USING (module_id)
        WHERE m.{_WHOLE} AND m.printed_total_bytes <> a.found
          AND m.unit_digest IS NOT NULL
    """
    return asked
