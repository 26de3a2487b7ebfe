"""Batches of units parsed in worker processes, results in the order they were given.

A small input is parsed in this process: starting others would take longer. At most
`4 * jobs` batches are under way, so memory stays bounded whatever the input's size,
and workers have enough to do while this process writes.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import TypeVar

from hlodb.ingest.recognise.unit_files import UnitFile
from hlodb.ingest.tables.batch import BatchResult, parse_batch, start_process
from hlodb.without_pandas import keep_pandas_out

Units = Sequence[list[UnitFile]]
Tag = TypeVar("Tag")

_BATCHES_PER_JOB = 4

_PARENT_SECONDS = 1.0
"""How often a worker looks whether its parent still lives."""

_log = logging.getLogger(__name__)


def parse_batches(
    batches: Iterable[tuple[Tag, Units]], jobs: int
) -> Iterator[tuple[Tag, BatchResult]]:
    """Yield the result of every batch with its tag, in order."""
    start_process()
    source = iter(batches)
    begun = list(islice(source, 2))
    if jobs > 1 and len(begun) > 1:
        yield from _parse_in_pool(chain(begun, source), jobs)
        return
    for tag, batch in chain(begun, source):
        yield tag, parse_batch(batch)


def _parse_in_pool(
    batches: Iterator[tuple[Tag, Units]], jobs: int
) -> Iterator[tuple[Tag, BatchResult]]:
    pool: ProcessPoolExecutor | None = None
    running: deque[tuple[Tag, Future[BatchResult]]] = deque()
    left: list[tuple[Tag, Units]] = []
    try:
        for tag, batch in batches:
            others = multiprocessing.active_children()
            try:
                pool = pool or _pool(jobs)
                running.append((tag, pool.submit(parse_batch, batch)))
            except BrokenExecutor:
                raise
            except (OSError, RuntimeError) as error:  # RuntimeError: of threads
                _log.warning(_NO_WORKER, getattr(error, "strerror", None) or error)
                _end_all_but(others)
                left.append((tag, batch))
                break
            while len(running) >= _BATCHES_PER_JOB * jobs or running[0][1].done():
                tag, future = running.popleft()
                yield tag, future.result()
                if not running:
                    break
        while running:
            tag, future = running.popleft()
            yield tag, future.result()
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
    if left:
        for tag, batch in chain(left, batches):
            yield tag, parse_batch(batch)


_NO_WORKER = (
    "no worker process can be started (%s): this process parses, which takes longer."
    " Raise the limit of processes, memory or open files, or pass --jobs 1"
)


def _end_all_but(others: Sequence[BaseProcess]) -> None:
    """End workers that were just started when the next one could not be.

    Nobody sends them work, and this process would wait for them when it ends.
    """
    for process in multiprocessing.active_children():
        if process not in others:
            process.terminate()
            process.join()


def _pool(jobs: int) -> ProcessPoolExecutor:
    # A forked worker starts at once and shares the modules loaded so far. No database
    # is open at this moment, so there is no foreign thread that a fork could lose.
    method = "fork" if sys.platform == "linux" else "spawn"
    context = multiprocessing.get_context(method)
    return ProcessPoolExecutor(
        jobs, context, initializer=_start_worker, initargs=(os.getpid(),)
    )


def _start_worker(parent: int) -> None:
    keep_pandas_out()
    start_process()
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    gc.disable()  # as in `no_collection`


def _end_with(parent: int) -> None:
    """End this worker when its parent is gone, which a killed one can't ask for."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)
