"""Paths that a user names, looked at in one place before anything opens them.

Whoever opens a pipe waits for its other end, and a device has no end. A dump is looked
at by `ingest/sources/`, which has limits of its own.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_TEXT_BYTES = 16 * 1024 * 1024
"""Size of the largest file of settings or SQL that is read."""


def fault_of(path: str | Path) -> str | None:
    """Return why `path` cannot be opened as a file; None where it can, or is missing.

    Links are followed: the user named where they lead.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        return "its name holds a NUL character"
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "its links lead in a circle"
        return error.strerror
    if stat.S_ISREG(mode):
        return None
    return "it is a directory" if stat.S_ISDIR(mode) else "it is no file"


def read_text(path: Path, most_bytes: int = MOST_TEXT_BYTES) -> str:
    """Return the text of a file.

    Raises OSError where there is no such file, it is no regular file or too large,
    UnicodeDecodeError where it is not UTF-8.
    """
    if fault := fault_of(path):
        raise OSError(errno.EINVAL, fault, str(path))
    with path.open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes", str(path))
    return data.decode("utf-8").replace("\r\n", "\n")
