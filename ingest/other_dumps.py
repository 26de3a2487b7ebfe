"""Whether files that come under the name of a run are of another dump than its own.

A dump counts its modules: one number in one folder is one module. A run may be
completed from anywhere, by ranks in folders of their own, by more modules, by more
files of the same ones; but not by other modules of the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from hlodb.ingest.recognise import rank, recognise

_Place = tuple[str, int | None, int]
_Module = tuple[str | None, str | None]


def is_of_another_dump(found: Iterable[str], held: Iterable[str]) -> bool:
    """Tell whether a number of a module stands for one in `held`, another in `found`.

    Both are paths of files. Processes that dump into one folder share its numbers;
    there it is enough that one module of a number is the same.
    """
    new, old = _modules(found), _modules(held)
    return any(new[place].isdisjoint(old[place]) for place in new.keys() & old.keys())


def _modules(paths: Iterable[str]) -> dict[_Place, set[_Module]]:
    """Give the modules of each folder, rank and number: their times and names."""
    modules: dict[_Place, set[_Module]] = defaultdict(set)
    for path in paths:
        file = recognise(path)
        # Names of other files may say more between number and end than the module.
        if file.module_number is not None and file.stage is not None:
            place = (str(PurePosixPath(path).parent), rank(path), file.module_number)
            modules[place].add((file.timestamp, file.module_name))
    return modules
