"""Read the edits between sources (`source_edits`) and their shares (`edit_shares`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.read.differences import Difference, Modules
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """One edit between the sources of base and candidate, as `source_edits` has it.

    `delta_bytes` is by how much the results of its operations grew, in the source.
    """

    change: str
    rule_id: str | None
    sentence: str
    advice: str | None
    subject: str | None
    operation_count: int
    delta_bytes: int | None
    source_file: str | None
    source_path: str | None
    function_name: str | None
    base_line: int | None
    candidate_line: int | None


@dataclass(frozen=True, slots=True)
class EditShare:
    """The part of a difference that follows from one edit, or from none.

    `origin` is edit, inputs, several (edits, or edits and inputs) or unexplained;
    `edit` is the position in `edits`, from 1, where it is one edit.
    """

    origin: str
    edit: int | None
    delta_bytes: int
    buffer_count: int


_BATCH = 100
"""How many pairs are compared at once: bounds memory, not results."""


def read_source_edits(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[Modules, list[SourceEdit]]:
    """Return the edits of every pair with two other sources, the greatest first.

    Pairs of equal sources from equal places have the same.
    """
    edited = [
        (b, c)
        for b, c in pairs
        if None not in (b.source_id, c.source_id) and b.source_id != c.source_id
    ]
    asked = list({_sources(pair): pair for pair in edited}.values())
    found: dict[Hashable, list[SourceEdit]] = defaultdict(list)
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        given: dict[str, Any] = {
            "base_runs": [b.run_id for b, _ in batch],
            "base_ids": [b.source_id for b, _ in batch],
            "candidate_runs": [c.run_id for _, c in batch],
            "candidate_ids": [c.source_id for _, c in batch],
        }
        rows = run_query(connection, "source_edits", given).dicts()
        for row in sorted(rows, key=lambda row: row["place"]):
            edit = SourceEdit(*(row[name] for name in SourceEdit.__slots__))
            found[_sources(batch[row["pair"] - 1])].append(edit)
    return {pair: found[_sources(pair)] for pair in edited}


def read_edit_shares(
    connection: Connection, pairs: Sequence[Modules]
) -> Mapping[tuple[Modules, int], list[EditShare]]:
    """Return what follows from which edit by pair and colour, the greatest first.

    What is unexplained comes last.
    """
    if not pairs:
        return {}
    asked = list({_contents(pair): pair for pair in pairs}.values())
    given: dict[str, Any] = {
        "base_runs": [b.run_id for b, _ in asked],
        "base_places": [b.place for b, _ in asked],
        "candidate_runs": [c.run_id for _, c in asked],
        "candidate_places": [c.place for _, c in asked],
    }
    found: dict[Hashable, dict[int, list[EditShare]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in run_query(connection, "edit_shares", given).dicts():
        share = EditShare(
            row["origin"], row["place"], row["delta_bytes"], row["buffer_count"]
        )
        found[_contents(asked[row["pair"] - 1])][row["color"]].append(share)
    for of_colors in found.values():
        for shares in of_colors.values():
            shares.sort(key=_share_order)
    return {
        (pair, color): shares
        for pair in pairs
        for color, shares in found[_contents(pair)].items()
    }


def _share_order(share: EditShare) -> tuple[bool, int, int, str]:
    size = -abs(share.delta_bytes)
    return share.origin == "unexplained", size, share.edit or 0, share.origin


def _contents(pair: Modules) -> Hashable:
    return tuple(each.module_id for each in pair), _sources(pair)


def in_order_of_shares(
    edits: list[SourceEdit], shares: list[EditShare], difference: Difference
) -> tuple[list[SourceEdit], list[EditShare]]:
    """Put first the edit that most of a difference follows from."""
    sign = 1 if difference.delta_bytes >= 0 else -1
    bytes_of = {s.edit: sign * s.delta_bytes for s in shares if s.edit is not None}
    places = range(1, len(edits) + 1)
    order = sorted(places, key=lambda place: min(0, -bytes_of.get(place, 0)))
    now = {place: index + 1 for index, place in enumerate(order)}
    return [edits[place - 1] for place in order], [
        replace(s, edit=s.edit and now[s.edit]) for s in shares
    ]


def _sources(pair: Modules) -> Hashable:
    """Return what the edits of a pair follow from: contents, and where they lie."""
    return tuple((each.source_id, each.locations_id) for each in pair)
