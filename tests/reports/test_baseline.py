"""Which run a candidate is held against."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from hlodb.errors import UsageError
from hlodb.reports.baseline import (
    candidate_run,
    choose_baseline,
    earlier_runs,
    may_be_same_device,
)
from hlodb.reports.facts import Run
from hlodb.reports.settings import Settings


def run(number: int, name: str, **more: Any) -> Run:
    labels = json.dumps(more.pop("labels")) if "labels" in more else None
    plain = Run(
        run_id=number,
        name=name,
        series="s",
        started_at=datetime(2027, 1, number),
        commit_sha=None,
        branch=None,
        compiler_version=None,
        framework_version=None,
        platform="cpu",
        device=None,
        device_memory_bytes=None,
        chip_memory_bytes=None,
        topology=None,
        labels=labels,
        ingested_at=None,
    )
    return plain._replace(**more)


def chosen(runs: list[Run], rule: str = "auto") -> tuple[str | None, str]:
    found = choose_baseline(runs, runs[-1], rule, Settings())
    return found.run.name if found.run else None, found.text


def test_the_latest_comparable_run_before() -> None:
    runs = [run(1, "a"), run(2, "b"), run(3, "tpu", platform="tpu"), run(4, "c")]
    assert chosen(runs) == ("b", "the latest comparable run before")
    assert chosen(runs, "previous") == ("b", "the latest comparable run before")


def test_the_series_comes_first_and_else_any_run() -> None:
    runs = [run(1, "a"), run(2, "other", series="t"), run(3, "b")]
    assert chosen(runs)[0] == "a"
    assert chosen(runs[1:])[0] == "other"


@pytest.mark.parametrize(
    ("one", "other", "may_be_same"),
    [
        ("TPU v5e", "TPU v5e", True),
        ("TPU v5e", "TPU v5p", False),
        ("TPU v5e", None, True),
        ("sm_9.0", "sm_9.0a", True),
        ("sm_9.0a", "sm_8.0", False),
        ("gfx90a", "gfx90c", False),
        ("sm_9.0a", "NVIDIA H100 80GB HBM3", True),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H200", False),
    ],
)
def test_a_capability_may_be_any_device_with_a_name(
    one: str, other: str | None, may_be_same: bool
) -> None:
    assert may_be_same_device(one, other) is may_be_same
    assert may_be_same_device(other, one) is may_be_same


def test_the_fork_point_of_a_branch() -> None:
    runs = [
        run(1, "a", commit_sha="abc1", branch="main"),
        run(2, "b", commit_sha="def2", branch="main"),
        run(3, "c", branch="feature", labels={"fork_point": "abc"}),
    ]
    assert chosen(runs) == ("a", "the fork point, commit abc")
    unknown = [*runs[:2], run(3, "c", labels={"branch": "feature", "fork_point": "x"})]
    assert chosen(unknown) == ("b", "the latest run of main before")


def test_main_follows_no_branch() -> None:
    runs = [
        run(1, "a", branch="main"),
        run(2, "pr", labels={"branch": "feature"}),
        run(3, "b", branch="main"),
    ]
    for rule in ("auto", "previous"):
        assert chosen(runs, rule) == ("a", "the latest comparable run before")
    window = choose_baseline(runs, runs[-1], "window", Settings()).window
    assert [one.name for one in window] == ["a"]
    unknown = [run(1, "a"), runs[1], runs[2]]
    assert chosen(unknown)[0] == "a"
    assert chosen([*unknown[:2], run(3, "c")])[0] == "a"
    text = "there is no comparable run of main before the candidate"
    assert chosen(runs[1:]) == (None, text)


def test_a_branch_follows_main_and_itself() -> None:
    runs = [
        run(1, "a", branch="main"),
        run(2, "other", branch="other"),
        run(3, "first", branch="feature"),
        run(4, "second", branch="feature"),
    ]
    assert [one.name for one in earlier_runs(runs, runs[-1], "main")] == ["a", "first"]
    assert chosen(runs) == ("a", "the latest run of main before")
    assert chosen(runs, "previous")[0] == "first"
    master = [one._replace(branch="master") for one in runs[:1]]
    assert chosen([*master, *runs[1:]])[0] == "first"
    assert chosen([*master, *runs[1:3]])[0] == "other"
    assert chosen([*master, run(2, "b", branch="master")])[0] == "a"


def test_the_fork_point_may_be_on_any_branch() -> None:
    runs = [
        run(1, "a", commit_sha="abc1", branch="release"),
        run(2, "b", commit_sha="def2", branch="main"),
        run(3, "c", branch="feature", labels={"fork_point": "abc1"}),
    ]
    assert chosen(runs) == ("a", "the fork point, commit abc1")


def test_an_empty_fork_point_is_none() -> None:
    runs = [
        run(1, "a", commit_sha="abc1"),
        run(2, "b", commit_sha="def2"),
        run(3, "c", labels={"fork_point": ""}),
    ]
    assert chosen(runs)[0] == "b"
    runs = [run(1, "a", commit_sha="abc1"), run(2, "b"), runs[2]]
    assert chosen(runs)[0] == "b"


def test_the_last_accepted_run() -> None:
    runs = [run(1, "a", labels={"accepted": "true"}), run(2, "b"), run(3, "c")]
    assert chosen(runs) == ("a", "the last accepted run")


def test_the_last_accepted_run_is_also_that_of_a_run_without_a_branch() -> None:
    runs = [
        run(1, "a", branch="main", labels={"accepted": True}),
        run(2, "b", branch="main"),
        run(3, "c"),
    ]
    assert chosen(runs) == ("a", "the last accepted run")
    assert chosen([*runs[:2], run(3, "c", branch="main")])[0] == "a"
    assert chosen([*runs[:2], run(3, "c", branch="feature")])[0] == "b"


def test_a_run_by_its_name() -> None:
    runs = [run(1, "a"), run(2, "auto"), run(3, "c")]
    assert chosen(runs, "a") == ("a", "the run named as base")
    assert chosen(runs, "run:auto") == ("auto", "the run named as base")
    with pytest.raises(UsageError, match="no run 'd'"):
        chosen(runs, "d")


def test_nothing_before() -> None:
    text = "there is no comparable run before the candidate"
    assert chosen([run(1, "a")]) == (None, text)


def test_the_window() -> None:
    runs = [run(n, f"r{n}") for n in range(1, 12)]
    found = choose_baseline(runs, runs[-1], "window", Settings(window=3))
    assert [one.name for one in found.window] == ["r8", "r9", "r10"]


def test_the_candidate() -> None:
    runs = [run(1, "a"), run(2, "b", series="t")]
    assert candidate_run(runs, None, None) == runs[1]
    assert candidate_run(runs, None, "s") == runs[0]
    assert candidate_run(runs, "a", "t") == runs[0]
    assert candidate_run(runs, None, "u") is None
    assert earlier_runs(runs, runs[0]) == []
