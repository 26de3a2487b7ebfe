"""As many workers as there are cores to use: a container's, not its machine's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.cores import MOST_JOBS, default_jobs

VERSION_2 = {"cpu.max": "{} 100000"}
VERSION_1 = {"cpu/cpu.cfs_quota_us": "{}", "cpu/cpu.cfs_period_us": "100000"}


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a machine of six cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(6)}, raising=False)


@pytest.mark.parametrize("files", [VERSION_2, VERSION_1])
@pytest.mark.parametrize(
    ("quota", "jobs"),
    [
        ("200000", 2),
        ("150000", 2),
        ("10000", 1),
        ("900000", 6),
        ("max", 6),
        ("-1", 6),
        ("0", 6),
    ],
)
def test_the_time_that_a_container_is_given(
    tmp_path: Path, files: dict[str, str], quota: str, jobs: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.format(quota) + "\n")
    assert default_jobs(tmp_path) == jobs


def test_what_is_no_control_group_limits_nothing(tmp_path: Path) -> None:
    assert default_jobs(tmp_path) == 6
    (tmp_path / "cpu.max").write_text("")
    assert default_jobs(tmp_path) == 6


def test_a_large_machine_has_more_cores_than_writing_keeps_up_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(200)}, raising=False)
    assert default_jobs(tmp_path) == MOST_JOBS
