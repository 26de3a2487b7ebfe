"""Batches of units parsed in worker processes, results in the order they were given.

A small input is parsed in this process: starting others would take longer. At most
`4 * jobs` batches are under way, so memory stays bounded whatever the input's size,
and workers have enough to do while this process writes.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from threading import Thread
from typing import TypeVar

from hlodb.ingest.recognise.unit_files import UnitFile
from hlodb.ingest.tables.batch import BatchResult, parse_batch, start_process
from hlodb.without_pandas import keep_pandas_out

Units = Sequence[Sequence[UnitFile]]
Tag = TypeVar("Tag")

_BATCHES_PER_JOB = 4

_PARENT_SECONDS = 1.0
"""How often a worker looks whether its parent still lives."""


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
    batches: Iterable[tuple[Tag, Units]], jobs: int
) -> Iterator[tuple[Tag, BatchResult]]:
    # A forked worker starts at once and shares the modules loaded so far. No database
    # is open at this moment, so there is no foreign thread that a fork could lose.
    method = "fork" if sys.platform == "linux" else "spawn"
    context = multiprocessing.get_context(method)
    pool = ProcessPoolExecutor(
        jobs, context, initializer=_start_worker, initargs=(os.getpid(),)
    )
    running: deque[tuple[Tag, Future[BatchResult]]] = deque()
    try:
        for tag, batch in batches:
            running.append((tag, pool.submit(parse_batch, batch)))
            while len(running) >= _BATCHES_PER_JOB * jobs or running[0][1].done():
                tag, future = running.popleft()
                yield tag, future.result()
                if not running:
                    break
        for tag, future in running:
            yield tag, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
