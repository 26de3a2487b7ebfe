"""Text that only implies get-tuple-elements is read as if it had a line for each."""

from __future__ import annotations

import tarfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text.elements import implied_elements
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.scan import without_comments
from hlodb.ingest.records import HloModule
from tests.conftest import DATA

RELEASES = ("cpu-jaxlib-0.12.0", "tpu-v5e-jax-0.12.0")

COMPACT = """\
HloModule t

ENTRY %main (p: ((f32[2], s32[3]), f32[])) -> (f32[2], s32[3]) {
  %p = ((f32[2]{0}, s32[3]{0:T(128)}), f32[]) parameter(0)
  %neg = s32[3]{0:T(128)} negate(%p#0#1), metadata={op_name="%p#1"}
  %a = f32[2]{0} add(%p#0#0, %p#0#0)
  %c = s32[3]{0:T(128)} add(%neg, s32[3]{0:T(128)} %p#0#1)
  ROOT %t = (f32[2]{0}, s32[3]{0:T(128)}) tuple(%a, /*index=1*/%c)
}
"""
# Names and places are those that jaxlib 0.12.0 gives when it reads COMPACT.
IN_FULL = """\
HloModule t

ENTRY %main (p: ((f32[2], s32[3]), f32[])) -> (f32[2], s32[3]) {
  %p = ((f32[2]{0}, s32[3]{0:T(128)}), f32[]) parameter(0)
  %p_0 = (f32[2]{0}, s32[3]{0:T(128)}) get-tuple-element(%p), index=0
  %p_0_1 = s32[3]{0:T(128)} get-tuple-element(%p_0), index=1
  %neg = s32[3]{0:T(128)} negate(%p_0_1), metadata={op_name="%p#1"}
  %p_0_0 = f32[2]{0} get-tuple-element(%p_0), index=0
  %a = f32[2]{0} add(%p_0_0, %p_0_0)
  %c = s32[3]{0:T(128)} add(%neg, s32[3]{0:T(128)} %p_0_1)
  ROOT %t = (f32[2]{0}, s32[3]{0:T(128)}) tuple(%a, /*index=1*/%c)
}
"""


def parsed(text: str) -> HloModule:
    """Return the only module of a text in which nothing is wrong."""
    found = parse_hlo(text)
    assert (found.rejects, found.unclaimed) == ([], [])
    [module] = found.modules
    return module


def test_elements_stand_above_their_first_reader_as_in_xla() -> None:
    compact = parsed(COMPACT)
    assert compact == parsed(IN_FULL)
    # Each shares the line of its reader.
    assert list(compact.lines) == [4, 5, 5, 5, 6, 6, 7, 8]
    assert implied_elements(compact.lines) == [1, 2, 4]
    assert implied_elements(parsed(IN_FULL).lines) == []


def test_the_same_line_by_line() -> None:
    """As a computation is read that holds an instruction of several lines."""
    wrapped = "  %w = f32[2]{0} constant({\n    1, 2 })\n"
    head = "%p = (("
    compact = parsed(COMPACT.replace(head, wrapped.lstrip() + "  " + head))
    assert compact == parsed(IN_FULL.replace(head, wrapped.lstrip() + "  " + head))
    assert list(compact.lines) == [4, 6, 7, 7, 7, 8, 8, 9, 10]


@pytest.mark.parametrize(
    ("operand", "elements"),
    [
        ("%none#0", ["p_0", "p_0_1", "p_0_0"]),
        ("%p#2", ["p_0", "p_0_1", "p_0_0"]),
        ("%p#1#0", ["p_0", "p_0_1", "p_0_0", "p_1"]),
        ("%neg#0", ["p_0", "p_0_1", "p_0_0"]),
        ("%p#", ["p_0", "p_0_1", "p_0_0"]),
        ("%p#1x", ["p_0", "p_0_1", "p_0_0"]),
        (f"%p#{10**12}", ["p_0", "p_0_1", "p_0_0"]),
    ],
)
def test_what_is_no_element_is_left_out(operand: str, elements: list[str]) -> None:
    odd = parse_hlo(COMPACT.replace("tuple(%a", f"tuple({operand}"))
    assert [(r.line, r.section, r.code) for r in odd.rejects] == [
        (8, "module", "invalid_hlo")
    ]
    [module] = odd.modules
    found = [module.instructions[at].name for at in implied_elements(module.lines)]
    assert found == elements


def outline(module: HloModule) -> dict[str, list[Any]]:
    """Return the instructions of each computation, whatever their order.

    jaxlib prints async operations without what they call: these are left out.
    """
    return {
        c.name: sorted(
            (i.name, i.opcode, without_comments(i.shape or ""), i.operands, i.is_root)
            for i in module.instructions[c.start : c.stop]
            if not i.opcode.endswith(("-start", "-done"))
        )
        for c in module.computations
        if not c.name.startswith(("async_computation", "async_wrapped"))
    }


def texts(name: str) -> dict[str, str]:
    """Return the HLO texts of an archive."""
    found = {}
    with tarfile.open(DATA / "compact" / f"{name}.tar.xz") as archive:
        for member in archive:
            data = archive.extractfile(member)
            assert data is not None
            text = data.read().decode("utf-8", "replace")
            if text.startswith("HloModule "):
                found[member.name] = text
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_real_dumps_are_read_as_by_xla(release: str) -> None:
    compact, in_full = texts(release), texts(f"{release}.in_full")
    assert compact.keys() == {name.replace(".in_full", "") for name in in_full}
    for name, text in in_full.items():
        ours = parsed(compact[name.replace(".in_full", "")])
        assert outline(ours) == outline(parsed(text)), name
        assert "#" not in "".join(o for i in ours.instructions for o in i.operands)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Return a computation in compact form, and in full."""
    compact, full = [], []
    tuples: dict[str, int] = {}
    added: set[str] = set()
    head = "HloModule h\n\nENTRY %e () -> f32[] {\n"
    for number in range(draw(st.integers(1, 8))):
        width = draw(st.integers(1, 3))
        operands, plain = [], []
        for _ in range(draw(st.integers(0, 3)) if tuples else 0):
            name = draw(st.sampled_from(sorted(tuples)))
            at = draw(st.integers(0, tuples[name] - 1))
            operands.append(f"%{name}#{at}")
            plain.append(f"%{name}_{at}")
            if plain[-1] not in added:
                added.add(plain[-1])
                element = f"f32[{at}]{{0}} get-tuple-element(%{name}), index={at}"
                full.append(f"  {plain[-1]} = {element}")
        shape = f"({', '.join(f'f32[{n}]{{0}}' for n in range(width))})"
        line = f"  %t.{number} = {shape} all-to-all("
        compact.append(line + ", ".join(operands) + ")")
        full.append(line + ", ".join(plain) + ")")
        tuples[f"t.{number}"] = width
    return head + "\n".join(compact) + "\n}\n", head + "\n".join(full) + "\n}\n"


@given(pairs())
def test_any_compact_text_is_that_in_full(pair: tuple[str, str]) -> None:
    compact, full = pair
    assert parsed(compact) == parsed(full)
