"""What a program's live peak holds as stacks, for viewers of profiles.

A stack is the framework path of a value, its source line, and the value itself. Weights
are bytes, and those of a memory space add up to its live peak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hlodb.text import visible
from hlodb.version import __version__

Row = Mapping[str, Any]

_PLACE = ("program", "module_number", "rank", "color")
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Frame(NamedTuple):
    """A component of a path, a source line or a value; only lines have a `file`."""

    name: str
    file: str = ""
    line: int = 0


Stack = tuple[Frame, ...]
"""Frames from the root to the value."""


def speedscope(contents: Sequence[Row]) -> dict[str, Any]:
    """Return a file for speedscope of the rows of `peak_contents`.

    Each memory space of a program is a profile of its own.
    """
    frames: dict[str, int] = {}
    profiles = []
    for name, stacks in named_spaces(contents):
        samples = [[frames.setdefault(f.name, len(frames)) for f in s] for s in stacks]
        weights = list(stacks.values())
        profiles.append(
            {
                "type": "sampled",
                "name": name,
                "unit": "bytes",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {
        "$schema": _SCHEMA,
        "exporter": f"hlodb {__version__}",
        "shared": {"frames": [{"name": frame} for frame in frames]},
        "profiles": profiles,
    }


def folded(contents: Sequence[Row]) -> str:
    """Return lines `path;to;value bytes` of the rows of `peak_contents`.

    They are what flamegraph.pl and its kin read; a space begins with its name.
    """
    lines = []
    for name, stacks in named_spaces(contents):
        for stack, size in stacks.items():
            words = (
                word.replace(";", ",") for word in (name, *(f.name for f in stack))
            )
            lines.append(f"{';'.join(words)} {size}\n")
    return "".join(lines)


def named_spaces(contents: Sequence[Row]) -> Iterator[tuple[str, Counter[Stack]]]:
    """Yield each memory space of each program by name, with the bytes of its stacks."""
    spaces: dict[tuple[Any, ...], Counter[Stack]] = {}
    for row in contents:
        if row["owned_bytes"]:
            place = (*(row[key] for key in _PLACE), row["space_name"])
            spaces.setdefault(place, Counter())[_stack(row)] += row["owned_bytes"]
    for (program, *_, space_name), stacks in spaces.items():
        yield f"{program}: {space_name}", stacks


def _stack(row: Row) -> Stack:
    """Return the frames of a value; those of an argument end with its name or line."""
    is_argument = row["kind"] == "parameter"
    if is_argument:
        names = ["arguments", row["op_name"] or row["instruction"]]
    else:
        names = (row["op_name"] or "").split("/")
    frames = [Frame(visible(name)) for name in names if name]
    if row["source_file"]:
        file, line = visible(row["source_file"]), row["source_line"] or 0
        frames.append(Frame(f"{file}:{line}", file, line))
    if not is_argument:
        shape = row["shape"] or "bytes that no value covers"
        frames.append(Frame(visible(f"{row['instruction'] or row['kind']} {shape}")))
    return tuple(frames)
