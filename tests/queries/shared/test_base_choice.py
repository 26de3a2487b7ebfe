"""Which run a candidate is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlodb.queries.run import run_query
from hlodb.reports.config.settings import Settings
from hlodb.reports.read.baseline import choose_baseline
from hlodb.reports.read.facts import read_runs
from hlodb.schema.warehouse import connect
from tests.queries.nights import Facts, made, module

Choice = tuple[str | None, str | None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


def asked(path: Path, runs: list[Facts], **more: Any) -> list[dict[str, Any]]:
    """Return the rows of base_choice for the last of some runs."""
    named = [{"name": f"r{number}", **run} for number, run in enumerate(runs, 1)]
    with connect(made(path, *([] for _ in runs), runs=named)) as connection:
        candidate = named[-1]["name"]
        found = run_query(connection, "base_choice", {"candidate": candidate, **more})
        pair = run_query(connection, "selected_pair", {"candidate": candidate}).dicts()
    if not more:
        assert [row["base"] for row in pair] == [
            row["run"] for row in found.dicts() if row["is_base"]
        ]
    return list(found.dicts())


def chosen(path: Path, runs: list[Facts], rule: str = "auto") -> Choice:
    more = {} if rule == "auto" else {"rule": rule}
    found = [row for row in asked(path, runs, **more) if row["is_base"]]
    return (found[0]["run"], found[0]["reason"]) if found else (None, None)


def test_the_latest_comparable_run_before(path: Path) -> None:
    runs = [{}, {}, {"platform": "tpu"}, {}]
    assert chosen(path, runs) == ("r2", "latest")
    assert chosen(path, runs, "previous") == ("r2", "latest")


def test_the_series_comes_first_and_else_any_run(path: Path) -> None:
    runs: list[Facts] = [{"name": "a"}, {"name": "other", "series": "t"}, {}]
    assert chosen(path, runs)[0] == "a"
    assert chosen(path, runs[1:])[0] == "other"


def test_outside_of_a_series_a_run_of_the_same_programs_comes_first(
    path: Path,
) -> None:
    """Any run may be of something else entirely."""
    nights = [[module("jit_f")], [module("jit_g")], [module("jit_f")]]
    runs: list[Facts] = [{"series": None} for _ in nights]
    with connect(made(path, *nights, runs=runs)) as connection:
        (pair,) = run_query(connection, "selected_pair").dicts()
    assert (pair["base"], pair["candidate"]) == ("r1", "r3")


@pytest.mark.parametrize(
    ("one", "other", "may_be_same"),
    [
        ("TPU v5e", "TPU v5e", True),
        pytest.param("TPU v5e", "TPU v5p", False, marks=pytest.mark.slow),
        ("TPU v5e", None, True),
        ("sm_9.0", "sm_9.0a", True),
        pytest.param("sm_9.0a", "sm_8.0", False, marks=pytest.mark.slow),
        pytest.param("gfx90a", "gfx90c", False, marks=pytest.mark.slow),
        ("sm_9.0a", "NVIDIA H100 80GB HBM3", True),
        pytest.param(
            "NVIDIA H100 80GB HBM3", "NVIDIA H200", False, marks=pytest.mark.slow
        ),
    ],
)
def test_a_capability_may_be_any_device_with_a_name(
    path: Path, one: str, other: str | None, may_be_same: bool
) -> None:
    for base, candidate in ((one, other), (other, one)):
        runs = [{"device": base}, {"device": candidate}]
        assert chosen(path, runs)[0] == ("r1" if may_be_same else None)


def test_the_fork_point_of_a_branch(path: Path) -> None:
    runs: list[Facts] = [
        {"commit_sha": "abc1", "branch": "main"},
        {"commit_sha": "def2", "branch": "main"},
        {"branch": "feature", "labels": {"fork_point": "abc"}},
    ]
    assert chosen(path, runs) == ("r1", "fork_point")
    runs[2] = {"labels": {"branch": "feature", "fork_point": "x"}}
    assert chosen(path, runs) == ("r2", "main_branch")


@pytest.mark.slow
def test_main_follows_no_branch(path: Path) -> None:
    runs: list[Facts] = [
        {"branch": "main"},
        {"labels": {"branch": "feature"}},
        {"branch": "main"},
    ]
    for rule in ("auto", "previous"):
        assert chosen(path, runs, rule) == ("r1", "latest")
    window = [r["run"] for r in asked(path, runs, rule="window") if r["is_in_window"]]
    assert window == ["r1"]
    assert chosen(path, [{}, *runs[1:]])[0] == "r1"
    assert chosen(path, [{}, runs[1], {}])[0] == "r1"
    assert chosen(path, runs[1:]) == (None, None)


@pytest.mark.slow
def test_a_branch_follows_main_and_itself(path: Path) -> None:
    runs: list[Facts] = [
        {"branch": "main"},
        {"branch": "other"},
        {"branch": "feature"},
        {"branch": "feature"},
    ]
    followed = [r["run"] for r in asked(path, runs) if r["is_followed"]]
    assert followed == ["r1", "r3"]
    assert chosen(path, runs) == ("r1", "main_branch")
    assert chosen(path, runs, "previous")[0] == "r3"
    master: Facts = {"branch": "master"}
    assert chosen(path, [master, *runs[1:]])[0] == "r3"
    assert chosen(path, [master, *runs[1:3]])[0] == "r2"
    assert chosen(path, [master, master])[0] == "r1"


def test_the_fork_point_may_be_on_any_branch(path: Path) -> None:
    runs: list[Facts] = [
        {"commit_sha": "abc1", "branch": "release"},
        {"commit_sha": "def2", "branch": "main"},
        {"branch": "feature", "labels": {"fork_point": "abc1"}},
    ]
    assert chosen(path, runs) == ("r1", "fork_point")


def test_an_empty_fork_point_is_none(path: Path) -> None:
    runs: list[Facts] = [
        {"commit_sha": "abc1"},
        {"commit_sha": "def2"},
        {"labels": {"fork_point": ""}},
    ]
    assert chosen(path, runs)[0] == "r2"
    assert chosen(path, [runs[0], {}, runs[2]])[0] == "r2"


def test_the_last_accepted_run(path: Path) -> None:
    for accepted in ("true", True):
        runs: list[Facts] = [{"labels": {"accepted": accepted}}, {}, {}]
        assert chosen(path, runs) == ("r1", "accepted")


def test_a_branch_is_compared_with_main_before_an_accepted_run(path: Path) -> None:
    accepted: Facts = {"branch": "main", "labels": {"accepted": True}}
    for candidate, base in ((None, "r1"), ("main", "r1"), ("feature", "r2")):
        runs = [accepted, {"branch": "main"}, {"branch": candidate}]
        assert chosen(path, runs)[0] == base


def test_the_window(path: Path) -> None:
    found = asked(path, [{} for _ in range(11)], rule="window", window_runs=3)
    assert [r["run"] for r in found if r["is_in_window"]] == ["r10", "r9", "r8"]
    assert found[0]["reason"] == "window"


def test_the_words_of_a_report(path: Path) -> None:
    runs: list[Facts] = [{"branch": "feature"}, {"branch": "main"}, {}]
    with connect(made(path, [], [], [], runs=runs)) as connection:
        there = read_runs(connection)
        found = {
            (place, rule): choose_baseline(
                connection, there, there[place], rule, Settings()
            ).text
            for place, rule in ((0, "auto"), (1, "auto"), (2, "previous"), (2, "r1"))
        } | {(2, "window"): choose_baseline(
            connection, there, there[2], "window", Settings()
        ).text}  # fmt: skip
    assert found == {
        (0, "auto"): '"r1" is the first run of series "s"',
        (1, "auto"): "there is no comparable run of main before the candidate",
        (2, "previous"): "the latest comparable run before",
        (2, "r1"): "the run named as base",
        (2, "window"): "per program and memory space, the least in 1 run before",
    }
