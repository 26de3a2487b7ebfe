"""Files on this machine: what a path or glob stands for, and what lies below it."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from hlodb.errors import UsageError
from hlodb.ingest.formats.scan import printable
from hlodb.ingest.sources.archives import Refuse
from hlodb.ingest.sources.limits import RefusedFile
from hlodb.ingest.sources.units import Entry

_NO_INPUT = (
    "-: the standard input is not read, as the names of a dump's files tell what they"
    " are. Save it, as `… > dump.tar` does with an archive, and name that."
)


def expand(path: str) -> list[Path]:
    """Turn a path or glob into the absolute paths that exist, sorted.

    Raises UsageError where there is none.
    """
    if not path:
        raise UsageError("A path is empty. Name a directory, an archive or files.")
    if os.path.lexists(path):
        return [_absolute(Path(path))]
    if glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if matches:
            return [_absolute(Path(match)) for match in matches]
        raise UsageError(f"{path}: no file or directory matches this pattern.")
    if path == "-":
        raise UsageError(_NO_INPUT)
    raise UsageError(_missing(Path(path).absolute(), path))


def _absolute(path: Path) -> Path:
    """Return a path without `..`: a run may be called after any part of it.

    A link that is named last stays a link.
    """
    if path.name == "..":
        return path.resolve()
    if ".." in path.parts:
        return path.parent.resolve() / path.name
    return path.absolute()


def _missing(path: Path, named: str) -> str:
    parent = path.parent
    while not os.path.isdir(parent) and parent != parent.parent:
        parent = parent.parent
    if parent != path.parent:
        return f"{named}: no such file or directory; of this path {parent} exists."
    try:
        near = get_close_matches(path.name, os.listdir(parent), n=1)
    except OSError:
        near = []
    hint = f"Did you mean {near[0]}?" if near else f"Look at what {parent} holds."
    return f"{named}: no such file or directory. {hint}"


def files_below(root: str, home: str, refuse: Refuse) -> Iterator[str]:
    """Yield all files below a directory; links to directories are not followed.

    Refused files are reported by their path from `home`.
    """
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            refuse(_refused(folder, home, f"cannot be listed: {error.strerror}"))
            continue
        below = [entry for entry in found if entry.is_dir(follow_symlinks=False)]
        folders.extend(entry.path for entry in reversed(below))
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                continue
            if entry.is_symlink() and os.path.isdir(entry.path):
                reason = "a link to a directory; not followed"
                refuse(_refused(entry.path, home, reason))
            else:
                yield entry.path


def _refused(path: str, root: str, reason: str) -> RefusedFile:
    return RefusedFile(_below(path, root), reason)


def _below(path: str, root: str) -> str:
    """Return a path as it is called below `root`, with `/`."""
    # Strings: to make a Path of each file took as long as to look at them all.
    name = path[len(os.path.join(root, "")) :]
    return printable(name.replace(os.sep, "/"))


def entry_at(
    path: str, root: str, refuse: Refuse, inside: str | None = None
) -> Entry | None:
    """Return a regular file, which is called as below `root`; refuse all else.

    A link is followed as far as it stays in the real path `inside`, or anywhere where
    that is None: then the user named the link. FIFOs and devices are never opened: that
    could wait for ever.
    """
    target = path
    if os.path.islink(path):
        target = os.path.realpath(path)
        if inside is not None and os.path.commonpath([target, inside]) != inside:
            refuse(_refused(path, root, _LEADS_OUT.format(printable(target))))
            return None
    try:
        status = os.stat(target)
    except OSError as error:
        refuse(_refused(path, root, f"cannot be read: {error.strerror}"))
        return None
    if not stat.S_ISREG(status.st_mode):
        refuse(_refused(path, root, "neither file nor folder"))
        return None
    entry = local_entry(path, root, status)
    return entry._replace(open=lambda: open(target, "rb", opener=_open_regular))


_LEADS_OUT = "a link to {}, outside the directory; not followed"


def _open_regular(path: str, flags: int) -> int:
    """Open a file that may have been replaced since it was looked at."""
    descriptor = os.open(path, flags | _NO_LINK | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "neither file nor folder")
    return descriptor


_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def local_entry(path: str, root: str, status: os.stat_result | None = None) -> Entry:
    """Return the entry of a file that lies below `root`."""
    return Entry(
        _below(path, root),
        status.st_size if status else None,
        status.st_mtime if status else None,
        lambda: open(path, "rb"),
        path,
    )
