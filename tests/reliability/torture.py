"""The long forms: `python -m tests.reliability.torture [PART…]`; prints figures.

Parts: kills, rooms (full disks, quotas, permissions), writers, soak; all unless named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from hlodb.schema.backup import back_up
from tests.reliability import children
from tests.reliability.content import content, differences
from tests.reliability.integrity import faults
from tests.reliability.trials import (
    Trial,
    chances,
    die_at,
    kill_after,
    make_trial,
    moments_of,
    run_out_of_room,
    with_quota,
    without_permission,
)
from tests.reliability.writers import (
    make_dumps,
    prune_until,
    read_until,
    run_names,
    write_in_turn,
    write_runs,
    write_together,
)

Case = TypeVar("Case", int, float)

_RANDOM_KILLS = 100
_SHARES = [number / 20 for number in range(1, 20)]
_WRITERS, _RUNS = 10, 20
_SOAK_SECONDS = 600
_KEPT_WHOLE = 5


def kills(folder: Path) -> int:
    """Die at every moment of an ingest, then at random ones; give the faults."""
    trial = make_trial(folder)
    moments = moments_of(trial)
    bad = _each("moments", lambda m: die_at(trial, m), range(1, moments + 1))
    chance = chances(1)
    shares = [chance() for _ in range(_RANDOM_KILLS)]
    return bad + _each(
        "random kills, two workers", lambda s: kill_after(trial, s), shares
    )


def rooms(folder: Path) -> int:
    """Take away room and permission at moments all along the way; give the faults."""
    trial = make_trial(folder)
    moments = moments_of(trial)
    spread = [1 + number * moments // 30 for number in range(30)]
    return (
        _each("full disks", lambda s: _full(trial, s), _SHARES)
        + _each("quotas", lambda s: with_quota(trial, s), _SHARES)
        + _each("permissions", lambda m: without_permission(trial, m), spread)
    )


def _full(trial: Trial, share: float) -> list[str]:
    outcome = run_out_of_room(trial, share)
    return ["no small disk can be mounted"] if outcome is None else outcome


def writers(folder: Path) -> int:
    """Let ten processes ingest twenty runs each; give the faults."""
    dumps, db, turns = folder / "dumps", folder / "w.duckdb", folder / "t.duckdb"
    made = make_dumps(dumps, _WRITERS, _RUNS)
    began = time.perf_counter()
    codes = write_together(dumps, db, _WRITERS, _RUNS)
    seconds = time.perf_counter() - began
    write_in_turn(dumps, turns, _WRITERS, _RUNS)
    present = set(run_names(db)) & {path.name for path in made}
    unequal = differences(content(turns), content(db))
    wrong = faults(db)
    print(
        f"writers: {len(present)} of {len(made)} runs present after {seconds:.0f} s,"
        f" exit codes {sorted(set(codes))}, {len(unequal)} tables differ from"
        f" undisturbed ones, {len(wrong)} faults"
    )
    return len(made) - len(present) + len(unequal) + len(wrong)


def soak(folder: Path) -> int:
    """Ingest, prune, read and back up for ten minutes; give the faults."""
    dumps, db = folder / "dumps", folder / "w.duckdb"
    per_writer = 50
    made = make_dumps(dumps, 4, per_writer)
    end = time.time() + _SOAK_SECONDS
    write_runs(dumps, db, 0, 1)
    pool = [children.start(_write_until, dumps, db, w, end) for w in range(4)]
    pool.append(children.start(prune_until, db, end, _KEPT_WHOLE))
    answers = [folder / f"answers-{n}" for n in range(2)]
    pool += [children.start(read_until, db, end, a) for a in answers]
    sizes, memory = [], []
    while time.time() < end:
        time.sleep(10)
        sizes.append(db.stat().st_size)
        memory.append(max(_resident_bytes(p.pid) for p in pool))
    for process in pool:
        process.join()
    codes = sorted({process.exitcode or 0 for process in pool})
    present = set(run_names(db)) & {path.name for path in made}
    wrong = faults(db)
    back_up(db, folder / "copy.duckdb")
    lost = differences(content(db), content(folder / "copy.duckdb"))
    half = len(sizes) // 2
    print(
        f"soak: {len(present)} of {len(made)} runs present, exit codes {codes},"
        f" {sum(int(a.read_text()) for a in answers)} reads,"
        f" file {_range(sizes[:half])} in the first half, {_range(sizes[half:])} in the"
        f" second, largest process {_range(memory[:half])} then"
        f" {_range(memory[half:])}, {len(wrong)} faults, {len(lost)} tables differ in"
        " the backup"
    )
    return len(made) - len(present) + len(wrong) + len(lost)


def _write_until(dumps: Path, db: Path, writer: int, end: float) -> None:
    """Ingest the writer's runs, then the same ones again and again."""
    while True:
        write_runs(dumps, db, writer, 50)
        if time.time() >= end:
            return


def _resident_bytes(pid: int | None) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * 4096


def _range(values: list[int]) -> str:
    return f"{min(values) / 1e6:.1f} to {max(values) / 1e6:.1f} MB"


def _each(
    name: str, attempt: Callable[[Case], list[str]], cases: Iterable[Case]
) -> int:
    done = bad = 0
    began = time.perf_counter()
    for case in cases:
        wrong = attempt(case)
        done += 1
        bad += bool(wrong)
        if wrong:
            print(f"{name} {case}: {wrong}", flush=True)
    print(f"{name}: {done} tried, {bad} faulty, {time.perf_counter() - began:.0f} s")
    sys.stdout.flush()
    return bad


PARTS = {"kills": kills, "rooms": rooms, "writers": writers, "soak": soak}


def main() -> int:
    """Carry out the parts that were named; give 1 where anything was faulty."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART")
    bad = 0
    for name in parser.parse_args().parts or PARTS:
        folder = Path(tempfile.mkdtemp(prefix=f"hlodb-{name}-"))
        try:
            bad += PARTS[name](folder)
        finally:
            shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
