"""Signs that the files of one run come from several dumps.

A dump counts its modules: one number in one folder is one module. A run may be
completed from anywhere, by ranks in folders of their own, by more modules, by more
files of the same ones; but not by other modules of the same numbers.

Folders of one run may look like runs of their own, a night each, or a host each; files
of several processes in one folder differ by their names alone.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from hlodb.ingest.recognise.file_names import split_name
from hlodb.ingest.recognise.recognition import rank, recognise
from hlodb.printed_commands import positional

_Place = tuple[str, int | None, int]
_Module = tuple[str | None, str | None]


def is_of_another_dump(found: Iterable[str], held: Iterable[str]) -> bool:
    """Return whether a number of a module stands for one in `held`, another in `found`.

    Both are paths of files. Processes that dump into one folder share its numbers;
    there it is enough that one module of a number is the same.
    """
    new, old = _modules(found), _modules(held)
    return any(new[place].isdisjoint(old[place]) for place in new.keys() & old.keys())


def _modules(paths: Iterable[str]) -> dict[_Place, set[_Module]]:
    """Return the modules of each folder, rank and number: their times and names."""
    modules: dict[_Place, set[_Module]] = defaultdict(set)
    for path in paths:
        file = recognise(path)
        # Names of other files may say more between number and end than the module.
        if file.module_number is not None and file.stage is not None:
            place = (str(PurePosixPath(path).parent), rank(path), file.module_number)
            modules[place].add((file.timestamp, file.module_name))
    return modules


def shared_numbers(paths: Iterable[str]) -> list[tuple[int, list[str]]]:
    """Return numbers that several modules of one folder and backend have, and these.

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
    """Return a note that modules may be lost, and what to do then."""
    number, modules = shared[0]
    both = " and ".join(modules[:2])
    return (
        f"run {name}: number {number} stands for {both}, so several processes dumped"
        " into one folder, and of files of equal names only the last is left; have each"
        " dump into a folder of its own (rank_0, rank_1, …)"
    )


def alike_folders(paths: Iterable[str]) -> list[str]:
    """Return the folders right below a run's own that hold files of the same names.

    Those of a rank are left out: there equal names are to be expected.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, slash, rest = path.partition("/")
        if slash and "module_" in rest and rank(path) is None:
            folders[rest].append(folder)
    return sorted({f for alike in folders.values() if len(alike) > 1 for f in alike})


def note_of_alike(name: str, folders: list[str]) -> str:
    """Return a note that a run may be several, and what to do then."""
    forgetting = shlex.join(["hlodb", "rm", *positional(name)])
    return (
        f"run {name}: {_first_of(folders)} hold files of the same names, and count as"
        f" processes of one run; if they are runs of their own, `{forgetting}` and"
        " ingest each folder by itself"
    )


def alike_prefixes(paths: Iterable[str]) -> list[str]:
    """Return the prefixes of equal module names in several files of one folder.

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
    """Return a note that modules of several processes are taken for one."""
    forgetting = shlex.join(["hlodb", "rm", *positional(name)])
    return (
        f"run {name}: files of equal modules begin with {_first_of(prefixes)} in one"
        " folder, and most queries look at one of each; if several processes wrote"
        f" them, `{forgetting}` and ingest them from folders rank_0, rank_1, …"
    )


def _first_of(names: list[str]) -> str:
    first = ", ".join(names[:3])
    return first if len(names) < 4 else f"{first} and {len(names) - 3} more"
