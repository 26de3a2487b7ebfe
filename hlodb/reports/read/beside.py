"""Read by more threads: most of the time goes into planning, which is on one core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import Protocol, TypeVar

from hlodb.schema.connection import Connection

_WHERE = (
    "SELECT system.main.current_database(), system.main.current_schema(),"
    " system.main.current_setting('search_path')"
)

_Read = TypeVar("_Read")


class Beside(Protocol):
    """Start to read by another thread, which has a connection of its own."""

    def __call__(self, read: Callable[[Connection], _Read]) -> Future[_Read]:
        """Return what `read` will give."""


@contextmanager
def beside(connection: Connection, threads: int) -> Iterator[Beside]:
    """Read by `threads` more, which see what `connection` has committed."""
    where = connection.execute(_WHERE).fetchall()
    others = []
    with ExitStack() as stack:

        def start(read: Callable[[Connection], _Read]) -> Future[_Read]:
            other = stack.enter_context(closing(connection.cursor()))
            if other.execute(_WHERE).fetchall() == where:
                others.append(other)
                return pool.submit(read, other)
            # Of a file whose own objects are left aside, another would read these.
            done: Future[_Read] = Future()
            done.set_result(read(connection))
            return done

        with ThreadPoolExecutor(threads) as pool:
            try:
                yield start
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for other in others:
                    other.interrupt()  # The pool waits for what still runs.
                raise
