import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.hlo_text.blocks import InstructionCache
from hlodb.ingest.formats.hlo_text.header import aliases, entry_layout
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.records import (
    Alias,
    Computation,
    Frame,
    HloModule,
    Instruction,
    Reject,
    Unclaimed,
)

TWO = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }, \
entry_computation_layout={(f32[2]{0}, /*index=5*/f32[3]{0})->f32[2]{0}}

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x, %y)
} // add

ENTRY %main (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%p)
}, execution_thread="host"
"""
ADD = [
    Instruction("x", "parameter", "f32[]", parameter_number=0),
    Instruction("y", "parameter", "f32[]", parameter_number=1),
    Instruction("add.1", "add", "f32[]", ("x", "y"), is_root=True),
]
MAIN = [
    Instruction("p", "parameter", "f32[2]{0}", parameter_number=0),
    Instruction("n", "negate", "f32[2]{0}", ("p",), is_root=True),
]


def test_module_with_two_computations() -> None:
    parsed = parse_hlo(TWO)
    assert (parsed.rejects, parsed.unclaimed, parsed.lines_total) == ([], [], 12)
    [module] = parsed.modules
    assert module == HloModule(
        name="jit_f",
        header=module.header,
        computations=(
            Computation("add", False, 0, 3, None),
            Computation("main", True, 3, 5, "host"),
        ),
        instructions=ADD + MAIN,
        lines=[],
    )
    assert list(module.lines) == [4, 5, 6, 10, 11]
    assert module.header["is_scheduled"] == "true"
    assert aliases(module.header) == [Alias("{0}", 1, "{}", "may-alias")]
    assert entry_layout(module.header) == "(f32[2]{0}, f32[3]{0})->f32[2]{0}"


def test_donors_and_old_aliases() -> None:
    header = {
        "input_output_alias": "{ {}: (0, {1,2}, must-alias), {1}: 3 }",
        "buffer_donor": "{ (2, {}), (4, {0}) }",
    }
    assert aliases(header) == [
        Alias("{}", 0, "{1,2}", "must-alias"),
        Alias(None, 2, "{}", "donor"),
        Alias(None, 4, "{0}", "donor"),
    ]


def test_several_modules_between_log_lines() -> None:
    text = f"I0801 compiling\n{TWO}// -----\n{TWO}Traceback (most recent call last):\n"
    parsed = parse_hlo(text)
    assert [m.instructions for m in parsed.modules] == [ADD + MAIN, ADD + MAIN]
    assert parsed.rejects == []
    assert parsed.unclaimed == [
        Unclaimed(1, "I0801 compiling"),
        Unclaimed(27, "Traceback (most recent call last):"),
    ]


def test_no_header_and_no_entry_keyword() -> None:
    parsed = parse_hlo(
        "f {\n  p = f32[] parameter(0)\n}\ng {\n  q = f32[] parameter(0)\n}"
    )
    [module] = parsed.modules
    assert (module.name, parsed.rejects) == ("module_g", [])
    assert [(c.name, c.is_entry) for c in module.computations] == [
        ("f", False),
        ("g", True),
    ]


def test_header_over_several_lines_with_a_module_in_a_string() -> None:
    text = (
        'HloModule f, origin_recovery_table={\n  {"a" {0}} : {"b"}, "HloModule g\n'
        'ENTRY e {\n  ROOT x = f32[] parameter(0)\n}"\n}\n\n'
        "ENTRY main {\n  ROOT p = f32[] parameter(0)\n}\n"
    )
    parsed = parse_hlo(text)
    [module] = parsed.modules
    assert (module.name, parsed.rejects, parsed.unclaimed) == ("f", [], [])
    assert [i.name for i in module.instructions] == ["p"]
    assert list(module.lines) == [9]


def test_instructions_that_wrap() -> None:
    text = (
        "ENTRY main {\n  c = f32[2,2]{1,0} constant({\n    { 1, 2 },\n    { 3, 4 }\n"
        "  })\n  // a comment\n  ROOT n = f32[2,2]{1,0} negate(c),\n"
        '    metadata={op_name="n"}\n}\n'
    )
    parsed = parse_hlo(text)
    [module] = parsed.modules
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert [(i.name, i.opcode) for i in module.instructions] == [
        ("c", "constant"),
        ("n", "negate"),
    ]
    assert module.instructions[0].literal == "{ { 1, 2 }, { 3, 4 } }"
    assert module.instructions[1].attributes.op_name == "n"
    assert list(module.lines) == [2, 7]


def test_stack_frames_have_the_parents_of_the_proto() -> None:
    text = (
        'HloModule f\n\nFileNames\n1 "a.py"\n\nFunctionNames\n1 "main"\n2 "go"\n\n'
        "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7 column=2}\n"
        "2 {file_name_id=1 function_name_id=2 line=9 column=4}\n\nStackFrames\n"
        "1 {file_location_id=1 parent_frame_id=1}\n"
        "2 {file_location_id=2 parent_frame_id=2}\n\n"
        "ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n"
    )
    parsed = parse_hlo(text)
    assert (parsed.rejects, parsed.unclaimed) == ([], [])
    assert parsed.modules[0].frames == (
        Frame(1, None, "main", "a.py", 7, 2),
        Frame(2, 1, "go", "a.py", 9, 4),
    )


def test_a_cut_text_keeps_its_rows_and_names_the_line() -> None:
    cut = TWO[: TWO.index("  ROOT %n")]
    parsed = parse_hlo(cut)
    assert [m.instructions for m in parsed.modules] == [ADD + MAIN[:1]]
    assert parsed.rejects == [
        Reject(
            10,
            1,
            "computation",
            "truncated",
            "the text ends inside a computation; the rows up to here are kept",
            "  %p = f32[2]{0} parameter(0)",
        )
    ]


def test_a_broken_line_costs_no_other() -> None:
    text = TWO.replace("  %y = f32[] parameter(1)", "  %y is missing")
    parsed = parse_hlo(text)
    assert [m.instructions for m in parsed.modules] == [[ADD[0], ADD[2], *MAIN]]
    assert parsed.rejects == [
        Reject(
            5,
            1,
            "instruction",
            "no_instruction",
            "expected `name = shape opcode(…)`",
            "  %y is missing",
        )
    ]


def test_equal_lines_are_parsed_once() -> None:
    cache = InstructionCache()
    first = parse_hlo(TWO, cache).modules[0].instructions
    second = parse_hlo(TWO.replace("jit_f", "jit_g"), cache).modules[0].instructions
    assert all(a is b for a, b in zip(first, second, strict=True))


def test_line_ends_of_windows() -> None:
    assert parse_hlo(TWO.replace("\n", "\r\n")).modules == parse_hlo(TWO).modules


@settings(max_examples=200)
@given(st.data())
def test_mutated_text_ends_in_records_and_rejects(data: st.DataObject) -> None:
    text = TWO
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.text(max_size=6)) + text[at + gone :]
    parsed = parse_hlo(text)
    for module in parsed.modules:
        assert len(module.lines) == len(module.instructions)
        assert all(0 < line <= parsed.lines_total for line in module.lines)


@given(st.text(alphabet="ENTRYHloModule {}()=%,\n\"'x1#/*", max_size=200))
def test_any_text_is_read(text: str) -> None:
    parsed = parse_hlo(text)
    assert parsed.lines_total == len(text.split("\n")) - (text.split("\n")[-1] == "")


TWO_WITHOUT_HEADER = """Before:
```
add {
  a = f32[] parameter(0)
  ROOT s = f32[] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] map(x), dimensions={0}, to_apply=add
}
```

After:
```
add {
  a = f32[] parameter(0)
  ROOT s = f32[] exp2(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] map(x), dimensions={0}, to_apply=add
}
```
"""


@pytest.mark.parametrize("header", ["", "HloModule last\n"])
def test_modules_without_header_end_where_names_come_again(header: str) -> None:
    text = TWO_WITHOUT_HEADER + header
    text += "ENTRY e {\n  ROOT z = f32[] parameter(0)\n}\n" if header else ""
    parsed = parse_hlo(text)
    found = [
        (m.name, [(i.name, i.opcode) for i in m.instructions], m.lines[0])
        for m in parsed.modules
    ]
    rest = [("x", "parameter"), ("y", "map")]
    expected = [
        ("module_main", [("a", "parameter"), ("s", "negate"), *rest], 4),
        ("module_main", [("a", "parameter"), ("s", "exp2"), *rest], 17),
    ]
    if header:
        expected.append(("last", [("z", "parameter")], 28))
    assert found == expected
    assert parsed.rejects == []
    lines = {1: "Before:", 2: "```", 12: "```", 14: "After:", 15: "```", 25: "```"}
    assert {u.line: u.text for u in parsed.unclaimed} == lines
