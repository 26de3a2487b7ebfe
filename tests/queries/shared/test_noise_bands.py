"""What counts as noise: by how much duplicate compiles of one process differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.queries.run import run_query
from hlodb.schema.warehouse import connect
from tests.queries.nights import made, module


@pytest.mark.parametrize(
    ("folders", "band"),
    [
        (("", ""), 41),
        (("left/", "left/"), 41),
        (("module_0001.jit_f/a_7/", "module_0002.jit_f/a_7/"), 41),
        (("module_0001.jit_f/", "module_0002.jit_f/"), 41),
        (("left/", "right/"), None),
        (("module_0001.jit_f/a_7/", "module_0001.jit_f/b_8/"), None),
    ],
)
def test_hosts_that_folders_tell_apart_are_no_duplicates(
    tmp_path: Path, folders: tuple[str, str], band: int | None
) -> None:
    night = [
        module(folder=folder, reserved=size)
        for folder, size in zip(folders, (100, 141), strict=True)
    ]
    with connect(made(tmp_path / "w.duckdb", night)) as connection:
        rows = run_query(connection, "noise_bands").dicts()
    shown = ("run_id", "program", "rank", "source_exact", "color", "width_bytes")
    assert [tuple(row[name] for name in shown) for row in rows] == (
        [] if band is None else [(1, "jit_f", None, 22, 0, band)]
    )


def test_ranks_are_no_duplicates(tmp_path: Path) -> None:
    night = [module(rank=rank, reserved=100 + rank) for rank in (1, 2)]
    with connect(made(tmp_path / "w.duckdb", night)) as connection:
        assert run_query(connection, "noise_bands").rows == []


def test_the_run_that_is_judged_has_no_say(tmp_path: Path) -> None:
    """Neither have later ones, but for the base, which may be any."""
    pairs = [(1, 2, 30), (1, 3, 41), (2, 3, 41), (3, 2, 1000), (4, 2, 41), (2, 2, 30)]
    bases, candidates, bands = zip(*pairs, strict=True)
    nights = [
        [module(reserved=2000), module(reserved=2000 + width)]
        for width in (30, 41, 1000, 41)
    ]
    with connect(made(tmp_path / "w.duckdb", *nights)) as connection:
        rows = run_query(
            connection,
            "judged_pairs",
            {
                "base_runs": [*bases],
                "base_places": [1] * len(pairs),
                "candidate_runs": [*candidates],
                "candidate_places": [1] * len(pairs),
                "earlier_ids": [3, 2, 1],
            },
        ).dicts()
    found = {row["pair"]: row["noise_band_bytes"] for row in rows}
    assert [found[number] for number in sorted(found)] == [*bands]
