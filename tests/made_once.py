"""What several processes of a test run need is made by the first that does."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path


def made_once(folder: Path, name: str, make: Callable[[Path], object]) -> Path:
    """Return the file `name` of `folder`; others wait while one process makes it.

    `make` writes to the path that it is given, alone in a folder.
    """
    path = folder / name
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            room = folder / f"{name}.room"
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir()
            make(room / name)
            (room / name).rename(path)
    return path
