"""Readers in this process, which step aside while it writes their file.

DuckDB opens no file for writing that is open for reading, by the same process either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol
from weakref import WeakSet


class Reader(Protocol):
    """Whoever keeps a file open between questions, and can open it again."""

    @property
    def file(self) -> Path:
        """The file that it reads."""

    def step_aside(self) -> None:
        """Close the file until the next question."""


_READERS: WeakSet[Reader] = WeakSet()


def announce(reader: Reader) -> None:
    """Let writers in this process ask a reader to step aside."""
    _READERS.add(reader)


def let_readers_step_aside(file: Path) -> None:
    """Close `file` in all readers of this process."""
    place = file.absolute()
    for reader in list(_READERS):
        if reader.file.absolute() == place:
            reader.step_aside()
