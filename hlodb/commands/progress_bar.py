"""What has been read so far, drawn on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_MEGABYTE = 1e6


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Yield the callback for bytes and files read; None where none is drawn."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading")

        def update(size: int, files: int) -> None:
            text = f"{files} files, {size / _MEGABYTE:.1f} MB read"
            bar.update(task, description=text)

        yield update
