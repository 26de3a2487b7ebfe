"""HLO text as people write and edit it, read as XLA's own parser reads it."""

from __future__ import annotations

import json
import lzma
from typing import Any

import pytest

from hlodb.ingest.formats.hlo_text.blocks import BlockCache, InstructionCache
from hlodb.ingest.formats.hlo_text.module import ParsedHlo, parse_hlo
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.records import (
    Attributes,
    Call,
    Computation,
    HloModule,
    Instruction,
    Location,
    Reject,
    Unclaimed,
)
from tests.oracle.xla_reading import KEPT, our_reading

P = Instruction("a", "parameter", "f32[2]", parameter_number=0)
INDEX_0 = Attributes(other="index=0")


def read(text: str, cache: BlockCache[Any] | None = None) -> ParsedHlo:
    return parse_hlo(text, cache)


def instruction(
    name: str, opcode: str, shape: str, *operands: str, **more: Any
) -> Instruction:
    return Instruction(name, opcode, shape, operands, **more)


def entry(*instructions: Instruction, **more: Any) -> HloModule:
    """Return a module `m` whose only computation is its entry `e`."""
    own = Computation("e", True, 0, len(instructions))
    return HloModule("m", more.get("header", {}), (own,), list(instructions), [])


NEGATED = entry(P, instruction("b", "negate", "f32[2]", "a", is_root=True))
SUM = entry(P, instruction("b", "add", "f32[2]", "a", "a", is_root=True))
WITH_ATTRIBUTES = entry(
    P,
    instruction(
        "b", "negate", "f32[2]", "a", is_root=True,
        attributes=Attributes(op_name="n", other='frontend_attributes={x="1", y="2"}'),
        location=Location("f.py", 3, None, None, None, None),
    ),
)  # fmt: skip
SCHEDULED = HloModule(
    "m", {"is_scheduled": "true", "replica_count": "2"}, NEGATED.computations,
    NEGATED.instructions, [],
)  # fmt: skip
NESTED = entry(
    P,
    instruction("multiply.anon", "multiply", "f32[2]", "a", "a"),
    instruction("b", "power", "f32[2]", "multiply.anon", "a", is_root=True),
)
INFERRED = entry(
    P,
    instruction("multiply.anon", "multiply", "f32[2]", "a", "a"),
    instruction("negate.anon", "negate", "f32[2]", "multiply.anon"),
    instruction("b", "power", "f32[2]", "negate.anon", "a", is_root=True),
)
SIDE_EFFECT = entry(
    Instruction("tok", "after-all", "token[]"),
    instruction(
        "b", "custom-call", "f32[2]", "tok", is_root=True,
        attributes=Attributes(custom_call_target="f"),
    ),
)  # fmt: skip
INLINE = HloModule(
    "m",
    {},
    (Computation("_", False, 0, 3), Computation("e", True, 3, 5)),
    [
        Instruction("x", "parameter", "f32[]", parameter_number=0),
        Instruction("y", "parameter", "f32[]", parameter_number=1),
        instruction("s", "add", "f32[]", "x", "y", is_root=True),
        P,
        instruction(
            "b", "map", "f32[2]", "a", "a", is_root=True,
            calls=(Call("to_apply", ("_",)),),
            attributes=Attributes(other="dimensions={0}"),
        ),
    ],
    [],
)  # fmt: skip
FUSED = HloModule(
    "m",
    {},
    (
        Computation("f", False, 0, 2),
        Computation("async_wrapped", False, 2, 4),
        Computation("e", True, 4, 7),
    ),
    [
        Instruction("p", "parameter", "f32[2]", parameter_number=0),
        instruction("n", "negate", "f32[2]", "p", is_root=True),
        Instruction("async_param", "parameter", "f32[2]", parameter_number=0),
        instruction(
            "fusion", "fusion", "f32[2]", "async_param", is_root=True,
            calls=(Call("calls", ("f",)),), attributes=Attributes(fusion_kind="kLoop"),
        ),
        P,
        instruction(
            "s", "async-start", "((f32[2]), f32[2], s32[])", "a",
            calls=(Call("calls", ("async_wrapped",)),),
        ),
        instruction("d", "async-done", "f32[2]", "s", is_root=True),
    ],
    [],
)  # fmt: skip
COLLIDING = entry(
    Instruction("p0_0", "parameter", "f32[2]", parameter_number=1),
    Instruction("p0", "parameter", "(f32[2], s32[])", parameter_number=0),
    instruction(
        "p0_0.1", "get-tuple-element", "f32[2]", "p0", attributes=INDEX_0
    ),
    instruction("b", "add", "f32[2]", "p0_0.1", "p0_0", is_root=True),
)  # fmt: skip
TWICE = HloModule(
    "m",
    {},
    (Computation("f", False, 0, 2), Computation("e", True, 2, 4)),
    [
        P,
        instruction("b", "negate", "f32[2]", "a", is_root=True),
        P._replace(name="a.1"),
        instruction(
            "b.1", "call", "f32[2]", "a.1", calls=(Call("to_apply", ("f",)),),
            is_root=True,
        ),
    ],
    [],
)  # fmt: skip

EXAMPLES = {
    "comment before the header": (
        "/* by\n HloModule hand */ // twice\nHloModule m\nENTRY e {\n"
        "  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n",
        NEGATED, [5, 6],
    ),
    "comments within bodies, over lines": (
        "HloModule m // m\nENTRY e {\n  a = f32[2] parameter(0) // a }\n  /* b\n"
        "  c } */\n  ROOT b = f32[2] /* d */ negate(/* e\n */ a)\n}\n",
        NEGATED, [3, 6],
    ),
    "no blank after a comma": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] add(a,a)\n}\n",
        SUM, [3, 4],
    ),
    "two blanks after a comma": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] add(a,  a)\n}\n",
        SUM, [3, 4],
    ),
    "a blank behind the parenthesis": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] negate( a)\n}\n",
        NEGATED, [3, 4],
    ),
    "a blank before the parenthesis": (
        "HloModule m\nENTRY e {\n  tok = token[] after-all()\n"
        '  ROOT b = f32[2] custom-call (%tok), custom_call_target="f"\n}\n',
        SIDE_EFFECT, [3, 4],
    ),
    "nested operands": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] power(f32[2] multiply(a, a), a)\n}\n",
        NESTED, [3, 4, 4],
    ),
    "nested operands without shapes": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = power(negate(multiply(a, a)), a)\n}\n",
        INFERRED, [3, 4, 4, 4],
    ),
    "a header over lines": (
        "HloModule m,\n  is_scheduled=true\n  , replica_count=2\n\nENTRY e {\n"
        "  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n",
        SCHEDULED, [6, 7],
    ),
    "an ENTRY line over lines": (
        "HloModule m\n\nENTRY\n  %e\n  (a: f32[2])\n  -> f32[2]\n{\n"
        "  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n",
        NEGATED, [8, 9],
    ),
    "attributes over lines": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] negate(a),"
        '\n    // why\n    metadata={op_name="n" source_file="f.py"\n'
        '      source_line=3},\n    frontend_attributes={x="1",\n      y="2"}\n}\n',
        WITH_ATTRIBUTES, [3, 4],
    ),
    "no ENTRY": (
        "HloModule m\ne {\n  a = f32[2] parameter(0)\n  b = f32[2] negate(a)\n}\n",
        entry(P, instruction("b", "negate", "f32[2]", "a")), [3, 4],
    ),
    "all in one line": (
        "HloModule m ENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }",
        NEGATED, [1, 1],
    ),
    "an inline body": (
        "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] map(a, a), dimensions={0}, to_apply={\n"
        "    x = f32[] parameter(0)\n    y = f32[] parameter(1)\n"
        "    ROOT s = f32[] add(x, y)\n  }\n}\n",
        INLINE, [5, 6, 7, 3, 4],
    ),
    "async sugar": (
        "HloModule m\nf {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n"
        "ENTRY e {\n  a = f32[2] parameter(0)\n  s = ((f32[2]), f32[2], s32[]) "
        "fusion-start(a), kind=kLoop, calls=f\n  ROOT d = f32[2] fusion-done(s)\n}\n",
        FUSED, [3, 4, 8, 8, 7, 8, 9],
    ),
    "a name that an element would get": (
        "HloModule m\nENTRY e {\n  %p0_0 = f32[2] parameter(1)\n"
        "  %p0 = (f32[2], s32[]) parameter(0)\n"
        "  ROOT %b = f32[2] add(%p0#0, %p0_0)\n}\n",
        COLLIDING, [3, 4, 5, 5],
    ),
    "equal names in two computations": (
        "HloModule m\nf {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n"
        "ENTRY e {\n  a = f32[2] parameter(0)\n"
        "  ROOT b = f32[2] call(a), to_apply=f\n}\n",
        TWICE, [3, 4, 7, 8],
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", [InstructionCache, Distinct])
@pytest.mark.parametrize(
    ("text", "module", "lines"), list(EXAMPLES.values()), ids=list(EXAMPLES)
)
def test_what_xla_takes(
    make: type[BlockCache[Any]], text: str, module: HloModule, lines: list[int]
) -> None:
    found = read(text, make())
    assert (found.rejects, found.unclaimed) == ([], [])
    [read_module] = found.modules
    assert list(read_module.instructions) == list(module.instructions)
    assert read_module.computations == module.computations
    assert (read_module.name, read_module.header) == (module.name, module.header)
    assert list(read_module.lines) == lines
    assert found.lines_total == text.count("\n") + (not text.endswith("\n"))


BODY = "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n"


@pytest.mark.parametrize("make", [InstructionCache, Distinct])
@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (
            BODY + "  ROOT b = f32[2] add(a, c)\n}\n", (4, 26),
            "there is no instruction c above in this computation",
        ),
        (
            BODY + "  ROOT b = f32[2] negate(a, a)\n}\n", (4, 19),
            "expected 1 operand of negate, not 2",
        ),
        (
            BODY + "  a = f32[2] negate(a)\n}\n", (4, 3),
            "instruction a is there already",
        ),
        (
            BODY + "  ROOT b = f32[2] call(a), to_apply=g\n}\n", (4, 37),
            "there is no computation g above",
        ),
        (
            BODY + "  ROOT b = f32[2] negatee(a)\n}\n", (4, 19),
            "no opcode negatee is known",
        ),
        (
            BODY + "  ROOT b = f33[2] negate(a)\n}\n", (4, 12),
            "no opcode f33 is known",
        ),
        (
            BODY + "  ROOT b = get-tuple-element(a)\n}\n", (4, 12),
            "expected the attribute index of get-tuple-element",
        ),
        (
            BODY + "  ROOT b = convert(a)\n}\n", (4, 12),
            "expected a shape: that of convert does not follow",
        ),
        (
            BODY + "  ROOT b = f32[2] negate(a)\n}\nENTRY f {\n"
            "  c = f32[2] parameter(0)\n}\n", (6, 1),
            "a second computation is marked ENTRY",
        ),
        (
            BODY + "  ROOT b = f32[2] negate(a)\n  ROOT c = f32[2] negate(a)\n}\n",
            (5, 3), "a second instruction is marked ROOT",
        ),
        (
            BODY + "  s = ((f32[2]), f32[2], s32[]) negate-start(a)\n"
            "  ROOT b = f32[2] abs-done(s)\n}\n", (5, 19),
            "s is of negate, not of abs",
        ),
        (
            BODY + "  ROOT b = f32[2] constant({1, 2, 3})\n}\n", (4, 28),
            "expected 2 elements, not 3",
        ),
    ],
)  # fmt: skip
def test_what_xla_refuses_is_rejected_with_its_place(
    make: type[BlockCache[Any]], text: str, place: tuple[int, int], message: str
) -> None:
    found = read(text, make())
    line = text.split("\n")[place[0] - 1]
    assert found.rejects == [Reject(*place, "module", "invalid_hlo", message, line)]
    # What could be read is kept.
    assert [module.name for module in found.modules] == ["m"]
    assert next(iter(found.modules[0].instructions)) == P


def test_log_lines_around_unusual_modules_are_left_alone() -> None:
    text = EXAMPLES["nested operands"][0]
    found = read(f"I0801 compiling (m)\n{text}I0801 done\n{text}")
    assert found.rejects == []
    assert found.unclaimed == [
        Unclaimed(1, "I0801 compiling (m)"),
        Unclaimed(7, "I0801 done"),
    ]
    assert [module.instructions for module in found.modules] == [
        NESTED.instructions
    ] * 2
    assert [list(module.lines) for module in found.modules] == [[4, 5, 5], [10, 11, 11]]


def test_a_missing_entry_is_told_from_an_unmarked_one() -> None:
    """The header tells how many parameters the entry has; a cut text lacks it."""
    body = "f {\n  a = f32[2] parameter(0)\n}\n"
    whole = "HloModule m, entry_computation_layout={(f32[2])->f32[2]}\n" + body
    assert read(whole).rejects == []
    cut = "HloModule m, entry_computation_layout={(f32[2], f32[2])->f32[2]}\n" + body
    assert [(r.line, r.code) for r in read(cut).rejects] == [(4, "no_entry")]


def test_texts_that_a_grammar_makes_are_read_as_by_xla() -> None:
    kept = json.loads(lzma.decompress(KEPT.read_bytes()))
    assert len(kept) >= 150
    for row in kept:
        assert our_reading(row["text"]) == row["xla"], row["text"]
