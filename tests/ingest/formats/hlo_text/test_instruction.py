from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hlodb.errors import ParseError
from hlodb.ingest.formats.hlo_text.attributes import Incomplete
from hlodb.ingest.formats.hlo_text.instruction import (
    parse_instruction,
    parse_instructions,
    parse_operand_lists,
    parse_operands,
    take_apart,
)
from hlodb.ingest.records import Attributes, Call, Instruction, Location
from tests.ingest.instructions import changed_lines, real_lines

OPERAND_LISTS = st.one_of(
    st.lists(st.sampled_from(("a", "%b.1", "c")), max_size=3).map(", ".join),
    st.lists(
        st.sampled_from(
            (
                "a", "%", "%b", ", ", ",", " ", "#0", "#0#1", "/*index=5*/", "/*", "*/",
                "f32[2]{0} ", "(", ")", '"', "\t", "\r", "\v", "\x1c", "\u00a0", "é",
            )
        ),
        max_size=8,
    ).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8),
)  # fmt: skip


def error_facts(error: ParseError) -> tuple[Any, ...]:
    return type(error), error.message, error.line, error.column, error.snippet


def test_short_form() -> None:
    line = (
        "  ROOT add.1 = f32[512]{0} add(param_0, multiply.2), metadata={"
        'op_name="jit(cg)/add" source_file="/opt/zoo.py" source_line=61}'
    )
    assert parse_instruction(line) == Instruction(
        name="add.1",
        opcode="add",
        shape="f32[512]{0}",
        operands=("param_0", "multiply.2"),
        is_root=True,
        attributes=Attributes(op_name="jit(cg)/add"),
        location=Location("/opt/zoo.py", 61, None, None, None, None),
    )


def test_long_form_with_operand_shapes_and_tiles() -> None:
    line = (
        "  %fusion.10 = f32[8,128]{1,0:T(8,128)} fusion("
        "f32[8,128]{1,0:T(8,128)S(1)} %copy-done.1, (f32[], s32[]) %p4.10), "
        "kind=kOutput, calls=%fused_computation.8"
    )
    assert parse_instruction(line) == Instruction(
        name="fusion.10",
        opcode="fusion",
        shape="f32[8,128]{1,0:T(8,128)}",
        operands=("copy-done.1", "p4.10"),
        calls=(Call("calls", ("fused_computation.8",)),),
        attributes=Attributes(fusion_kind="kOutput"),
    )


def test_tuple_shapes_index_comments_and_elements() -> None:
    shape = "(f32[2]{0}, s32[], /*index=5*/f32[4]{0})"
    line = f"  %t = {shape} tuple(%a.1, %while.3#0#1, /*index=5*/%c)"
    assert parse_instruction(line) == Instruction(
        name="t",
        opcode="tuple",
        shape=shape,
        operands=("a.1", "while.3_0_1", "c"),
    )


def test_quoted_and_raw_backend_config_are_both_plain() -> None:
    old = '%g = f32[2]{0} custom-call(%a), backend_config="{\\"beta\\":0}"'
    new = '%g = f32[2]{0} custom-call(%a), backend_config={"beta":0}'
    assert parse_instruction(old) == parse_instruction(new)
    assert parse_instruction(new).attributes == Attributes(backend_config='{"beta":0}')


@pytest.mark.parametrize(
    "groups",
    [
        "{{0,1},{2,3}}",
        "{}",
        "[2,4]<=[4,2]T(1,0)",
        "mesh['a'=2,'b'=4] {'a'}",
        "mesh['a'=2,'b'=4] {'a'}, device_ids=(1,0)",
        "maximal_mesh[device_id=3] {}",
    ],
)
def test_replica_groups_in_every_spelling(groups: str) -> None:
    line = (
        f"%r = f32[2]{{0}} all-reduce(%a), channel_id=1, replica_groups={groups}, "
        "use_global_device_ids=true, to_apply=%add"
    )
    assert parse_instruction(line) == Instruction(
        name="r",
        opcode="all-reduce",
        shape="f32[2]{0}",
        operands=("a",),
        calls=(Call("to_apply", ("add",)),),
        attributes=Attributes(
            channel_id=1, replica_groups=groups, other="use_global_device_ids=true"
        ),
    )


@pytest.mark.parametrize(
    "sharding",
    [
        "{replicated}",
        "{maximal device=0}",
        "{devices=[4,1]0,1,2,3 last_tile_dim_replicate}",
        "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}",
        "{{replicated}, {manual}, /*index=5*/{unknown shard_as 0}}",
        "{mesh['a'=2,'b'=4], device_ids=([8]), [{'a'}, {'b':(1)2, ?}]}",
        '{replicated metadata={op_name="a"}}',
    ],
)
def test_sharding_in_every_spelling(sharding: str) -> None:
    line = (
        f'p = f32[2]{{0}} parameter(0), sharding={sharding}, metadata={{op_name="x"}}'
    )
    assert parse_instruction(line).attributes == Attributes(
        sharding=sharding, op_name="x"
    )


def test_unknown_attributes_are_kept_in_order() -> None:
    line = "x = f32[2] quantum(a), spin={up, {down}}, dimensions={1}, twist=true"
    assert parse_instruction(line).attributes == Attributes(
        other="spin={up, {down}}, dimensions={1}, twist=true"
    )


def test_called_computations_of_a_conditional() -> None:
    line = "%c = s32[] conditional(%i, %a, %b), branch_computations={%x.1, %y}"
    assert parse_instruction(line).calls == (Call("branch_computations", ("x.1", "y")),)


def test_constants_keep_their_literal() -> None:
    line = "c = f32[2,2]{1,0} constant({ { 1, 2 },\n  { 3, nan } })"
    assert parse_instruction(line) == Instruction(
        "c", "constant", "f32[2,2]{1,0}", literal="{ { 1, 2 }, { 3, nan } }"
    )


def test_shape_may_be_missing() -> None:
    assert parse_instruction("p = parameter(0)") == Instruction(
        "p", "parameter", None, parameter_number=0
    )


def test_all_metadata_fields() -> None:
    line = (
        '%x = f32[] add(%a, %b), metadata={op_type="add" op_name="f/\\"g\\"" '
        'source_file="a b.py" source_line=3 source_end_line=4 source_column=5 '
        'source_end_column=6 deduplicated_name="d" stack_frame_id=7}'
    )
    found = parse_instruction(line)
    assert found.attributes == Attributes(
        op_name='f/"g"', op_type="add", other='metadata={deduplicated_name="d"}'
    )
    assert found.location == Location("a b.py", 3, 4, 5, 6, 7)


@pytest.mark.parametrize(
    "line",
    [
        "x = f32[2] add(a,",
        "x = (f32[2], s32[]",
        "x = f32[2] fusion(a), calls=f, backend_config={",
        "x = f32[2] fusion(a), calls=f,",
    ],
)
def test_text_that_goes_on_is_incomplete(line: str) -> None:
    with pytest.raises(Incomplete):
        parse_instruction(line)


@pytest.mark.parametrize(
    "line",
    ["", "}", "hello", "x = 3", "x =", "pred = f32[] add(a, b)", "nan = u8[] a()"],
)
def test_no_instruction(line: str) -> None:
    with pytest.raises(ParseError):
        parse_instruction(line)


@given(st.lists(OPERAND_LISTS, max_size=5))
@example(["/*index=5*/a%b"])
@example(["a", "/*index=5*/%%b"])
@example(["\r"])
@example(["a, /*index=5*/b\u00a0c"])
def test_operand_lists_read_at_once_are_those_of_each(texts: list[str]) -> None:
    try:
        found = [parse_operands(text) for text in texts]
    except ParseError:  # Together they may pass: what they name is not there.
        return
    assert parse_operand_lists(texts) == (
        [name for names in found for name in names],
        [len(names) for names in found],
    )


def test_names_of_operands_have_no_percent_sign_in_any_form() -> None:
    for text in ("%a%b", "/*index=5*/%a%b", "f32[2]{0} %a%b"):
        assert parse_operands(text) == ("ab",), text


@given(st.lists(changed_lines(), max_size=5))
@example([])
@example([""])
def test_lines_read_at_once_are_those_of_each(lines: list[str]) -> None:
    alone: list[Instruction] = []
    errors: list[ParseError] = []
    for line in lines:
        try:
            alone.append(parse_instruction(line))
        except ParseError as error:
            errors.append(error)
    if not errors:
        assert parse_instructions(lines) == alone
        return
    with pytest.raises(ParseError) as raised:
        parse_instructions(lines)
    assert error_facts(raised.value) in map(error_facts, errors)


def test_real_lines_read_at_once_are_those_of_each() -> None:
    lines = real_lines()
    assert parse_instructions(lines) == list(map(parse_instruction, lines))


def test_what_lines_print_stands_in_their_order_whatever_their_form() -> None:
    lines = [
        "p = parameter(0)",
        "  ROOT %a.1 = f32[2]{0} add(%p, %q), metadata={}",
        "ROOT   b = f32[] add(f32[] c)",
        "",
        "%d = f32[] negate(%e)",
    ]
    assert take_apart(lines[:3] + lines[4:]) == (
        (None, "ROOT ", "ROOT   ", None),
        ("p", "a.1", "b", "d"),
        (None, "f32[2]{0}", "f32[]", "f32[]"),
        ("parameter", "add", "add", "negate"),
        ("0", "%p, %q", "f32[] c", "%e"),
        ("", ", metadata={}", "", ""),
    )
    with pytest.raises(ParseError, match="expected `name = shape opcode"):
        take_apart(lines)
