"""What `hlodb ingest` says of the runs that are in, and when that is a failure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from hlodb.arguments import positional
from hlodb.errors import DataQualityError, UsageError
from hlodb.ingest.load.run_records import RunSummary
from hlodb.ingest.sources.discover import HOW_TO_DUMP
from hlodb.text import counted


def sentences(run: RunSummary, db: Path) -> Iterator[str]:
    """Yield the messages about a run, a line each."""
    yield from run.notes
    if run.rejects:
        loaded = "everything else was loaded" if run.modules else "no module was loaded"
        shown = _command("query", "rejects_summary", "-p", f"run={run.name}", db=db)
        yield (
            f"run {run.name}: {counted(run.rejects, 'place')} could not be read,"
            f" {loaded}; {shown} lists them"
        )
    elif not run.has_dump:
        deleting = _command("rm", db=db, behind=positional(run.name))
        yield f"run {run.name} holds no XLA dump; {deleting} deletes it"
    elif not run.modules:
        yield f"run {run.name} holds no module"
    if run.files and run.files == run.unchanged_files:
        yield f"run {run.name} is unchanged, already ingested"


def require_modules(runs: Sequence[RunSummary], strict: bool, db: Path) -> None:
    """Raise where nothing could be loaded, and if `strict` where anything could not.

    DataQualityError tells of rejects; UsageError that there is no dump in any run.
    A dump without modules, such as flags only, is none of these.
    """
    rejects = sum(run.rejects for run in runs)
    is_empty = not any(run.modules for run in runs)
    if rejects and (strict or is_empty):
        lost = ", and no module was loaded" if is_empty else ""
        raise DataQualityError(
            f"{counted(rejects, 'place')} could not be read{lost}:"
            f" see {_command('query', 'rejects_summary', db=db)}"
        )
    if runs and is_empty and not any(run.has_dump for run in runs):
        raise UsageError(f"no XLA dump in the named paths. {HOW_TO_DUMP}")


def _command(*words: str, db: Path, behind: Sequence[str] = ()) -> str:
    return f"`{shlex.join(['hlodb', *words, '--db', str(db), *behind])}`"
