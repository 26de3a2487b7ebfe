"""Tuple elements that a text implies get the names that the assignment has for them."""

from __future__ import annotations

from typing import Any

import pytest

from hlodb.ingest.formats.hlo_text.blocks import BlockCache, InstructionCache
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.modules.implied_instructions import with_element_names
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import BufferAssignment, HloModule, Position

TEXT = """\
HloModule t

%other (p_0: f32[2]) -> f32[2] {
  %p_0 = f32[2]{0} parameter(0)
  ROOT %c = f32[2]{0} negate(%p_0)
}

ENTRY %main (p: (f32[2], (s32[], f32[2]))) -> f32[2] {
  %p = (f32[2]{0}, (s32[], f32[2]{0})) parameter(0)
  %a = f32[2]{0} add(%p#0, %p#1#1)
  ROOT %b = f32[2]{0} add(%a, %p#1#1)
}
"""
# XLA calls an element otherwise where another computation has its name.
IMPLIED = {"p_0": "p_0.1", "p_1": "p_1", "p_1_1": "p_1_1"}


def placed(*places: str) -> list[Position]:
    """Return the positions of a value each, as `a {0}, b` says them."""
    return [
        Position(value_id, name, index or None)
        for value_id, text in enumerate(places)
        for name, _, index in (place.partition(" ") for place in text.split(", "))
    ]


def named(cache: BlockCache[Any], positions: list[Position], steps: str) -> HloModule:
    """Return the module as it is called with an assignment of these positions."""
    [module] = parse_hlo(TEXT, cache).modules
    assignment = BufferAssignment(positions=positions, schedule=steps.split())
    return with_element_names(module, assignment)


@pytest.mark.parametrize("make", [InstructionCache, Distinct])
@pytest.mark.parametrize(
    ("places", "steps", "names"),
    [
        (
            ("p {0}, gte.1", "p {1}, gte.2", "p {1,1}, gte.2 {1}, gte.3"),
            "p gte.2 gte.1 gte.3 a b",
            {"p_0": "gte.1", "p_1": "gte.2", "p_1_1": "gte.3"},
        ),
        # Not between the tuple and the first reader.
        (("p {0}, gte.1",), "gte.1 p a b", {}),
        (("p {0}, gte.1",), "p a gte.1 b", {}),
        # Without a schedule positions tell alone.
        (("p {0}, gte.1",), "", {"p_0": "gte.1"}),
        # Two names for one element: one of them.
        (("p {0}, gte.1, gte.2",), "p gte.1 gte.2 a b", {"p_0": "gte.1"}),
        # One name for two elements, as values disagree: none.
        (("p {0}, gte.1", "p {1,1}, gte.1"), "p gte.1 a b", {}),
        # Names that the text has are left alone.
        (("p {0}, a",), "p a b", {}),
        ((), "p a b", {}),
    ],
)
def test_names(
    make: type[BlockCache[Any]],
    places: tuple[str, ...],
    steps: str,
    names: dict[str, str],
) -> None:
    module = named(make(), placed(*places), steps)
    called = IMPLIED | names
    assert [(i.name, i.opcode, i.operands) for i in module.instructions] == [
        ("p_0", "parameter", ()),
        ("c", "negate", ("p_0",)),
        ("p", "parameter", ()),
        (called["p_0"], "get-tuple-element", ("p",)),
        (called["p_1"], "get-tuple-element", ("p",)),
        (called["p_1_1"], "get-tuple-element", (called["p_1"],)),
        ("a", "add", (called["p_0"], called["p_1_1"])),
        ("b", "add", ("a", called["p_1_1"])),
    ]
