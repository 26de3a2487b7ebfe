"""Modules of two runs as the query `module_ladder` matches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hlodb.queries.run import run_query
from hlodb.reports.read.facts import Module, Run
from hlodb.schema.connection import Connection

PLAIN = Module(
    run_id=1,
    place=1,
    module_id=1,
    locations_id=1,
    module_number=1,
    first_number=None,
    rank=None,
    own_rank=None,
    program="jit_f",
    program_key=7,
    platform="cpu",
    num_partitions=1,
    entry_shapes="(f32[8])->f32[8]",
    source_shapes="(f32[8])->f32[8]",
    graph_fingerprint=11,
    exact_fingerprint=12,
    source_id=2,
    source_graph=21,
    path="m.txt",
    has_assignment=True,
)


def module(program: str = "jit_f", **more: Any) -> Module:
    """Return a module with these facts."""
    return PLAIN._replace(program=program, **more)


class Match(NamedTuple):
    """Two modules, why they are the same program, and how sure that is."""

    base: Module
    candidate: Module
    method: str
    confidence: float


def match_modules(
    connection: Connection,
    modules: Mapping[int, Sequence[Module]],
    base: Run,
    candidate: Run,
) -> tuple[list[Match], list[Module], list[Module]]:
    """Return the matches, and which modules of base and candidate have none."""
    asked = {"base_ids": [base.run_id], "candidate_ids": [candidate.run_id]}
    found: tuple[list[Match], list[Module], list[Module]] = ([], [], [])
    for row in run_query(connection, "module_ladder", asked).dicts():
        b, c = row["base_place"], row["candidate_place"]
        before = modules[base.run_id][b - 1] if b else None
        after = modules[candidate.run_id][c - 1] if c else None
        if before and after:
            match = Match(before, after, row["method"], row["confidence"])
            found[0].append(match)
        elif before:
            found[1].append(before)
        elif after:
            found[2].append(after)
    return found
