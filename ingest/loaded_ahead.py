"""What brings something new is loaded while the warehouse is opened and asked.

DuckDB leaves the interpreter to others meanwhile. Where nothing new is to be expected
nothing is loaded: that would take longer than all the rest.

Numpy changes the environment while it is loaded, and DuckDB reads it at any moment: a
read that meets the change may end the process. The allocator of pyarrow 25 wants the
thread that loads it to live on (https://github.com/apache/arrow/issues/50471). So these
two are loaded before, by the thread that asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread


@contextmanager
def loading_ahead(module: str, *, is_needed: bool) -> Iterator[None]:
    """Load a module by its name beside the block, which ends when it is loaded."""
    if not is_needed:
        yield
        return
    import_module("pyarrow")  # and numpy with it
    thread = Thread(target=_load, args=(module,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        # Whoever forks later must not lose a thread that is loading something.
        thread.join()


def _load(module: str) -> None:
    with suppress(Exception):  # raised again where it is imported
        import_module(module)
