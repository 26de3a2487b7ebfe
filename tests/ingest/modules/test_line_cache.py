import numpy as np
import pytest

from hlodb.errors import ParseError
from hlodb.ingest.arrow import NO_ID
from hlodb.ingest.formats.hlo_text.instruction import take_apart
from hlodb.ingest.modules.interning import KnownLines, Sayings
from hlodb.ingest.modules.numbering import Calls, Form, Forms, Names, Numbers
from hlodb.ingest.records import Attributes, Call, Location


def sayings() -> tuple[Sayings, Forms, Calls, Numbers[Location | None]]:
    forms, calls = Forms(), Calls(Names())
    locations: Numbers[Location | None] = Numbers(None)
    return Sayings(forms, calls, locations), forms, calls, locations


def test_a_known_line_keeps_its_row_and_a_new_one_gets_the_next() -> None:
    known = KnownLines()
    assert known.rows_of(["a", "b", "a"], first=10).tolist() == [10, 11, 10]
    assert known.new == ["a", "b"]
    assert known.rows_of(["b", "c", "c"], first=20).tolist() == [11, 20, 20]
    assert known.new == ["c"]
    assert known.rows_of([], first=30).tolist() == []
    assert known.new == []


def test_new_lines_can_be_forgotten_and_older_ones_stay() -> None:
    known = KnownLines()
    known.rows_of(["a"], first=0)
    known.rows_of(["a", "b", "c"], first=1)
    known.forget_new()
    assert known == {"a": 0}
    assert known.rows_of(["c", "a", "b"], first=1).tolist() == [1, 0, 2]


def test_lines_that_say_the_same_beside_names_and_operands_are_one_saying() -> None:
    said, forms, calls, locations = sayings()
    lines = [
        '%a = f32[] add(%x, %y), metadata={op_name="f" source_line=3}',
        'ROOT %b = f32[] add(%z, %z), metadata={op_name="f" source_line=3}',
        "%c = f32[] parameter(0)",
        "%d = f32[] parameter(1)",
        "%e = f32[] call(%x), to_apply=%g",
    ]
    assert [ids.tolist() for ids in said.of(take_apart(lines))] == [
        [0, 0, 1, 2, 3],
        [NO_ID, NO_ID, NO_ID, NO_ID, 0],
        [0, 0, NO_ID, NO_ID, NO_ID],
        [1, 1, 1, 1, 1],
    ]
    assert len(said) == 4
    assert forms.of(np.arange(4, dtype=np.int32)) == [
        Form("add", "f32[]", None, None, Attributes(op_name="f")),
        Form("parameter", "f32[]", 0, None, Attributes()),
        Form("parameter", "f32[]", 1, None, Attributes()),
        Form("call", "f32[]", None, None, Attributes()),
    ]
    assert calls.of(0) == (Call("to_apply", ("g",)),)
    assert locations.values_by_number == [Location(None, 3, None, None, None, None)]


def test_an_unsound_tail_leaves_nothing_behind() -> None:
    said, forms, calls, locations = sayings()
    with pytest.raises(ParseError):
        said.of(take_apart(["%a = f32[] add(%x), sharding={"]))
    assert (said, forms, calls, locations) == ({}, {}, {(): NO_ID}, {None: NO_ID})
