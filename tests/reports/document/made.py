"""Overviews made from a few rows, without a warehouse."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.read.facts import Run
from hlodb.reports.read.overview import OF_PROGRAMS, OF_RUNS, Overview, Row

PLACE = {
    "program": "jit_step",
    "module_number": 7,
    "rank": None,
    "path": "module_0007.jit_step.txt",
    "color": 0,
}
MIB = 1 << 20


def overview_of(reserved_bytes: int, **answers: Sequence[Row]) -> Overview:
    """Return an overview of one program in HBM: `answers` by query, others empty."""
    space = {
        **PLACE,
        "space_name": "HBM",
        "reserved_bytes": reserved_bytes,
        "usable_bytes": None,
        "nominal_bytes": None,
        "limit_from": None,
        "device": None,
        "is_refused": False,
        "is_cut": False,
        "caveat": None,
        "status": "unknown",
    }
    empty: dict[str, Sequence[Row]] = {query: [] for query in (*OF_RUNS, *OF_PROGRAMS)}
    run = Run(1, "run", *[None] * (len(Run._fields) - 2))
    return Overview(run, {**empty, "headroom": [space], **answers})
