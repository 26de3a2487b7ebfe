"""An ingest that is killed, starved or locked out loses nothing and tears nothing."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from tests.conftest import needs_proc
from tests.reliability import children, tasks
from tests.reliability.trials import (
    Trial,
    break_off,
    die_at,
    kill_after,
    make_trial,
    moments_of,
    run_out_of_room,
    with_quota,
    without_permission,
)

_PATIENCE_SECONDS = 300
"""Large enough for any machine: a process that is alive then waits for ever."""

FEW, MORE = 5, pytest.param(14, marks=pytest.mark.slow)
"""Deaths on the way; `make torture` dies at every moment."""


def shares(few: float, *more: float) -> pytest.MarkDecorator:
    """Try one share of the way; others in the slow tests."""
    slow = [pytest.param(share, marks=pytest.mark.slow) for share in more]
    return pytest.mark.parametrize("share", [few, *slow])


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return make_trial(tmp_path_factory.mktemp("trial"))


@pytest.mark.parametrize("kills", [FEW, MORE])
def test_killed_at_moments_all_along_the_way(kills: int, trial: Trial) -> None:
    moments = moments_of(trial)
    assert moments > 60
    for number in range(kills):
        moment = 1 + number * moments // kills
        assert die_at(trial, moment) == [], f"at moment {moment} of {moments}"


@shares(0.8, 0.3)
@pytest.mark.parametrize("name", tasks.TASKS)
def test_other_tasks_killed_on_the_way(name: str, share: float, tmp_path: Path) -> None:
    begun = tasks.begin(name, tmp_path)
    moments = tasks.moments_of(begun)
    moment = 1 + int(share * moments)
    assert tasks.die_during(begun, moment) == [], f"at {moment} of {moments}"


@needs_proc
@pytest.mark.parametrize("name", ["backup", "compact", "migrate", "stage"])
def test_what_takes_a_name_is_on_the_disk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or folder is flushed before it is renamed, its directory afterwards."""
    begun = tasks.begin(name, tmp_path)
    done: list[tuple[str, Path]] = []

    def flush(descriptor: int) -> None:
        done.append(("flush", Path(os.readlink(f"/proc/self/fd/{descriptor}"))))

    def renaming(rename: Callable[..., None]) -> Callable[..., None]:
        def renamed(source: Path, destination: Path) -> None:
            done.extend((("rename", Path(source)), ("to", Path(destination))))
            rename(source, destination)

        return renamed

    monkeypatch.setattr(os, "fsync", flush)
    for each in ("rename", "replace"):
        monkeypatch.setattr(os, each, renaming(getattr(os, each)))
    begun.task.work(begun.folder / "w.duckdb")
    at = max(number for number, (what, _) in enumerate(done) if what == "rename")
    source, destination = done[at][1], done[at + 1][1]
    assert ".draft-" in source.name
    files = [source, *source.iterdir()] if source.is_dir() else [source]
    assert {("flush", file) for file in files} <= {*done[:at]}
    assert ("flush", destination.parent) in done[at:]


@shares(0.9, 0.2)
def test_killed_while_a_new_file_is_made(share: float, trial: Trial) -> None:
    moments = moments_of(trial, into_new=True)
    assert die_at(trial, int(share * moments), into_new=True) == []


@shares(0.3, 0.8)
def test_killed_while_workers_parse(share: float, trial: Trial) -> None:
    assert kill_after(trial, share) == []


@shares(0.6, 0.1)
def test_a_quota(share: float, trial: Trial) -> None:
    assert with_quota(trial, share) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@shares(0.7, 0.2)
def test_a_full_disk(share: float, trial: Trial) -> None:
    outcome = run_out_of_room(trial, share)
    if outcome is None:
        pytest.skip("no file system may be mounted here")
    assert outcome == []


@shares(0.5, 0.1, 0.9)
def test_permission_withdrawn_on_the_way(share: float, trial: Trial) -> None:
    moments = moments_of(trial)
    assert without_permission(trial, int(share * moments)) == []


@pytest.mark.parametrize(
    ("work", "given", "reason"),
    [
        (
            children.ingest_with_quota,
            20_000,
            "it may not grow any further (a quota or limit)",
        ),
        (children.ingest_without_permission, 1, "no permission; ask its owner"),
    ],
)
def test_what_ended_an_ingest_is_told(
    work: Callable[..., None], given: int, reason: str, trial: Trial, tmp_path: Path
) -> None:
    db = Path(shutil.copy(trial.before, tmp_path))
    said = children.context().SimpleQueue()
    code = children.run(children.tell, said, work, [str(trial.dump)], db, given)
    text = said.get()
    assert (code, reason in text) == (5, True), text
    tmp_path.chmod(0o755)
    assert trial.compare(db, trial.before) == []


@shares(0.7, 0.2)
def test_every_file_broken_off(share: float, trial: Trial) -> None:
    assert break_off(trial, share) == []


def test_a_killed_worker_is_told(trial: Trial, tmp_path: Path) -> None:
    db = Path(shutil.copy(trial.before, tmp_path))
    said = children.context().SimpleQueue()
    work = (children.lose_a_worker, [str(trial.dump)], db)
    assert children.run(children.tell, said, *work) == children.INTERNAL_ERROR
    assert said.get() == (
        "a worker process was killed, mostly for want of memory: try fewer --jobs. What"
        " is stored is whole, and ingesting again completes it"
    )
    assert trial.compare(db, trial.before) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [(1, errno.ENOMEM), (2, errno.EAGAIN), (3, errno.EMFILE)],
)
def test_a_worker_that_cannot_be_started(
    trial: Trial, tmp_path: Path, number: int, code: int
) -> None:
    """This process parses in its place: nobody waits for a worker without work."""
    db, said = tmp_path / "w.duckdb", children.context().SimpleQueue()
    paths = [str(trial.dump)]
    work = children.ingest_without_worker
    process = children.start(children.tell, said, work, paths, db, number, code)
    process.join(_PATIENCE_SECONDS)
    is_over = not process.is_alive()
    process.kill()
    assert (is_over, process.exitcode) == (True, 0)
    assert said.get() == (
        f"no worker process can be started ({os.strerror(code)}): this process parses,"
        " which takes longer. Raise the limit of processes, memory or open files, or"
        " pass --jobs 1"
    )
    whole = tmp_path / "whole.duckdb"
    ingest(paths, whole)
    assert trial.compare(db, whole) == []


def test_input_broken_off_is_completed_by_the_whole(
    trial: Trial, tmp_path: Path
) -> None:
    db, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    dump = tmp_path / "dump"
    shutil.copytree(trial.dump, dump)
    for number, path in enumerate(sorted(dump.rglob("*.txt"))):
        text = path.read_bytes()
        path.write_bytes(text[: len(text) * (number % 4) // 4])
    ingest([str(dump)], db)
    shutil.copytree(trial.dump, dump, dirs_exist_ok=True)
    ingest([str(dump)], db)
    ingest([str(dump)], whole)
    assert trial.compare(db, whole) == []
