"""Batches of units parsed in worker processes, results in the order they were given.

A small input is parsed in this process: starting others would take longer. At most
`2 × jobs` batches are under way, so memory stays bounded whatever the input's size.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor

from hlodb.ingest.batch import BatchResult, parse_batch, start_process
from hlodb.ingest.parse_unit import UnitFile

Units = Sequence[Sequence[UnitFile]]


def default_jobs() -> int:
    """Give the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def parse_batches(batches: Iterable[Units], jobs: int) -> Iterator[BatchResult]:
    """Give the result of every batch, in order."""
    start_process()
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return
    second = next(source, None) if jobs > 1 else None
    if second is None:
        yield parse_batch(first)
        yield from map(parse_batch, source)
        return
    yield from _parse_in_pool([first, second], source, jobs)


def _parse_in_pool(
    begun: list[Units], source: Iterator[Units], jobs: int
) -> Iterator[BatchResult]:
    # A forked worker starts at once and shares the modules loaded so far. No database
    # is open at this moment, so there is no foreign thread that a fork could lose.
    method = "fork" if sys.platform == "linux" else "spawn"
    context = multiprocessing.get_context(method)
    pool = ProcessPoolExecutor(jobs, context, initializer=start_process)
    running: deque[Future[BatchResult]] = deque()
    try:
        running.extend(pool.submit(parse_batch, batch) for batch in begun)
        for batch in source:
            running.append(pool.submit(parse_batch, batch))
            while len(running) >= 2 * jobs or (running and running[0].done()):
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
