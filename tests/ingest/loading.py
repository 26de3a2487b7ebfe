"""Loads dumps into a warehouse, and tells what that changed."""

from pathlib import Path

from hlodb.ingest.load.run_records import RunRequest, RunSummary
from hlodb.ingest.pipeline.ingest import ingest
from tests.conftest import DATA, all_rows

SEEDS = DATA / "seeds"
BEFORE = DATA / "moved_lines" / "before"
AFTER = DATA / "moved_lines" / "after"


def load(db: Path, *paths: Path, name: str | None = None) -> list[RunSummary]:
    return ingest([str(p) for p in paths], db, request=RunRequest(name=name))


def changed(before: Path, after: Path) -> set[str]:
    """Return the tables whose rows differ."""
    old, new = all_rows(before), all_rows(after)
    return {name for name in new if old[name] != new[name]}
