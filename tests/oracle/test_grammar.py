"""Texts as people write them: what XLA takes we take alike, what it refuses we reject.

`make oracle` runs these; they are skipped where jaxlib is not installed. With
`python -m tests.oracle.test_grammar` what XLA makes of the first texts is written to
where the tests without jaxlib find it.
"""

from __future__ import annotations

import json
import lzma
from importlib.util import find_spec

import pytest

from tests.oracle.grammar import texts
from tests.oracle.xla_reading import KEPT, Reading, our_reading, read_all

pytestmark = pytest.mark.oracle

TEXTS = 1200
KEPT_TEXTS = 160


def test_texts_by_hand_are_read_as_by_xla() -> None:
    if find_spec("jaxlib") is None:
        pytest.skip("jaxlib is not installed: `make oracle` installs it")
    made = list(texts(TEXTS))
    taken = refused = 0
    different = []
    for (what, text), theirs in zip(made, read_all([t for _, t in made]), strict=True):
        if not theirs.is_comparable:
            continue
        taken += theirs.outline is not None
        refused += theirs.outline is None
        if our_reading(text) != theirs.outline:
            different.append((what, text, theirs.message))
    assert different == []
    assert taken >= 500 and refused >= 300, (taken, refused)


def keep() -> None:
    """Write what XLA makes of some texts to where `make test` compares it."""
    made = [text for _, text in texts(KEPT_TEXTS)]
    pairs: list[tuple[str, Reading]] = list(zip(made, read_all(made), strict=True))
    rows = [
        {"text": text, "xla": theirs.outline}
        for text, theirs in pairs
        if theirs.is_comparable
    ]
    KEPT.write_bytes(lzma.compress(json.dumps(rows, indent=0).encode()))


if __name__ == "__main__":
    keep()
