"""Which layers the overview of a program shows, and which share a line."""

from __future__ import annotations

import pytest

from hlodb.reports.document.blocks import Table
from hlodb.reports.document.explanation import outline
from tests.reports.document.made import MIB, PLACE, overview_of


def shown(layers: dict[str, int], top: int = 9) -> list[tuple[str, ...]]:
    """Return the rows about layers that hold so many MiB each."""
    whole = sum(layers.values())
    rows = []
    for layer, mebibytes in layers.items():
        name, _, number = layer.rpartition("_")
        rows.append(
            {
                **PLACE,
                "layer": layer,
                "layer_name": name or None,
                "layer_number": int(number) if name else None,
                "owned_bytes": mebibytes * MIB,
                "peak_ratio": mebibytes / whole,
            }
        )
    overview = overview_of(whole * MIB, peak_by_layer=rows)
    blocks = outline(overview, 1, top)[0].blocks
    return [row for block in blocks if isinstance(block, Table) for row in block.rows]


@pytest.mark.parametrize(
    ("layers", "rows"),
    [
        (
            {"(no layer)": 8, "block_10": 4, "block_9": 4, "block_11": 4, "Dense_0": 1},
            [
                ("12.00 MiB", "57.1 %", "block_9 … block_11", "3 of 4.00 MiB"),
                ("8.00 MiB", "38.1 %", "(no layer)", ""),
                ("1.00 MiB", "4.8 %", "Dense_0", ""),
            ],
        ),
        (
            {"block_0": 4, "block_1": 6},
            [
                (
                    "10.00 MiB",
                    "100.0 %",
                    "block_0 … block_1",
                    "2 of 4.00 MiB to 6.00 MiB",
                )
            ],
        ),
        (
            {"Conv_0": 33, "Conv_1": 5, "Conv_2": 2},
            [
                ("33.00 MiB", "82.5 %", "Conv_0", ""),
                ("5.00 MiB", "12.5 %", "Conv_1", ""),
                ("2.00 MiB", "5.0 %", "Conv_2", ""),
            ],
        ),
        ({"(no layer)": 20, "Dense_0": 12, "Embed_0": 12}, []),
        ({"(no layer)": 98, "stages_0": 1, "stages_1": 1}, []),
        ({"(no layer)": 1}, []),
    ],
)
def test_rows_of_layers(layers: dict[str, int], rows: list[tuple[str, ...]]) -> None:
    assert shown(layers) == rows


def test_what_is_cut_is_counted() -> None:
    assert shown({"Conv_0": 33, "Conv_1": 5, "Conv_2": 2}, top=1)[1:] == [
        ("", "", "[2 others]", "")
    ]
