"""Units put together, a few MB of text at a time: what a worker parses at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hlodb.ingest.unit_files import UnitFile

BATCH_BYTES = 4_000_000
"""Text that a worker parses at a time (bytes); units weigh more than their text."""

UNIT_BYTES = 16_000
"""As much text as is parsed while a module without any is stored."""


def weight(files: Sequence[UnitFile]) -> int:
    """Give how much work a unit is, in bytes of text."""
    return UNIT_BYTES + sum(len(file.data) for file in files)


def batches_of(units: Iterable[list[UnitFile]]) -> Iterator[list[list[UnitFile]]]:
    """Give batches of units, in order; empty units are left out.

    Small ones join a batch that is full already: a run often ends in such, and a batch
    of their own would take longer than they do.
    """
    batch: list[list[UnitFile]] = []
    size = 0
    for files in filter(None, units):
        added = weight(files)
        is_small = added < BATCH_BYTES // 32 and size < BATCH_BYTES * 5 // 4
        if size >= BATCH_BYTES and not is_small:
            yield batch
            batch, size = [], 0
        batch.append(files)
        size += added
    if batch:
        yield batch
