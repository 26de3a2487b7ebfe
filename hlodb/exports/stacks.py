"""What a program's live peak holds as stacks, for viewers of profiles.

A stack is the framework path of a value, its source line, and the value itself. Weights
are bytes, and those of a memory space add up to its live peak.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hlodb.text import visible
from hlodb.version import __version__

Row = Mapping[str, Any]

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(contents: Sequence[Row]) -> dict[str, Any]:
    """Return a file for speedscope of the rows of `peak_contents`.

    Each memory space of a program is a profile of its own.
    """
    frames: dict[str, int] = {}
    profiles = []
    for name, stacks in _spaces(contents):
        samples = [[frames.setdefault(f, len(frames)) for f in s] for s in stacks]
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
    for name, stacks in _spaces(contents):
        for stack, size in stacks.items():
            words = ";".join(frame.replace(";", ",") for frame in (name, *stack))
            lines.append(f"{words} {size}\n")
    return "".join(lines)


def _spaces(
    contents: Sequence[Row],
) -> Iterator[tuple[str, Counter[tuple[str, ...]]]]:
    """Yield the memory spaces of programs by name, with the bytes of their stacks."""
    spaces: dict[tuple[Any, ...], Counter[tuple[str, ...]]] = {}
    for row in contents:
        place = tuple(row[key] for key in ("program", "module_number", "rank", "color"))
        if row["owned_bytes"]:
            stacks = spaces.setdefault((*place, row["space_name"]), Counter())
            stacks[_stack(row)] += row["owned_bytes"]
    for (program, *_, space_name), stacks in spaces.items():
        yield f"{program}: {space_name}", stacks


def _stack(row: Row) -> tuple[str, ...]:
    if row["opcode"] == "parameter":
        frames = ["arguments", row["op_name"] or row["instruction"]]
    else:
        frames = (row["op_name"] or "").split("/")
        if row["source_file"]:
            frames.append(f"{row['source_file']}:{row['source_line']}")
        shape = row["shape"] or "bytes that no value covers"
        frames.append(f"{row['instruction'] or row['kind']} {shape}")
    return tuple(visible(frame) for frame in frames if frame)
