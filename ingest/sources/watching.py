"""Wait for dumps: a folder → the paths of each run in it, once it is still.

A run is a folder in the watched one, or an archive; files right in it are one run
together, as where they are named to `hlodb ingest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic

from hlodb.errors import UsageError
from hlodb.ingest.sources.archives import is_archive_name

_TURN = 500
"""Milliseconds after which stillness is looked at though nothing has changed."""

_NEEDS = "--watch needs watchfiles: pip install 'hlodb[watch]'"


def settled_runs(folder: Path, seconds: float) -> Iterator[list[str]]:
    """Yield the paths of each run below `folder` that was still for so many seconds.

    First those that are there already; a run that changes again is yielded again. It
    ends by KeyboardInterrupt only. Raises UsageError where the library is missing.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise UsageError(_NEEDS) from error
    waiting = Waiting(folder, seconds)
    waiting.changed(folder.iterdir(), monotonic())
    for changes in watch(
        folder, watch_filter=None, rust_timeout=_TURN, yield_on_timeout=True
    ):
        waiting.changed((Path(path) for _, path in changes), monotonic())
        # One at a time: others may change while it is ingested.
        if paths := waiting.next_still(monotonic()):
            yield paths


class Waiting:
    """Runs below a folder, each with the time of its last change."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder.resolve()
        self._seconds = seconds
        self._changed: dict[Path, float] = {}

    def changed(self, paths: Iterable[Path], now: float) -> None:
        """Note that files or folders changed at a time."""
        for path in paths:
            whole = path.parent.resolve() / path.name
            if not whole.is_relative_to(self._folder) or whole == self._folder:
                continue
            top = self._folder / whole.relative_to(self._folder).parts[0]
            is_loose = not top.is_dir() and not is_archive_name(top.name)
            self._changed[self._folder if is_loose else top] = now

    def next_still(self, now: float) -> list[str]:
        """Return the paths of the run that is still for longest; [] where none is."""
        while self._changed:
            run, last = min(self._changed.items(), key=lambda item: (item[1], item[0]))
            if now - last < self._seconds:
                return []
            del self._changed[run]
            if paths := self._paths(run):
                return paths
        return []

    def _paths(self, run: Path) -> list[str]:
        """Return what to ingest of a run; [] where it is gone."""
        if run != self._folder:
            return [str(run)] if run.exists() else []
        return sorted(
            str(path)
            for path in run.iterdir()
            if path.is_file() and not is_archive_name(path.name)
        )
