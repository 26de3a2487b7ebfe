from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.arrow import NO_ID
from hlodb.ingest.hashing import hash64
from hlodb.ingest.modules.identity import exact_text, graph_text
from hlodb.ingest.modules.numbering import (
    Calls,
    Forms,
    Names,
    Numbers,
    spread,
    taken,
)
from hlodb.ingest.records import Attributes, Call

NAMES = st.sampled_from(("f", "g", "region_0.1", ""))
CALLS = st.builds(
    Call,
    st.sampled_from(("calls", "to_apply", "body")),
    st.lists(NAMES, max_size=3).map(tuple),
)
RUNS = st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 5)))


@given(st.lists(st.text(max_size=3) | st.none()))
def test_equal_values_get_one_number_and_one_key(values: list[str | None]) -> None:
    numbers: Numbers[str | None] = Numbers(None)
    found = numbers.numbers_of(values)
    order = [value for value in dict.fromkeys(values) if value is not None]
    assert numbers.values_by_number == order
    expected = [NO_ID if value is None else order.index(value) for value in values]
    assert found.tolist() == expected
    some = found[found != NO_ID]
    keys = [hash64(repr(value)) for value in values if value is not None]
    assert numbers.keys_of(some).tolist() == keys


def test_forms_know_what_the_fingerprints_see() -> None:
    forms = Forms()
    add = ("add", "f32[2]{0}", None, None, Attributes(op_name="f"))
    fusion = ("fusion", "f32[2]{0}", None, None, Attributes(fusion_kind="kLoop"))
    found = forms.numbers_of([add, fusion, add, fusion, fusion])
    assert found.tolist() == [0, 1, 0, 1, 1]
    assert forms.fusion_count(found) == 3
    assert [tuple(form) for form in forms.of(found[:2])] == [add, fusion]
    graphs = [graph_text(*add), graph_text(*fusion)]
    assert forms.graph_keys_of(found[:2]).tolist() == list(map(hash64, graphs))
    exact = [
        exact_text(add[1], add[4], graphs[0]),
        exact_text(fusion[1], fusion[4], graphs[1]),
    ]
    assert forms.exact_keys_of(found[:2]).tolist() == list(map(hash64, exact))


@given(st.lists(st.lists(CALLS, min_size=1, max_size=3).map(tuple)), st.data())
def test_calls_spread_are_what_each_calls(
    known: list[tuple[Call, ...]], data: st.DataObject
) -> None:
    names = Names()
    calls = Calls(names)
    assert [calls.of(number) for number in calls.numbers_of(known).tolist()] == known
    chosen = data.draw(st.lists(st.sampled_from(known))) if known else []
    counts, roles, ordinals, called = calls.spread(calls.numbers_of(chosen))
    assert counts.tolist() == [sum(len(c.computations) for c in v) for v in chosen]
    assert [
        (calls.roles.values_by_number[role], ordinal, names.values_by_number[name])
        for role, ordinal, name in zip(
            roles.tolist(), ordinals.tolist(), called.tolist(), strict=True
        )
    ] == [
        (call.role, ordinal, name)
        for value in chosen
        for call in value
        for ordinal, name in enumerate(call.computations)
    ]


def test_no_calls_have_no_number() -> None:
    calls = Calls(Names())
    assert calls.numbers_of([(), (Call("calls", ("f",)),), ()]).tolist() == [-1, 0, -1]


@given(RUNS)
def test_runs_are_spread_end_to_end(runs: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in runs], np.int64)
    counts = np.array([count for _, count in runs], np.int32)
    expected = [at for start, count in runs for at in range(start, start + count)]
    assert spread(starts, counts).tolist() == expected


def test_nothing_is_taken_from_an_empty_column() -> None:
    nowhere = np.empty(0, np.int64)
    assert taken(array("i"), np.int32, nowhere).tolist() == []
    assert taken(array("q", [5, 6, 7]), np.int64, np.array([2, 0, 2])).tolist() == [
        7, 5, 7,
    ]  # fmt: skip


def test_a_column_still_grows_after_some_was_taken() -> None:
    column = array("i", [1, 2])
    first = taken(column, np.int32, np.array([1]))
    column.extend([3])
    assert (first.tolist(), column.tolist()) == ([2], [1, 2, 3])
