"""Ranks of the runs that a report is about, in the words of its candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlodb.reports.facts import Module


def in_ranks_of(
    candidate: Sequence[Module], modules: Mapping[int, Sequence[Module]]
) -> dict[int, list[Module]]:
    """Give the modules of runs with the ranks by which the candidate knows them.

    Of two runs, one without ranks and one of a single rank, both are of the same host:
    only the names of its folders, or of its files, are others.
    """
    lone = _lone_rank(candidate)
    found = {run_id: list(of_run) for run_id, of_run in modules.items()}
    if not lone:
        return found
    for run_id, of_run in found.items():
        theirs = _lone_rank(of_run)
        if theirs and theirs != lone and None in theirs | lone:
            [rank] = lone
            found[run_id] = [m._replace(rank=rank) for m in of_run]
    return found


def _lone_rank(modules: Sequence[Module]) -> set[int | None]:
    """Give the rank that all modules have, or that they have none; else nothing."""
    ranks = {m.rank for m in modules}
    return ranks if len(ranks) == 1 else set()
