"""What counts as noise: by how much duplicate compiles of one process differ."""

from __future__ import annotations

import pytest

from hlodb.reports.facts import Module, Profile
from hlodb.reports.noise import noise_bands

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
    expected = {} if band is None else {("jit_f", None, 7, 0): band}
    assert noise_bands([modules], PROFILES) == expected


def test_ranks_are_no_duplicates() -> None:
    modules = [module(n, f"module_{n:04}.txt", rank=n) for n in (1, 2)]
    assert noise_bands([modules], PROFILES) == {}
