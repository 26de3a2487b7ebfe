"""Folders of one run that look like runs of their own: a night each, or a host each.

And files of several processes in one folder, which are told apart by their names alone.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable

from hlodb.arguments import positional
from hlodb.ingest.file_names import split_name
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
    forgetting = shlex.join(["hlodb", "rm", *positional(name)])
    return (
        f"run {name}: {_first_of(folders)} hold files of the same names, and count as"
        f" processes of one run; if they are runs of their own, `{forgetting}` and"
        " ingest each folder by itself"
    )


def alike_prefixes(paths: Iterable[str]) -> list[str]:
    """Give what several files of one folder have before equal names of modules.

    Those of ranks are left out: these tell modules apart everywhere.
    """
    prefixes: dict[tuple[str, str, int | None], set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        parts = split_name(path)
        if parts.prefix and parts.stage is not None:
            rest = name.removeprefix(parts.prefix)
            prefixes[folder, rest, rank(path)].add(parts.prefix)
    return sorted({p for alike in prefixes.values() if len(alike) > 1 for p in alike})


def note_of_prefixes(name: str, prefixes: list[str]) -> str:
    """Say that modules of several processes pass for one, and what to do."""
    forgetting = shlex.join(["hlodb", "rm", *positional(name)])
    return (
        f"run {name}: files of equal modules begin with {_first_of(prefixes)} in one"
        " folder, and most queries look at one of each; if several processes wrote"
        f" them, `{forgetting}` and ingest them from folders rank_0, rank_1, …"
    )


def _first_of(names: list[str]) -> str:
    first = ", ".join(names[:3])
    return first if len(names) < 4 else f"{first} and {len(names) - 3} more"
