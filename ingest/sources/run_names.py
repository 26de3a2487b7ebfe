"""Names of runs, from the places they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hlodb.ingest.recognise.file_kinds import ARCHIVE_SUFFIXES

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*://")


def run_names(origins: Sequence[str]) -> list[str]:
    """Return a unique name for each origin (path or URL): its last part, unpacked.

    `dump` and `dump.zip` in one folder keep their endings. Equal names grow by the
    folder above until they differ (`cpu/dump`, `tpu/dump`); those that never do get a
    number.
    """
    parts = _distinct_parts(origins)
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
            return _numbered(names)
        for place in clashing:
            depths[place] += 1


def _distinct_parts(origins: Sequence[str]) -> list[list[str]]:
    whole = [_parts(origin) for origin in origins]
    short = [[*parts[:-1], _without_ending(parts[-1])] for parts in whole]
    counts = Counter(tuple(parts) for parts in short)
    return [
        parts if counts[tuple(parts)] == 1 else complete
        for parts, complete in zip(short, whole, strict=True)
    ]


def _parts(origin: str) -> list[str]:
    path, is_url = _SCHEME.subn("", origin)
    path = path.replace("\\", "/")
    if is_url:
        path = path.split("?")[0]
    return [part for part in path.split("/") if part] or ["dump"]


def _name(parts: list[str], depth: int) -> str:
    return "/".join(parts[-depth:])


def _without_ending(name: str) -> str:
    for suffix in sorted(ARCHIVE_SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def _numbered(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return numbered
