"""Lines of the original dump: of an instruction, or around a line that a row names.

A warehouse may come from a stranger, and names the dump itself. So a file is shown only
if its bytes have the digest that was recorded when it was ingested, and folders are
never searched: a file is looked up by its recorded path alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from hlodb.errors import DataQualityError, UsageError
from hlodb.ingest.sources.discover import discover
from hlodb.ingest.sources.limits import Limits, Refusal
from hlodb.ingest.sources.local_files import entry_at
from hlodb.ingest.sources.units import content_of
from hlodb.printed_commands import shell_line
from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Run
from hlodb.schema.connection import Connection
from hlodb.text import not_held

MOST_LINES = 40
_AROUND = 3
_LIMITS = Limits(file_bytes=256 << 20, held_bytes=512 << 20)
_KINDS = ("hlo_text", "buffer_assignment", "live_ranges", "memory_report")


class Line(NamedTuple):
    """A line of a file of the dump, numbered from 1."""

    path: str
    line: int
    text: str


class Evidence(NamedTuple):
    """Lines, how many there are in all, and a command for a shell that prints them."""

    lines: list[Line]
    total: int
    command: str


def lines_of_instruction(
    connection: Connection, run: Run, program: str | None, instruction: str
) -> Evidence:
    """Return the lines of the compiled module that name an instruction, its own first.

    Raises UsageError where no program of the run has it, DataQualityError where the
    dump is not there any more.
    """
    holders = _holders(connection, run, program, instruction)
    named = re.compile(rf"(?<![\w.\-]){re.escape(instruction)}(?![\w\-]|\.\w)")
    own = re.compile(rf"^\s*(?:ROOT )?%?{re.escape(instruction)} = ")
    found = [
        Line(path, number, text)
        for path, content in _contents(connection, run, holders)
        for number, text in enumerate(content.split("\n"), 1)
        if named.search(text)
    ]
    found.sort(key=lambda line: own.match(line.text) is None)
    search = ["grep", "-nF", "--", instruction]
    command = _command(connection, run, holders[0], search)
    return Evidence(found[:MOST_LINES], len(found), command)


def lines_around(
    connection: Connection, run: Run, path: str, line: int, most: int
) -> Evidence:
    """Return the lines of a file around one of them, such as a row about a log names.

    Raises as `lines_of_instruction`.
    """
    known = _paths(connection, run)
    if path not in known:
        raise UsageError(not_held("file", path, known, holder=f"run {run.name}"))
    [(_, content)] = _contents(connection, run, [path])
    texts = content.removesuffix("\n").split("\n")
    first = max(line - _AROUND, 1)
    shown = [
        Line(path, number, text)
        for number, text in enumerate(texts[first - 1 : first - 1 + most], first)
    ]
    if line > len(texts):
        raise UsageError(f"{path} has {len(texts):,} lines")
    search = ["sed", "-n", f"{first},{first + most - 1}p"]
    return Evidence(shown, len(texts), _command(connection, run, path, search))


def _holders(
    connection: Connection, run: Run, program: str | None, instruction: str
) -> list[str]:
    """Return the files of the modules of a run that hold an instruction."""
    asked = {"run": run.name, "program": program}
    modules = run_query(connection, "final_modules", asked).dicts()
    ids = sorted({module["module_id"] for module in modules})
    rows = connection.execute(
        "SELECT DISTINCT module_id FROM instructions"
        " WHERE name = ? AND list_contains(?::BIGINT[], module_id)",
        [instruction, ids],
    ).fetchall()
    if not rows:
        where = f"program {program}" if program else "any program"
        raise UsageError(
            f"run {run.name} has no instruction {instruction!r} in {where}; a query"
            " about the run gives names as the dump has them"
        )
    held = {module_id for (module_id,) in rows}
    folders = {m["path"].rpartition("/")[0] for m in modules if m["module_id"] in held}
    files = connection.execute(
        "SELECT path FROM dump_files WHERE run_id = ?"
        " AND list_contains(?::BIGINT[], module_id) AND list_contains(?, kind)"
        " ORDER BY kind DESC, path",
        [run.run_id, sorted(held), list(_KINDS)],
    ).fetchall()
    return [path for (path,) in files if path.rpartition("/")[0] in folders]


def _paths(connection: Connection, run: Run) -> list[str]:
    rows = connection.execute(
        "SELECT path FROM dump_files WHERE run_id = ?", [run.run_id]
    ).fetchall()
    return [path for (path,) in rows]


def _contents(
    connection: Connection, run: Run, paths: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield files of a run with their text, in the order of `paths`.

    Raises DataQualityError for one that is gone, or not what was ingested.
    """
    wanted = list(paths)
    rows = connection.execute(
        "SELECT path, sha256 FROM dump_files"
        " WHERE run_id = ? AND list_contains(?, path)",
        [run.run_id, wanted],
    ).fetchall()
    digests: dict[str, str] = dict(rows)
    origin = _origin(connection, run)
    found = _read(origin, digests)
    for path in wanted:
        if path not in found:
            raise DataQualityError(
                f"unknown: {path} of run {run.name} is not at {origin!r} any more, or"
                " not as it was ingested"
            )
        yield path, found[path].decode("utf-8", "replace")


def _origin(connection: Connection, run: Run) -> str:
    [(origin,)] = connection.execute(
        "SELECT origin FROM runs WHERE run_id = ?", [run.run_id]
    ).fetchall()
    return origin or ""


def _command(connection: Connection, run: Run, path: str, search: Sequence[str]) -> str:
    """Return a command that searches a file of a run where it came from."""
    origin = _origin(connection, run)
    if os.path.isdir(origin):
        return shell_line([*search, os.path.join(origin, path)])
    unpack = ["tar", "-xOf", origin, "--wildcards", f"*{os.path.basename(path)}"]
    return f"{shell_line(unpack)} | {shell_line(search)}"


def _read(origin: str, digests: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files that are where they came from, and as they were."""
    if os.path.isdir(origin):
        read = _below(origin, digests)
    elif os.path.isfile(origin):
        read = _of_file(origin, digests)
    else:  # A URL, or nothing: neither is asked for.
        return {}
    return {
        path: data for path, data in read if sha256(data).hexdigest() == digests[path]
    }


def _below(folder: str, digests: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    inside = os.path.realpath(folder)
    for path in digests:
        place = os.path.join(folder, *path.split("/"))
        real = os.path.realpath(place)
        if os.path.commonpath([real, inside]) != inside:
            continue
        entry = entry_at(place, folder, lambda _: None, inside)
        if entry is None:
            continue
        try:
            yield path, b"".join(content_of(entry, _LIMITS))
        except (Refusal, OSError):
            continue


def _of_file(origin: str, digests: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    missing = set(digests)
    try:
        sources = discover([str(Path(origin))], limits=_LIMITS)
    except UsageError:
        return
    for source in sources:
        for unit in source.units():
            for file in unit.files:
                if file.path in missing:
                    missing.discard(file.path)
                    yield file.path, file.data
            if not missing:
                return
