"""Folders into which several processes dumped: their modules have the same numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from hlodb.ingest.file_names import split_name


def shared_numbers(paths: Iterable[str]) -> list[tuple[int, list[str]]]:
    """Give numbers that several modules of one folder and backend have, and these.

    A process counts the modules of each backend, so one number is one module.
    """
    found: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for path in paths:
        name = split_name(path)
        if name.stage == "after_optimizations" and name.module_name is not None:
            folder = PurePosixPath(path).parent
            backend = (name.prefix, name.platform_prefix, name.cl, name.timestamp)
            found[name.module_number, folder, backend].add(name.module_name)
    shared = {key[0]: names for key, names in found.items() if len(names) > 1}
    return sorted(
        (number, sorted(names))
        for number, names in shared.items()
        if isinstance(number, int)
    )


def note_of_shared(name: str, shared: list[tuple[int, list[str]]]) -> str:
    """Say that modules may be lost, and what to do then."""
    number, modules = shared[0]
    both = " and ".join(modules[:2])
    return (
        f"run {name}: number {number} stands for {both}, so several processes dumped"
        " into one folder, and of files of equal names only the last is left; have each"
        " dump into a folder of its own (rank_0, rank_1, …)"
    )
