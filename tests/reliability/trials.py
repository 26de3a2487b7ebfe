"""One trial each: harm an ingest, look at what is left, ingest again, compare."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA
from tests.reliability import children
from tests.reliability.content import Content, content, differences
from tests.reliability.integrity import faults

UNWRITABLE = 5


@dataclass(frozen=True)
class Trial:
    """A warehouse with one run, another run to come, and how it is to end."""

    folder: Path
    before: Path
    dump: Path
    expected: Content
    began_with: int
    seconds: float
    needed: int
    """Bytes that the ingest adds to the file."""

    def compare(self, one: Path, other: Path) -> list[str]:
        """Return the faults of `one`, and where it differs from `other`."""
        unequal = differences(content(one), content(other))
        return [*faults(one), *(f"{name} differs" for name in unequal)]


def make_trial(folder: Path) -> Trial:
    """Make what a trial begins with, below `folder`."""
    before, after, dump = folder / "b.duckdb", folder / "a.duckdb", folder / "dump"
    ingest([str(DATA / "seeds")], before)
    shutil.copytree(DATA / "moved_lines", dump)
    shutil.copy(before, after)
    began = time.perf_counter()
    assert children.run(children.ingest_paths, [str(dump)], after, 2) == 0
    seconds = time.perf_counter() - began
    needed = after.stat().st_size - before.stat().st_size
    return Trial(folder, before, dump, content(after), _files(before), seconds, needed)


def moments_of(trial: Trial, *, into_new: bool = False) -> int:
    """Return the number of moments of the whole ingest."""
    found = children.context().SimpleQueue()
    with _copy(trial, into_new=into_new) as db:
        work = (children.ingest_paths, [str(trial.dump)], db)
        assert children.run(children.count_moments, found, *work) == 0
    count: int = found.get()
    return count


def die_at(trial: Trial, moment: int, *, into_new: bool = False) -> list[str]:
    """Die at a moment; give what was found wrong afterwards."""
    with _copy(trial, into_new=into_new) as db:
        ledger = db.with_suffix(".ledger")
        work = (children.ingest_paths, [str(trial.dump)], db)
        code = children.run(children.die_at, moment, ledger, *work)
        wrong = [] if code == children.KILLED else [f"it ended with {code}"]
        committed = int(ledger.read_text()) if ledger.exists() else 0
        if not into_new:
            committed = max(committed, trial.began_with)
        return wrong + _look(trial, db, committed, into_new=into_new)


def kill_after(trial: Trial, share: float) -> list[str]:
    """Kill a parallel ingest after a share of its time; see that workers end, too."""
    with _copy(trial) as db:
        process = children.start(children.ingest_paths, [str(trial.dump)], db, 2)
        time.sleep(share * trial.seconds)
        workers = _children_of(process.pid)
        process.kill()
        process.join()
        wrong = [f"worker {w} lives on" for w in workers if not _ends(w)]
        return wrong + _look(trial, db, trial.began_with)


def with_quota(trial: Trial, share: float) -> list[str]:
    """Let no file grow beyond a share of what the ingest needs."""
    with _copy(trial) as db:
        quota = db.stat().st_size + int(share * trial.needed)
        code = children.run(children.ingest_with_quota, [str(trial.dump)], db, quota)
        wrong = [] if code in (0, UNWRITABLE) else [f"it ended with {code}"]
        return wrong + _look(trial, db, trial.began_with)


def run_out_of_room(trial: Trial, share: float) -> list[str] | None:
    """Leave a small disk a share of what is needed; None where it can't be mounted."""
    with tempfile.TemporaryDirectory(dir=trial.folder) as disk:
        size = trial.before.stat().st_size + 8 * trial.needed
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            return None
        try:
            db, filler = Path(disk) / "w.duckdb", Path(disk) / "filler"
            shutil.copy(trial.before, db)
            free = shutil.disk_usage(disk).free
            filler.write_bytes(bytes(free - int(share * trial.needed)))
            code = children.run(children.ingest_paths, [str(trial.dump)], db)
            wrong = [] if code in (0, UNWRITABLE) else [f"it ended with {code}"]
            # Reading must go on while the disk is still full.
            if _files(db) < trial.began_with:
                wrong.append("files are gone")
            filler.unlink()
            return wrong + _look(trial, db, trial.began_with)
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)


def without_permission(trial: Trial, moment: int) -> list[str]:
    """Withdraw the right to write at a moment."""
    with _copy(trial) as db:
        code = children.run(
            children.ingest_without_permission, [str(trial.dump)], db, moment
        )
        wrong = [] if code in (0, UNWRITABLE) else [f"it ended with {code}"]
        db.parent.chmod(0o755)
        for path in (db, Path(f"{db}.wal")):
            if path.exists():
                path.chmod(0o644)
        return wrong + _look(trial, db, trial.began_with)


def break_off(trial: Trial, share: float) -> list[str]:
    """Cut every file at a share of its length, ingest, then ingest the whole dump."""
    with _copy(trial) as db, tempfile.TemporaryDirectory(dir=trial.folder) as folder:
        dump = Path(shutil.copytree(trial.dump, Path(folder) / trial.dump.name))
        for path in sorted(dump.rglob("*.txt")):
            data = path.read_bytes()
            path.write_bytes(data[: int(share * len(data))])
        code = children.run(children.ingest_paths, [str(dump)], db)
        wrong = [] if code == 0 else [f"it ended with {code}"]
        return wrong + _look(trial, db, trial.began_with)


def _look(
    trial: Trial, db: Path, committed: int, *, into_new: bool = False
) -> list[str]:
    """Return the faults of the remains, and of ingesting again."""
    wrong = []
    if db.exists():
        wrong += faults(db)
        if _files(db) < committed:
            wrong.append(f"{_files(db)} files are left of {committed} committed")
    elif committed:
        wrong.append("the warehouse is gone")
    if into_new:
        ingest([str(DATA / "seeds")], db)
    ingest([str(trial.dump)], db, jobs=1)
    unequal = differences(trial.expected, content(db))
    left = [p.name for p in db.parent.iterdir() if p.name.startswith(f".{db.name}")]
    if into_new:
        left = []
    return [*wrong, *faults(db), *(f"{n} differs" for n in unequal), *left]


def _files(db: Path) -> int:
    with connect(db) as connection:
        row = connection.execute("SELECT count(*) FROM dump_files").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _copy(trial: Trial, *, into_new: bool = False) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=trial.folder) as folder:
        db = Path(folder) / "w.duckdb"
        if not into_new:
            shutil.copy(trial.before, db)
        yield db


def _children_of(pid: int | None) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def _ends(pid: int, patience_seconds: float = 10) -> bool:
    deadline = time.monotonic() + patience_seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


Chance = Callable[[], float]


def chances(seed: int) -> Chance:
    """Return random shares of the time, the same for the same seed."""
    return random.Random(seed).random
