"""What a file of a run tells about the run: platform, device, compiler, flags."""

from __future__ import annotations

from hlodb.ingest.parse_unit import UnitFile
from hlodb.ingest.run_records import RunFacts


def learn_from_file(facts: RunFacts, file: UnitFile) -> None:
    """Keep what a flag or target file says; other files say nothing."""
