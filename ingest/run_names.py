"""Names of runs, from the places they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hlodb.ingest.file_kinds import ARCHIVE_SUFFIXES

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")


def run_names(origins: Sequence[str]) -> list[str]:
    """Give each origin (path or URL) its own name: its last part, without `.tar.xz`.

    Equal names grow by the folder above until they differ (`cpu/dump`, `tpu/dump`);
    what still doesn't (`dump` beside `dump.zip`) keeps its ending, or gets a number.
    """
    parts = [_parts(origin) for origin in origins]
    depths = [1] * len(parts)
    while True:
        names = [_name(part, depth) for part, depth in zip(parts, depths, strict=True)]
        counts = Counter(names)
        clashing = [
            place
            for place, name in enumerate(names)
            if counts[name] > 1 and depths[place] < len(parts[place])
        ]
        if not clashing:
            return _numbered(_with_endings(names, origins))
        for place in clashing:
            depths[place] += 1


def _parts(origin: str) -> list[str]:
    path = _SCHEME.sub("", origin).replace("\\", "/").split("?")[0]
    parts = [part for part in path.split("/") if part] or ["dump"]
    parts[-1] = _without_ending(parts[-1])
    return parts


def _name(parts: list[str], depth: int) -> str:
    return "/".join(parts[-depth:])


def _without_ending(name: str) -> str:
    for suffix in sorted(ARCHIVE_SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def _with_endings(names: list[str], origins: Sequence[str]) -> list[str]:
    counts = Counter(names)
    return [
        name + _ending(origin) if counts[name] > 1 else name
        for name, origin in zip(names, origins, strict=True)
    ]


def _ending(origin: str) -> str:
    last = origin.rstrip("/").split("/")[-1]
    return last[len(_without_ending(last)) :]


def _numbered(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return numbered
