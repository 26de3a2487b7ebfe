"""The lock that keeps a second process from writing to a warehouse.

DuckDB locks its file with fcntl(2). Such a lock belongs to the process, and closing any
descriptor of that file drops it: one forgotten `open` lets a second writer in, and two
writers destroy the file. This lock does not depend on DuckDB's: flock(2) on
`FILE.lock`, beside the warehouse, lasts until it is released or the process ends.

Linux makes flock a lock at the server on NFS, so it holds between machines; not where
the mount says `nolock` or `local_lock=flock`.
"""

from __future__ import annotations

import fcntl
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hlodb.errors import WarehouseError

_MOST_HOLDER_BYTES = 4096


class Busy(Exception):
    """Another process is in the way; the message names it."""


@dataclass(slots=True)
class _Held:
    """The lock of one warehouse, and how many connections of this process use it."""

    descriptor: int
    uses: int = 1


_held: dict[Path, _Held] = {}
_changing = threading.Lock()


def lock_path(database: Path) -> Path:
    """Return the path of the lock file; it is the same for every link to a file."""
    database = database.resolve()
    return database.with_name(f"{database.name}.lock")


@contextmanager
def writer_lock(database: Path) -> Iterator[None]:
    """Hold the lock for a block; connections of one process share it.

    Raises Busy where another process holds it, WarehouseError where the file system
    does not allow it.
    """
    path = lock_path(database)
    acquire(path)
    try:
        yield
    finally:
        release(path)


def acquire(path: Path) -> None:
    """Take the lock at `path`, or share it within this process. Raises as above."""
    with _changing:
        if held := _held.get(path):
            held.uses += 1
            return
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(descriptor)
            except BaseException:
                os.close(descriptor)
                raise
        except OSError as error:
            raise WarehouseError(
                f"cannot lock {path}: {error.strerror}; the warehouse needs a directory"
                " that this user may write to, on a file system with locks"
            ) from error
        _held[path] = _Held(descriptor)


def release(path: Path) -> None:
    """Release the lock when its last user in this process is done."""
    with _changing:
        held = _held[path]
        held.uses -= 1
        if held.uses == 0:
            del _held[path]
            with suppress(OSError):  # An old name would only mislead.
                os.ftruncate(held.descriptor, 0)
            os.close(held.descriptor)


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Busy(_holder(descriptor)) from error
    with suppress(OSError):  # On a full disk the lock has no name, but holds.
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{sys.executable} (PID {os.getpid()})".encode(), 0)


def _holder(descriptor: int) -> str:
    text = os.pread(descriptor, _MOST_HOLDER_BYTES, 0).decode(errors="replace")
    return text if text.isprintable() and text else "another process"


def _leave_to_parent() -> None:
    """Close what a fork copied: else a worker that outlives its parent keeps the lock.

    Closing a copy releases nothing; the parent's descriptor holds the lock.
    """
    global _changing
    _changing = threading.Lock()
    for held in _held.values():
        os.close(held.descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_leave_to_parent)
