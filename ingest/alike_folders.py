"""Folders of one run that look like runs of their own: a night each, or a host each."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable

from hlodb.arguments import positional
from hlodb.ingest.recognise import rank


def alike_folders(paths: Iterable[str]) -> list[str]:
    """Give the folders right below a run's own that hold files of the same names.

    Those of a rank are left out: there equal names are to be expected.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, slash, rest = path.partition("/")
        if slash and "module_" in rest and rank(path) is None:
            folders[rest].append(folder)
    return sorted({f for alike in folders.values() if len(alike) > 1 for f in alike})


def note_of_alike(name: str, folders: list[str]) -> str:
    """Say that a run may be several, and what to do then."""
    first = ", ".join(folders[:3])
    shown = first if len(folders) < 4 else f"{first} and {len(folders) - 3} more"
    forgetting = shlex.join(["hlodb", "rm", *positional(name)])
    return (
        f"run {name}: {shown} hold files of the same names, and count as processes of"
        f" one run; if they are runs of their own, `{forgetting}` and ingest each"
        " folder by itself"
    )
