"""What counts as noise: by how much duplicate compiles of one process differ."""

from __future__ import annotations

import pytest

from hlodb.reports.facts import Module, Profile
from hlodb.reports.noise import NoiseBands, noise_bands

PROFILES = {
    number: {0: Profile(number, 0, "host", size, *[0] * 11)}
    for number, size in {1: 100, 2: 141}.items()
}


def module(number: int, path: str, rank: int | None = None) -> Module:
    return Module(
        1, number, None, number, rank, "jit_f", None, "cpu", None, None, None,
        None, None, None, None, 7, path, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "band"),
    [
        (("module_0001.jit_f.txt", "module_0002.jit_f.txt"), 41),
        (("left/module_0001.jit_f.txt", "left/module_0002.jit_f.txt"), 41),
        (("module_0001.jit_f/a_7/x.txt", "module_0002.jit_f/a_7/x.txt"), 41),
        (("module_0001.jit_f/x.txt", "module_0002.jit_f/x.txt"), 41),
        (("left/module_0001.jit_f.txt", "right/module_0001.jit_f.txt"), None),
        (("module_0001.jit_f/a_7/x.txt", "module_0001.jit_f/b_8/x.txt"), None),
    ],
)
def test_hosts_that_folders_tell_apart_are_no_duplicates(
    paths: tuple[str, str], band: int | None
) -> None:
    modules = [module(number, path) for number, path in enumerate(paths, 1)]
    expected = {} if band is None else {(("jit_f", None, 7), 0): {1: band}}
    assert noise_bands({1: modules}, PROFILES, [1]) == (expected, [1])


def test_ranks_are_no_duplicates() -> None:
    modules = [module(n, f"module_{n:04}.txt", rank=n) for n in (1, 2)]
    assert noise_bands({1: modules}, PROFILES, [1]) == ({}, [1])


@pytest.mark.parametrize(
    ("base", "candidate", "band"),
    [(1, 2, 30), (1, 3, 41), (2, 3, 41), (3, 2, 1000), (9, 2, 41), (2, 2, 30)],
)
def test_the_run_that_is_judged_has_no_say(
    base: int, candidate: int, band: int
) -> None:
    """Neither have later ones, but for the base, which may be any."""
    key = ("jit_f", None, 7), 0
    bands = NoiseBands({key: {1: 30, 2: 41, 3: 1000, 9: 41}}, [1, 2, 3])
    before, now = (module(1, "m")._replace(run_id=run) for run in (base, candidate))
    assert bands.of(before, now, 0) == band
