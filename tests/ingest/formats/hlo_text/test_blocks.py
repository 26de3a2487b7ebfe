"""What is read ahead is what reading line by line gives."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text import blocks, module
from hlodb.ingest.formats.hlo_text.blocks import Block, BlockCache, InstructionCache
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.records import Instruction
from tests.fuzz.seeds import seeds

TEXT = """\
HloModule jit_f, is_scheduled=true

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  ROOT %add.1 = f32[] add(%x, %x)
} // add

%empty () -> f32[] {
}

%wrapped (p: f32[2]) -> f32[2] {
  %c = f32[2]{0} constant({
    1, 2 })
}
ENTRY %main (p: (f32[2])) -> f32[2] {
  %p = (f32[2]{0}) parameter(0)
  ROOT %n = f32[2]{0} negate(%p#0)
}, execution_thread="host"

HloModule jit_g

ENTRY g {
  ROOT q = f32[] parameter(0)
}
"""
ODD = (
    "\n", "\n\n", "}", "\n}", "\n}\n", "{", " {\n", "g {\n", " ", "  }\n", "\r",
    "\n// x", "} // y\n", '}, execution_thread="a"', '"', "\\", "HloModule h\n",
    "ENTRY ", "StackFrames\n", "(", "a = f32[] add(b)\n", "\n  %y is missing",
    "#0", "%p#0", "  %m = f32[2]{0} negate(%p#0)\n",
    "\u2028", "\v",
)  # fmt: skip


class LineByLine(InstructionCache):
    """A cache that says of every computation that it is not plain."""

    def blocks(self, texts: Sequence[str]) -> list[Block[list[Instruction]] | None]:
        return [None] * len(texts)


@st.composite
def changed_texts(draw: st.DrawFn) -> str:
    text = TEXT
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.sampled_from((0, 0, 1, 3, 30)))
        text = text[:at] + draw(st.sampled_from(ODD)) + text[at + gone :]
    return text


def everything(text: str, cache: BlockCache[Any]) -> list[Any]:
    """Return all that was read, and the fields that records are compared without."""
    parsed = parse_hlo(text, cache)
    modules = [
        {
            **{f.name: as_list(getattr(m, f.name)) for f in fields(m)},
            "instructions": with_roots(m),
        }
        for m in parsed.modules
    ]
    return [modules, parsed.rejects, parsed.unclaimed, parsed.lines_total]


def as_list(value: Any) -> Any:
    """Return a sequence as a list: the grammar gives others than the lines."""
    return list(value) if isinstance(value, (tuple, array)) else value


def with_roots(module: Any) -> list[Instruction]:
    """Return the instructions as tables have them: without ROOT, the last is one."""
    found = list(module.instructions)
    for computation in module.computations:
        body = found[computation.start : computation.stop]
        if body and not any(each.is_root for each in body):
            found[computation.stop - 1] = body[-1]._replace(is_root=True)
    return found


@given(changed_texts())
@example(TEXT)
@example(TEXT.replace("\n", "\r\n"))
@example(TEXT.replace("\n\n", "\n\n\n"))
@example(TEXT.replace("}\n", "} // %m = f32[2]{0} negate(%p#0)\n", 1))
@example(TEXT.replace("// add", "// %p#0").replace("%empty ()", "%empty ()\n  %y is"))
def test_what_is_read_ahead_is_what_the_lines_say(text: str) -> None:
    assert everything(text, InstructionCache()) == everything(text, LineByLine())


def test_real_modules_read_ahead_are_what_their_lines_say() -> None:
    for data in seeds()["hlo_text"]:
        text = data.decode()
        assert everything(text, InstructionCache()) == everything(text, LineByLine())


@pytest.mark.parametrize("characters", [1, 100])
def test_reading_ahead_in_short_pieces(
    characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = everything(TEXT * 3, InstructionCache())
    monkeypatch.setattr(blocks, "_AHEAD", characters)
    assert everything(TEXT * 3, InstructionCache()) == whole


@given(changed_texts(), st.integers(1, 120))
@example(TEXT, 40)
@example(TEXT.replace("%n =", "%m = f32[2]{0} negate(%p#0)\n  %n ="), 60)
def test_long_computations_are_read_in_parts(text: str, characters: int) -> None:
    whole = everything(text, LineByLine())
    with (
        patch.object(blocks, "_AHEAD", 1),
        patch.object(module, "_MANY", characters),
    ):
        assert everything(text, InstructionCache()) == whole
        assert everything(text, LineByLine()) == whole


def test_real_modules_are_read_in_parts() -> None:
    for data in seeds()["hlo_text"]:
        text = data.decode()
        whole = everything(text, InstructionCache())
        with patch.object(blocks, "_AHEAD", 1), patch.object(module, "_MANY", 300):
            assert everything(text, InstructionCache()) == whole
