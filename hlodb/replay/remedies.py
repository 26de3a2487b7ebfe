"""Remedies that are an edit of the program: measured instead of estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.sources.discover import RunSource
from hlodb.replay.compare import (
    Measured,
    Memory,
    Space,
    first_line,
    read_original,
    read_replay,
)
from hlodb.replay.compile import (
    DEFAULT_BOUNDS,
    UNCHANGED,
    Bounds,
    Compiled,
    Edit,
    compile_all,
)
from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import Key, Program, program_key

EDITS: Mapping[str, Edit] = {"donate": Edit(donate="auto")}
"""Remedy of remedy_rules → the edit that it is."""

Row: TypeAlias = Mapping[str, Any]
"""A row of the query remedies."""


class Outcome(NamedTuple):
    """A program before and after an edit, or why neither is known."""

    before: Memory
    after: Memory
    reason: str = ""


def measure(
    source: RunSource,
    programs: Sequence[Program],
    remedies: Sequence[Row],
    interpreter: Interpreter,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> tuple[list[Row], list[str]]:
    """Compile each remedy that has an edit; return the remedies, and what to say.

    A row says in `standing` whether it is `measured`; then `saved_bytes` is what the
    live peak fell by, and `saved_reserved_bytes` what the reserved bytes fell by.
    Remedies that save nothing are left out, and said. What cannot be measured stays
    `estimated`.
    """
    kept: list[Row] = []
    notes: list[str] = []
    outcomes = {
        rule: _outcomes(source, _wanted(programs, remedies, rule), edit,
                        interpreter, bounds)
        for rule, edit in EDITS.items()
    }  # fmt: skip
    for row in remedies:
        estimated = {**row, "standing": "estimated"}
        named = f"{row['program']}: {row['advice']}"
        outcome = outcomes.get(row["rule_id"], {}).get(_key(row))
        if outcome is None:
            kept.append(estimated)
            continue
        found = None if outcome.reason else _measured(row, outcome)
        if found is None:
            reason = outcome.reason or "its memory space is gone"
            notes.append(f"not measured: {named} {reason}")
            kept.append(estimated)
        elif max(found["saved_bytes"], found["saved_reserved_bytes"]) <= 0:
            notes.append(f"left out, as it saves nothing once compiled: {named}")
        else:
            kept.append(found)
    order = ("saved_reserved_bytes", "saved_bytes")
    return sorted(kept, key=lambda row: [-row[name] for name in order]), notes


def _key(row: Row) -> Key:
    return program_key(row["path"], recognise(row["path"]))


def _wanted(
    programs: Sequence[Program], remedies: Sequence[Row], rule: str
) -> list[Program]:
    keys = {_key(row) for row in remedies if row["rule_id"] == rule}
    return [one for one in programs if one.key in keys]


def _outcomes(
    source: RunSource,
    programs: Sequence[Program],
    edit: Edit,
    interpreter: Interpreter,
    bounds: Bounds,
) -> dict[Key, Outcome]:
    """Return each program before and after the edit."""
    if not programs:
        return {}
    with TemporaryDirectory(prefix="hlodb-measure-") as folder:
        home = Path(folder)
        original = read_original(source, home / "original.duckdb")
        found = []
        for name, change in (("unchanged", UNCHANGED), ("edited", edit)):
            done = compile_all(
                programs, interpreter, change, home / name, bounds=bounds
            )
            replay = Measured(name, home / name, done)
            found.append((done, read_replay(replay, home / f"{name}.duckdb")))
    (plain, before), (edited, after) = found
    memories = original, before, after
    outcomes = {}
    for one, again in zip(plain, edited, strict=True):
        key = one.program.key
        of_one = [memory.get(key) for memory in memories]
        outcomes[key] = _outcome(one, again, *of_one)
    return outcomes


def _outcome(
    plain: Compiled,
    edited: Compiled,
    original: Memory | None,
    before: Memory | None,
    after: Memory | None,
) -> Outcome:
    error = plain.error if before is None else edited.error if after is None else ""
    if error or before is None or after is None:
        return Outcome({}, {}, f"({first_line(error) or 'no buffer assignment'})")
    if _sizes(original) != _sizes(before):
        return Outcome({}, {}, "(the unchanged replay is inexact)")
    return Outcome(before, after)


def _sizes(memory: Memory | None) -> dict[Space, tuple[int, ...]]:
    return {space: found.sizes for space, found in (memory or {}).items()}


def _measured(row: Row, outcome: Outcome) -> dict[str, Any] | None:
    """Return a remedy with what it saved in its memory space."""
    space = Space(row["color"], row["space_name"])
    before, after = outcome.before.get(space), outcome.after.get(space)
    if before is None or after is None or not before.live_peak or not after.live_peak:
        return None
    saved = before.live_peak - after.live_peak
    return {
        **row,
        "standing": "measured",
        "saved_bytes": saved,
        "saved_ratio": saved / before.live_peak,
        "saved_reserved_bytes": before.reserved - after.reserved,
    }
