"""Runs of bare modules, put into a warehouse without a dump."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

from hlodb.schema.connection import Connection
from hlodb.schema.warehouse import connect
from tests.occurrences import store_modules

Facts = dict[str, Any]

DAY = datetime(2027, 1, 1)
PLAIN: Facts = {
    "program": "jit_f",
    "program_key": 7,
    "rank": None,
    "platform": "cpu",
    "num_partitions": 1,
    "shapes": "(f32[8])->f32[8]",
    "source_shapes": "(f32[8])->f32[8]",
    "graph": 11,
    "exact": 12,
    "source_graph": 21,
    "source_exact": 22,
    "opcodes": {},
    "reserved": 4,
    "has_assignment": True,
    "folder": "",
}


def module(program: str = "jit_f", **more: Any) -> Facts:
    """Return one module, and the source it was compiled from; no source_graph: none."""
    return {**PLAIN, "program": program, **more}


def other(program: str, **more: Any) -> Facts:
    """Return a module that has nothing of PLAIN."""
    facts = {
        "program_key": 8,
        "shapes": "(s32[])->s32[]",
        "source_shapes": "(s32[])->s32[]",
        "graph": 13,
        "exact": 14,
        "source_graph": 23,
        "source_exact": 24,
    }
    return module(program, **{**facts, **more})


def made(
    path: Path, *nights: Sequence[Facts], runs: Sequence[Facts] | None = None
) -> Path:
    """Write a warehouse of runs r1, r2, … with these modules, numbered from 1."""
    path.unlink(missing_ok=True)
    with connect(path, read_only=False) as connection:
        facts = runs or [{} for _ in nights]
        for number, (night, more) in enumerate(zip(nights, facts, strict=True), 1):
            _add_run(connection, number, {"series": "s", "platform": "cpu", **more})
            _add_modules(connection, number, night)
    return path


def _add_run(connection: Connection, number: int, facts: Facts) -> None:
    row = {
        "run_id": number,
        "name": f"r{number}",
        "started_at": DAY + timedelta(days=number),
        **facts,
    }
    if isinstance(row.get("labels"), dict):
        row["labels"] = json.dumps(row["labels"])
    names = ", ".join(row)
    marks = ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", [*row.values()])


def _add_modules(connection: Connection, run: int, night: Sequence[Facts]) -> None:
    rows = []
    for number, facts in enumerate(night, 1):
        module_id = run * 100_000 + 2 * number
        common = {
            "run_id": run,
            "part": 0,
            "name": facts["program"],
            "module_number": facts.get("number", number),
            **{
                key: facts[key]
                for key in (
                    *("program", "program_key", "rank", "platform", "num_partitions"),
                )
            },
        }
        path = f"{facts['folder']}module_{number:04}.{{}}.txt"
        if facts["source_graph"] is not None or facts["source_exact"] is not None:
            rows.append(
                {
                    **common,
                    "module_id": module_id + 1,
                    "locations_id": module_id + 1,
                    "path": path.format("before_optimizations"),
                    "stage": "before_optimizations",
                    "entry_layout": facts["source_shapes"],
                    "graph_fingerprint": facts["source_graph"],
                    "exact_fingerprint": facts["source_exact"],
                    "has_assignment": False,
                }
            )
        rows.append(
            {
                **common,
                "module_id": module_id,
                "locations_id": module_id,
                "path": path.format("after_optimizations"),
                "stage": "after_optimizations",
                "entry_layout": facts["shapes"],
                "graph_fingerprint": facts["graph"],
                "exact_fingerprint": facts["exact"],
                "has_assignment": facts["has_assignment"],
            }
        )
        # Opcodes are compared of sources, where both have one.
        holder = module_id + (facts["source_graph"] is not None)
        _add_instructions(connection, holder, facts["opcodes"])
        connection.execute(
            "INSERT INTO memory_profile (module_id, color, reserved_bytes)"
            " VALUES (?, 0, ?)",
            [module_id, facts["reserved"]],
        )
    names = dict.fromkeys(name for row in rows for name in row)
    if rows:
        store_modules(connection, [{n: row.get(n) for n in names} for row in rows])


def _add_instructions(
    connection: Connection, module_id: int, opcodes: dict[str, int]
) -> None:
    for place, (opcode, times) in enumerate(opcodes.items()):
        form = crc32(opcode.encode()) % (1 << 31)
        connection.execute(
            "INSERT INTO store.instruction_forms (form_id, form_key, opcode)"
            " SELECT ?, ?, ? WHERE ? NOT IN"
            " (SELECT form_id FROM store.instruction_forms)",
            [form, form, opcode, form],
        )
        connection.execute(
            "INSERT INTO store.instructions"
            " (module_id, instruction_id, computation_id, name, form_id)"
            " SELECT ?, 1000 * ? + i, 0, 'i', ? FROM range(?) AS r (i)",
            [module_id, place, form, times],
        )
