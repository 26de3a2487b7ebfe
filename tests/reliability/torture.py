"""The long forms: `python -m tests.reliability.torture [PART…]`; all unless named.

Figures go to docs/figures/torture.json and into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from tests.reliability import crowd, crowds, tasks, trials
from tests.reliability.record import Figure, record

Case = TypeVar("Case", int, float)

_RANDOM_KILLS = 100
_MOMENTS_OF_A_START = 150
_MOMENTS_OF_A_TASK = 30
_SHARES = [number / 20 for number in range(1, 20)]


def kills(folder: Path) -> Figure:
    """Ingest into a warehouse, killed at every moment."""
    trial = trials.make_trial(folder)
    every = range(1, trials.moments_of(trial) + 1)
    return _each(partial(trials.die_at, trial), every)


def first_kills(folder: Path) -> Figure:
    """Ingest into a new file, killed at many moments."""
    trial = trials.make_trial(folder)
    spread = _spread(trials.moments_of(trial, into_new=True), _MOMENTS_OF_A_START)
    return _each(partial(trials.die_at, trial, into_new=True), spread)


def random_kills(folder: Path) -> Figure:
    """Ingest with two worker processes, killed at any time."""
    trial = trials.make_trial(folder)
    chance = trials.chances(1)
    shares = [chance() for _ in range(_RANDOM_KILLS)]
    return _each(partial(trials.kill_after, trial), shares)


def task_kills(folder: Path) -> Figure:
    """rm, prune, compact, backup, migrate, stage and absorb, killed at many moments."""
    figures = []
    for name in tasks.TASKS:
        begun = tasks.begin(name, folder)
        spread = _spread(tasks.moments_of(begun), _MOMENTS_OF_A_TASK)
        figures.append(_each(partial(tasks.die_during, begun), spread))
    return Figure(
        sum(figure.tried for figure in figures),
        sum(figure.faulty for figure in figures),
        sum(figure.seconds for figure in figures),
    )


def full_disks(folder: Path) -> Figure:
    """Ingest onto a disk that is full after a share of what the ingest needs."""
    trial = trials.make_trial(folder)
    return _each(partial(_full, trial), _SHARES)


def _full(trial: trials.Trial, share: float) -> list[str]:
    outcome = trials.run_out_of_room(trial, share)
    return ["no small disk can be mounted"] if outcome is None else outcome


def quotas(folder: Path) -> Figure:
    """Ingest into a file that may not grow beyond a share of what it needs."""
    trial = trials.make_trial(folder)
    return _each(partial(trials.with_quota, trial), _SHARES)


def permissions(folder: Path) -> Figure:
    """Permission to write withdrawn at many moments."""
    trial = trials.make_trial(folder)
    spread = _spread(trials.moments_of(trial), 40)
    return _each(partial(trials.without_permission, trial), spread)


def cuts(folder: Path) -> Figure:
    """Every file of the dump broken off in the middle, completed later."""
    trial = trials.make_trial(folder)
    return _each(partial(trials.break_off, trial), _SHARES)


def _spread(moments: int, most: int) -> Sequence[int]:
    """Return up to `most` moments, from the first to the last."""
    return sorted({1 + n * (moments - 1) // (most - 1) for n in range(most)})


def _each(attempt: Callable[[Case], list[str]], cases: Iterable[Case]) -> Figure:
    tried = faulty = 0
    began = perf_counter()
    for case in cases:
        wrong = attempt(case)
        tried += 1
        faulty += bool(wrong)
        if wrong:
            print(f"{case}: {wrong}", flush=True)
    return Figure(tried, faulty, perf_counter() - began)


PARTS: dict[str, Callable[..., Figure]] = {
    part.__name__: part
    for part in (
        kills,
        first_kills,
        random_kills,
        task_kills,
        full_disks,
        quotas,
        permissions,
        cuts,
        crowds.writers,
        crowds.staged,
        crowds.together,
        crowds.races,
        crowds.lake_writers,
        crowds.soak,
        crowd.crowd_at_file,
        crowd.crowd_at_lake,
        crowd.crowd_at_bucket,
    )
}
_TIMED = ("crowd_at_file", "crowd_at_lake", "crowd_at_bucket")
"""Parts that take as long as they are given."""


def main() -> int:
    """Carry out the parts that were named; give 1 where anything was faulty."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--seconds", type=float, default=300, help="of each crowd; 300 by default"
    )
    given = parser.parse_args()
    names = given.parts or [*PARTS]
    if unknown := set(names) - PARTS.keys():
        parser.error(f"no parts: {', '.join(sorted(unknown))}")
    faulty = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix=f"hlodb-{name}-") as folder:
            options = {"seconds": given.seconds} if name in _TIMED else {}
            figure = PARTS[name](Path(folder), **options)
        print(record(name, PARTS[name].__doc__ or "", figure), flush=True)
        faulty += figure.faulty
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
