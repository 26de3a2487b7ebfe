"""Loads dumps into a warehouse, and tells what that changed."""

from pathlib import Path

from hlodb.ingest.ingest import ingest
from hlodb.ingest.run_records import RunRequest
from hlodb.ingest.run_summary import RunSummary
from tests.conftest import DATA, all_rows

SEEDS = DATA / "seeds"
BEFORE = DATA / "moved_lines" / "before"
AFTER = DATA / "moved_lines" / "after"


def load(db: Path, *paths: Path, name: str | None = None) -> list[RunSummary]:
    return ingest([str(p) for p in paths], db, request=RunRequest(name=name))


def changed(before: Path, after: Path) -> set[str]:
    """Give the tables whose rows differ."""
    old, new = all_rows(before), all_rows(after)
    return {name for name in new if old[name] != new[name]}
