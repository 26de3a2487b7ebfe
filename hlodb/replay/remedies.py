"""Remedies that are an edit of the program: measured instead of estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from hlodb.text import plain_bytes

Row: TypeAlias = Mapping[str, Any]
"""A row of the query remedies."""

Progress: TypeAlias = Callable[[str], None]
"""Says what is compiled next."""


_LEAST_RATIO = 0.01
"""Least share of either memory that a remedy saves, as min_ratio of the query."""

_HALVES = {"f64": "f32", "f32": "bf16", "s64": "s32", "u64": "u32"}


def _halved(row: Row) -> Edit | None:
    """Return the edit of `all values of f32`."""
    element = row["subject"].rpartition(" ")[2]
    half = _HALVES.get(element)
    return Edit(narrow=((element, half),)) if half else None


def _narrowed(row: Row) -> Edit | None:
    parameters = _numbers(row["parameters"])
    return Edit(narrow=((parameters, "bf16"),)) if parameters else None


def _sharded(row: Row) -> Edit | None:
    parameters = _numbers(row["parameters"])
    return Edit(shard=parameters) if parameters else None


def _dropped(row: Row) -> Edit | None:
    results = _numbers(row["results"])
    return Edit(drop=results) if results else None


def _numbers(listed: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in (listed or "").split(",") if number)


_EDITS: Mapping[str, Callable[[Row], Edit | None]] = {
    "donate": lambda row: Edit(donate="auto"),
    "drop_output": _dropped,
    "halve_element": _halved,
    "halve_moment": _narrowed,
    "narrow_argument": _narrowed,
    "shard": _sharded,
}
"""Remedy of remedy_rules → the edit that it is, by the values of its row."""


def edit_of(row: Row) -> Edit | None:
    """Return the edit that a remedy is; None where replay cannot make it."""
    found = _EDITS.get(row["rule_id"])
    return found(row) if found else None


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
    *,
    progress: Progress = lambda line: None,
) -> tuple[list[Row], list[str]]:
    """Compile each remedy that has an edit; return the remedies, and what to say.

    A row says in `standing` whether it is `measured`; then `saved_bytes` is what the
    live peak fell by, and `saved_reserved_bytes` what the reserved bytes fell by.
    Remedies that save next to nothing are left out, and said. What cannot be measured
    stays `estimated`.
    """
    kept: list[Row] = []
    notes: list[str] = []
    for row, outcome in zip(
        remedies,
        outcomes(source, programs, remedies, interpreter, bounds, progress=progress),
        strict=True,
    ):
        estimated = {**row, "standing": "estimated"}
        named = f"{row['program']}: {row['advice']}"
        if outcome is None:
            kept.append(estimated)
            continue
        found = None if outcome.reason else _measured(row, outcome)
        if found is None:
            reason = outcome.reason or "its memory space is gone"
            notes.append(f"not measured: {named} {reason}")
            kept.append(estimated)
        elif not _pays(found, outcome):
            notes.append(
                f"left out, as it saves next to nothing once compiled: {named}"
            )
        else:
            kept.append(found)
    return sorted(kept, key=_rank), notes


def _pays(found: Row, outcome: Outcome) -> bool:
    """Return whether a remedy saves as much as the query `remedies` asks for."""
    reserved = outcome.before[Space(found["color"], found["space_name"])].reserved
    ratio = found["saved_reserved_bytes"] / reserved if reserved else 0
    return bool(max(found["saved_ratio"], ratio) >= _LEAST_RATIO)


def _rank(row: Row) -> tuple[Any, ...]:
    """Sort as the query does, by what was measured."""
    return row["is_last_resort"], -row["saved_reserved_bytes"], -row["saved_bytes"]


def outcomes(
    source: RunSource,
    programs: Sequence[Program],
    remedies: Sequence[Row],
    interpreter: Interpreter,
    bounds: Bounds = DEFAULT_BOUNDS,
    *,
    progress: Progress = lambda line: None,
) -> list[Outcome | None]:
    """Return what each remedy comes to; None for those that are no edit.

    Each program is compiled once unchanged, and once for each of its edits; `progress`
    is called with a line before each.
    """
    by_key = {one.key: one for one in programs}
    edits = [edit_of(row) if _key(row) in by_key else None for row in remedies]
    edited = {
        _key(row) for row, edit in zip(remedies, edits, strict=True) if edit is not None
    }
    if not edited:
        return [None] * len(remedies)
    found: list[Outcome | None] = []
    with TemporaryDirectory(prefix="hlodb-measure-") as folder:
        home = Path(folder)
        original = read_original(source, home / "original.duckdb")
        count = 1 + sum(edit is not None for edit in edits)
        progress(f"compiling 1 of {count}: unchanged")
        done = 1
        plain = _compiled(
            [one for one in programs if one.key in edited],
            interpreter, UNCHANGED, home / "unchanged", bounds,
        )  # fmt: skip
        for number, (row, edit) in enumerate(zip(remedies, edits, strict=True)):
            key = _key(row)
            if edit is None:
                found.append(None)
                continue
            if problem := _unusable(
                original.get(key), *plain[key], interpreter.versions["jaxlib"]
            ):
                found.append(Outcome({}, {}, f"({problem})"))
                continue
            done += 1
            progress(f"compiling {done} of {count}: {row['subject']}")
            again = _compiled(
                [by_key[key]], interpreter, edit, home / f"edited-{number}", bounds
            )
            found.append(_outcome(plain[key][1], *again[key]))
    return found


def _key(row: Row) -> Key:
    return program_key(row["path"], recognise(row["path"]))


def _compiled(
    programs: Sequence[Program],
    interpreter: Interpreter,
    edit: Edit,
    folder: Path,
    bounds: Bounds,
) -> dict[Key, tuple[Compiled, Memory | None]]:
    """Return programs as they were compiled, with their memory."""
    done = compile_all(programs, interpreter, edit, folder, bounds=bounds)
    memories = read_replay(
        Measured(folder.name, folder, done), folder.with_suffix(".duckdb")
    )
    return {one.program.key: (one, memories.get(one.program.key)) for one in done}


def _unusable(
    original: Memory | None, plain: Compiled, before: Memory | None, release: str
) -> str | None:
    """Return why nothing can be compared with an unchanged replay."""
    if before is None:
        return first_line(plain.error) or "no buffer assignment"
    if _sizes(original) != _sizes(before):
        return (
            f"compiled again unchanged by jaxlib {release}, it reserves"
            f" {_reserved(before)} instead of {_reserved(original)}: name the release"
            " that made the dump by --with jaxlib==X"
        )
    return None


def _reserved(memory: Memory | None) -> str:
    """Return the reserved bytes of all memory spaces, one by one."""
    sizes = [plain_bytes(found.reserved) for _, found in sorted((memory or {}).items())]
    return " and ".join(sizes) or "an unknown size"


def _outcome(before: Memory | None, edited: Compiled, after: Memory | None) -> Outcome:
    if before is None or after is None:
        return Outcome(
            {}, {}, f"({first_line(edited.error) or 'no buffer assignment'})"
        )
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
        "most_saved_bytes": None,
        "most_saved_reserved_bytes": None,
    }
