"""Units put together, a few MB of text at a time, and parsed into Arrow tables.

A batch is the work that a worker process gets at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hlodb.garbage import give_back_memory
from hlodb.ingest.modules.parse_unit import parse_unit
from hlodb.ingest.recognise.unit_files import FileReport, UnitFile
from hlodb.ingest.records import Evidence, Reject
from hlodb.ingest.tables.normalise import Batch, Seen

BATCH_BYTES = 4_000_000
"""Text that a worker parses at a time (bytes); units weigh more than their text."""

UNIT_BYTES = 16_000
"""As much text as is parsed while a module without any is stored."""


def weight(files: Sequence[UnitFile]) -> int:
    """Return the amount of work in a unit, in bytes of text."""
    return UNIT_BYTES + sum(len(file.data) for file in files)


def batches_of(units: Iterable[list[UnitFile]]) -> Iterator[list[list[UnitFile]]]:
    """Yield batches of units, in order; empty units are left out.

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


_MAX_ROWS = 400_000
"""Distinct instructions, beyond which a process drops them and starts anew."""


@dataclass(slots=True)
class BatchResult:
    """Tables of one batch (run_id to be added), file reports and rejects.

    Tables without rows are left out, but for `modules`.
    `brought` holds the keys of contents whose rows are among the tables, by their kind.
    `evidence` holds rows of tables that are keyed by run and path. `weight` is that of
    its units.
    """

    tables: dict[str, pa.Table]
    brought: dict[str, frozenset[int]] = field(default_factory=dict)
    files: list[FileReport] = field(default_factory=list)
    rejects: list[tuple[str, Reject]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    weight: int = 0


@dataclass(slots=True)
class _Process:
    """What a worker process keeps from batch to batch."""

    seen: Seen = field(default_factory=Seen)

    def is_full(self) -> bool:
        return len(self.seen.distinct) > _MAX_ROWS


_process = _Process()


def start_process() -> None:
    """Begin with nothing seen: the tables of earlier batches went to another file."""
    _process.seen = Seen()


def parse_batch(units: Sequence[list[UnitFile]]) -> BatchResult:
    """Parse and normalise units; equal text and modules of earlier batches are reused.

    Takes the files out of their units, so that large ones are held no longer than read.

    Details of a module that an earlier batch of this process held are not built again,
    so the results of one process must all be loaded, in order.
    """
    batch = Batch(_process.seen)
    result = BatchResult({})
    for files in units:
        is_detailed = files[0].is_detailed
        result.weight += weight(files)
        parsed = parse_unit(_taken(files), _process.seen.distinct)
        if _process.is_full():
            _process.seen.distinct.forget_texts()
            give_back_memory()
        ids = []
        while parsed.modules:  # each is held until its rows are made, no longer
            ids.append(batch.add(parsed.modules.pop(0), is_detailed))
        for report in parsed.files:
            report.module_id = ids[-1] if ids else None
        result.files += parsed.files
        result.rejects += parsed.rejects
        result.evidence += parsed.evidence
    if is_full := _process.is_full():
        _process.seen.distinct.forget_rows()
    result.tables = batch.arrow_tables()
    if is_full:
        _process.seen = Seen()
        give_back_memory()
    result.brought = {what: frozenset(keys) for what, keys in batch.brought.items()}
    return result


def _taken(files: list[UnitFile]) -> Iterator[UnitFile]:
    while files:
        yield files.pop(0)
