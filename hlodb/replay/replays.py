"""One run → its new dumps, and how they compare with it and with one another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hlodb.errors import UsageError
from hlodb.ingest.sources.discover import RunSource
from hlodb.queries.result import Result
from hlodb.replay.compare import Measured, compared, read_original, read_replay
from hlodb.replay.compile import DEFAULT_BOUNDS, UNCHANGED, Bounds, Edit, compile_all
from hlodb.replay.interpreters import Interpreter
from hlodb.replay.recover import Program, Unrecoverable


class Recovered(NamedTuple):
    """The programs of a run that can be compiled again, and those that cannot."""

    source: RunSource
    programs: Sequence[Program]
    lost: Sequence[Unrecoverable]


class Replay(NamedTuple):
    """One of the compilations of a run; `folder` is where its dump goes."""

    folder: Path
    interpreter: Interpreter
    edit: Edit


def planned(
    run: str, out: Path, interpreters: Sequence[Interpreter], edit: Edit
) -> list[Replay]:
    """Return the replays of a run: unchanged, by other compilers, with the edit.

    Raises UsageError where a folder of them is there and not empty.
    """
    name = re.sub(r"[^\w.=+-]", "_", run).strip(".") or "run"
    first, *others = interpreters
    plan = [Replay(out / f"{name}.unchanged", first, UNCHANGED)]
    plan += [Replay(out / f"{name}.{one.label}", one, UNCHANGED) for one in others]
    if edit != UNCHANGED:
        plan.append(Replay(out / f"{name}.edited", first, edit))
    for replay in plan:
        if replay.folder.exists() and any(replay.folder.iterdir()):
            raise UsageError(
                f"{replay.folder} holds another dump: name another --out, or delete it"
            )
    return plan


def replay_run(
    run: Recovered,
    plan: Sequence[Replay],
    *,
    jobs: int = 1,
    bounds: Bounds = DEFAULT_BOUNDS,
    progress: Callable[[str], None] | None = None,
) -> Result:
    """Compile the programs of a run as planned; return a row per memory space."""
    done = []
    for replay in plan:
        programs = compile_all(
            run.programs,
            replay.interpreter,
            replay.edit,
            replay.folder,
            jobs=jobs,
            bounds=bounds,
            progress=progress,
        )
        done.append(Measured(replay.folder.name, replay.folder, programs))
    with TemporaryDirectory(prefix="hlodb-replay-") as folder:
        files = _warehouses(Path(folder))
        original = read_original(run.source, next(files))
        replays = [(one, read_replay(one, next(files))) for one in done]
    return compared(original, run.lost, replays)


def _warehouses(folder: Path) -> Iterator[Path]:
    """Yield paths of new warehouses, one for each dump: names of runs may be equal."""
    number = 0
    while True:
        yield folder / f"{number}.duckdb"
        number += 1
