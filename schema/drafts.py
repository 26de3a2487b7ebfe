"""Hidden files that are to become a warehouse, and those that nobody will ever end.

Who writes one removes it again, unless the process is killed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path

ABANDONED_SECONDS = 24 * 3600
"""How long nobody changes a draft before its writer counts as gone.

The number in a name is of a process on one machine, or in one container. Where it is
none of ours the writer may still be at work elsewhere, on a disk that is shared.
"""


def draft_beside(destination: Path) -> Path:
    """Return a name for what is to become `destination`, in the same directory."""
    return destination.with_name(f".{destination.name}.draft-{os.getpid()}")


def new_beside(destination: Path) -> Path:
    """Return a name for a new file, of which several may be begun in one process."""
    number = f"{os.getpid()}-{secrets.token_hex(4)}"
    return destination.with_name(f".{destination.name}.new-{number}")


def remove_abandoned_drafts(destination: Path) -> None:
    """Remove drafts of `destination`, with their logs, whose writer is gone."""
    destination = destination.resolve()
    pattern = re.compile(
        rf"\.{re.escape(destination.name)}"
        r"\.(?:draft-(\d+)|new-(\d+)-[0-9a-f]{8})(?:\.wal|\.tmp)?"
    )
    with suppress(OSError), os.scandir(destination.parent) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match is not None and not _is_running(int(match[1] or match[2])):
                _remove_if_old(entry)


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return False  # In a container this is often the number of the one before, too.
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove_if_old(entry: os.DirEntry[str]) -> None:
    with suppress(OSError):  # Another process may have removed it just now.
        changed_at = entry.stat(follow_symlinks=False).st_mtime
        if time.time() - changed_at <= ABANDONED_SECONDS:
            return
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
