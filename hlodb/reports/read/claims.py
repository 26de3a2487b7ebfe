"""Read what is claimed of differences (`difference_claims`), in its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlodb.queries.run import run_query
from hlodb.reports.read.differences import Modules
from hlodb.schema.connection import Connection


@dataclass(frozen=True, slots=True)
class Claim:
    """What a difference follows from, as `difference_claims` has it.

    `kind` is edit, inputs, several or unexplained. `delta_bytes` is None where the
    difference was not split.
    """

    kind: str
    change: str | None
    rule_id: str | None
    claim: str
    advice: str | None
    subject: str | None
    operation_count: int | None
    source_file: str | None
    source_path: str | None
    source_line: int | None
    function_name: str | None
    is_line_edited: bool | None
    delta_bytes: int | None
    share_ratio: float | None
    buffer_count: int | None
    is_against: bool
    standing: str
    evidence_query: str
    evidence_parameters: str


_BATCH = 400
"""How many pairs are compared at once: bounds memory, not results."""


def read_claims(
    connection: Connection, pairs: Sequence[Modules], split: Collection[Modules]
) -> Mapping[tuple[Modules, int], list[Claim]]:
    """Return the claims of every pair of two sources, by memory space.

    Pairs of equal contents and sources from equal places have the same. The
    differences of pairs in `split` are split by what they follow from.
    """
    edited = [
        (b, c)
        for b, c in pairs
        if None not in (b.source_id, c.source_id) and b.source_id != c.source_id
    ]
    split_keys = {_key(pair) for pair in split}
    asked = list({_key(pair): pair for pair in edited}.values())
    found: dict[Hashable, dict[int, list[Claim]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        given: dict[str, Any] = {
            "base_runs": [b.run_id for b, _ in batch],
            "base_places": [b.place for b, _ in batch],
            "candidate_runs": [c.run_id for _, c in batch],
            "candidate_places": [c.place for _, c in batch],
            "split": [n for n, p in enumerate(batch, 1) if _key(p) in split_keys],
        }
        rows = run_query(connection, "difference_claims", given).dicts()
        for row in sorted(rows, key=lambda row: row["place"]):
            claim = Claim(*(row[name] for name in Claim.__slots__))
            found[_key(batch[row["pair"] - 1])][row["color"]].append(claim)
    return {
        (pair, color): claims
        for pair in edited
        for color, claims in found[_key(pair)].items()
    }


def _key(pair: Modules) -> Hashable:
    """Return what the claims of a pair follow from: contents, and where they lie."""
    return tuple(
        (each.run_id, each.module_id, each.source_id, each.locations_id)
        for each in pair
    )
