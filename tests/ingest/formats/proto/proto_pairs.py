"""Archives that hold the text and the message of the same modules."""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from hlodb.ingest.formats.buffer_assignment.assignment import (
    join_assignments,
    parse_assignment,
)
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.records import BufferAssignment, HloModule, Position

DATA = Path(__file__).parents[3] / "data" / "proto"
SETS = ("cpu-jaxlib-0.10.2", "cpu-jaxlib-0.6.2", "tpu-v5e-jax-0.10.2")
FAMILY = ("buffer-assignment", "buffer-assignment-values", "live-range")


@dataclass(frozen=True)
class Pair:
    """One module: its message, its text, and the texts of its assignment."""

    name: str
    message: bytes
    text: str
    assignment_texts: tuple[str, ...] = field(default=())

    def module(self) -> HloModule:
        parsed = parse_hlo(self.text)
        assert (parsed.rejects, parsed.unclaimed) == ([], [])
        (module,) = parsed.modules
        return module

    def assignment(self) -> BufferAssignment | None:
        parsed = [parse_assignment(text) for text in self.assignment_texts]
        assert [p.rejects for p in parsed if p.rejects] == []
        return join_assignments([p.assignment for p in parsed]) if parsed else None


def members(archive: Path) -> dict[str, bytes]:
    """Return the files of an archive by name."""
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                found[member.name] = file.read()
    return found


def pairs(archive: Path) -> Iterator[Pair]:
    """Yield the modules of an archive that stand there in both forms."""
    files = members(archive)
    for name in sorted(files):
        stem = name.removesuffix(".hlo.pb")
        if stem == name or f"{stem}.txt" not in files:
            continue
        texts = [f"{stem}-{part}.txt" for part in FAMILY]
        yield Pair(
            stem,
            files[name],
            files[f"{stem}.txt"].decode(),
            tuple(files[text].decode() for text in texts if text in files),
        )


def in_one_order(assignment: BufferAssignment) -> BufferAssignment:
    """Leave out what only the text holds: its own totals, and an order of readers.

    The order in which XLA lists the readers of a value, and the places it stands at
    beyond the defining one, is that in which passes added them.
    """
    positions: list[Position] = []
    for _, group in groupby(assignment.positions, key=lambda p: p.value_id):
        first, *others = group
        positions += [first, *sorted(others, key=str)]
    return replace(
        assignment,
        positions=positions,
        uses=sorted(assignment.uses, key=str),
        sources={},
        printed_total_bytes=None,
        peak_step=None,
        printed_peaks=[],
    )
