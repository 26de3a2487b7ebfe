"""What a file of a run tells about the run: platform, device, compiler, flags."""

from __future__ import annotations

from hlodb.ingest.parse_unit import UnitFile, platform_of
from hlodb.ingest.run_records import RunFacts


def learn_from_file(facts: RunFacts, file: UnitFile) -> None:
    """Keep what a file's name, or a flag or target file's text, says of the run."""
    r = file.recognised
    prefix = r.platform_prefix
    facts.learn(
        {
            "platform": platform_of(r),
            "compiler_version": f"cl_{r.cl}" if r.cl else None,
            "device": prefix if prefix not in (None, "cpu") else None,
        }
    )
