"""A progress bar of an ingest: runs, files, bytes of the expected total, time left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from hlodb.ingest.sources.discover import RunSource
from hlodb.text import counted, human_bytes, visible

_PACKED = 10.0
"""Bytes in an archive of dumps per byte of the archive, until one has been read."""


class Expected:
    """The bytes of all runs: exact for files, estimated for archives not yet read.

    Archives that have been read tell how densely the others are packed.
    """

    def __init__(self, sources: Sequence[RunSource]) -> None:
        self._files = {s.name: _file_bytes(s) for s in sources}
        self._archives = {
            s.name: _archive_bytes(s) for s in sources if self._files[s.name] is None
        }
        self._read: dict[str, int] = {}
        self._current = ""

    def update(self, run: str, size: int) -> None:
        """Note that `size` bytes of `run` have been read."""
        self._read[run] = size
        self._current = run

    @property
    def read_bytes(self) -> int:
        """Bytes read so far."""
        return sum(self._read.values())

    @property
    def total_bytes(self) -> int:
        """Bytes of all runs, at least those read so far."""
        names = {**self._files, **self._read}
        return round(sum(map(self._expected, names)))

    @property
    def run_text(self) -> str:
        """Return `run 2 of 9`."""
        return f"run {max(len(self._read), 1)} of {max(len(self._files), 1)}"

    def _expected(self, run: str) -> float:
        read = self._read.get(run, 0)
        if (known := self._files.get(run)) is not None:
            return max(known, read)
        if run in self._read and run != self._current:
            return read
        return max(read, self._archives.get(run, 0) * self._density())

    def _density(self) -> float:
        done = [r for r in self._archives if r in self._read and r != self._current]
        packed = sum(self._archives[run] for run in done)
        return sum(self._read[run] for run in done) / packed if packed else _PACKED


def _file_bytes(source: RunSource) -> int | None:
    if source.file_count is None:
        return None
    return sum(entry.size_bytes or 0 for entry in source.entries)


def _archive_bytes(source: RunSource) -> int:
    try:
        return os.path.getsize(source.origin) if source.is_local else 0
    except OSError:
        return 0


@contextmanager
def progress_bar(
    sources: Sequence[RunSource],
) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield the callback that draws what was read; None where there is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    expected = Expected(sources)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading")
        files: dict[str, int] = {}

        def update(run: str, size: int, count: int) -> None:
            files[run] = count
            expected.update(run, size)
            read, total = expected.read_bytes, expected.total_bytes
            text = (
                f"{expected.run_text}, {counted(sum(files.values()), 'file')},"
                f" {human_bytes(read)} of {human_bytes(total)}"
            )
            bar.update(task, description=text, completed=read, total=total)

        yield update


@contextmanager
def counting_bar(done: str, total: int) -> Iterator[Callable[[str], None] | None]:
    """Yield a callback that takes each name that is done; None without a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(None))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{done} 0 of {total}", total=total)
        count = 0

        def update(name: str) -> None:
            nonlocal count
            count += 1
            text = f"{done} {count} of {total}: {escape(visible(name))}"
            bar.update(task, description=text, completed=count)

        yield update
