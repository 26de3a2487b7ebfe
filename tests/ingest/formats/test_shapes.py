import pytest

from hlodb.ingest.formats.shapes import Shape, parse_shape, without_layout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[]", Shape("f32", (), None, 0, 4)),
        ("f32[8,128]{1,0}", Shape("f32", (8, 128), "1,0", 0, 4096)),
        (
            "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
            Shape("bf16", (8, 128), "1,0:T(8,128)(2,1)S(1)", 1, 2048),
        ),
        ("u32[]{:S(2)}", Shape("u32", (), ":S(2)", 2, 4)),
        ("pred[7]{0}", Shape("pred", (7,), "0", 0, 7)),
        ("s4[7]{0:E(4)}", Shape("s4", (7,), "0:E(4)", 0, 4)),
        ("s4[7]{0}", Shape("s4", (7,), "0", 0, 7)),
        ("f32[<=8,2]{1,0}", Shape("f32", (8, 2), "1,0", 0, 64)),
        ("f32[?,2]", Shape("f32", (-1, 2), None, 0, None)),
        ("c128[2]{0}", Shape("c128", (2,), "0", 0, 32)),
        ("f32[0]{0}", Shape("f32", (0,), "0", 0, 0)),
        ("token[]", Shape("token", (), None, 0, 0)),
        ("newtype[2]", Shape("newtype", (2,), None, 0, None)),
        ("()", Shape("tuple", logical_bytes=0, elements=())),
    ],
)
def test_shapes(text: str, expected: Shape) -> None:
    assert parse_shape(text) == expected


def test_tuple_counts_its_pointer_table() -> None:
    text = "(f32[2]{0}, (s32[], pred[3]{0}), /*index=5*/u8[4]{0})"
    shape = parse_shape(text)
    assert shape is not None
    assert (shape.element_type, shape.logical_bytes) == ("tuple", 24)
    assert shape.elements is not None
    inner = shape.elements[1].elements
    assert inner is not None
    assert inner[1] == Shape("pred", (3,), "0", 0, 3)


@pytest.mark.parametrize("text", ["", "f32", "f32[a]", "(f32[2], what)", "%x"])
def test_no_shape(text: str) -> None:
    assert parse_shape(text) is None


def test_tuples_may_nest_100_deep() -> None:
    assert parse_shape("(" * 100 + "f32[]" + ")" * 100) is not None
    assert parse_shape("(" * 101 + "f32[]" + ")" * 101) is None


def test_layouts_vanish() -> None:
    assert without_layout("(f32[2]{0:T(8)}, /*index=5*/s32[])") == "(f32[2],s32[])"
