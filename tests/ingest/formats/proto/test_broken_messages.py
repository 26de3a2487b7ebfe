"""Messages that are cut, altered or of another kind."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlodb.ingest.formats.proto.hlo_proto import ParsedProto, parse_hlo_proto
from hlodb.ingest.formats.proto.wire import encoded
from hlodb.ingest.records import Reject
from tests.ingest.formats.proto.known_pairs import CG


@pytest.mark.parametrize("size", range(0, len(CG.message), 997))
def test_a_truncated_message_gives_what_is_whole(size: int) -> None:
    whole = parse_hlo_proto(CG.message)
    parsed = parse_hlo_proto(CG.message[:size])
    assert [r.code for r in parsed.rejects][:1] == [
        "broken_message" if size else "no_module"
    ]
    if parsed.module is not None and whole.module is not None:
        names = {i.name for i in whole.module.instructions}
        assert {i.name for i in parsed.module.instructions} <= names


def test_a_cut_in_the_assignment_costs_nothing_of_the_module() -> None:
    whole = parse_hlo_proto(CG.message)
    parsed = parse_hlo_proto(CG.message[:-100])
    assert parsed.module == whole.module
    assert parsed.assignment is not None
    assert whole.assignment is not None
    assert parsed.assignment.live_ranges == whole.assignment.live_ranges


def test_no_bytes_and_other_bytes_are_rejected() -> None:
    nothing = "0 bytes hold neither a module nor a buffer assignment"
    assert parse_hlo_proto(b"").rejects == [
        Reject(0, 0, "proto", "no_module", nothing, "")
    ]
    assert parse_hlo_proto(b"HloModule m\n").module is None
    assert [r.code for r in parse_hlo_proto(b"HloModule m\n").rejects] == [
        "broken_message"
    ]


@pytest.mark.parametrize(
    ("number", "part"),
    [(1, encoded(3, b"\x12\0" * 300_000)), (1, b"\x1a\0" * 1_000_000),
     (3, b"\x0a\0" * 1_000_000)],
    ids=["instructions", "computations", "buffers"],
)  # fmt: skip
def test_parts_that_are_tiny_and_many_are_refused(number: int, part: bytes) -> None:
    """An instruction of two bytes takes protobuf 430."""
    message = encoded(number, part)
    parsed = parse_hlo_proto(message)
    assert parsed.module is None and parsed.assignment is None
    [reject] = parsed.rejects
    assert (reject.code, reject.message) == (
        "too_many_parts",
        f"its {len(message)} bytes are so many tiny parts that they would need more"
        " than 8 times the memory; nothing was read",
    )


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=20),
    st.integers(0, len(CG.message)),
)
def test_altered_bytes_end_in_records_or_rejects(
    changes: list[tuple[int, int]], size: int
) -> None:
    data = bytearray(CG.message)
    for place, byte in changes:
        data[place % len(data)] = byte
    for message in (bytes(data), bytes(data[:size])):
        check_sound(parse_hlo_proto(message))


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_end_in_records_or_rejects(data: bytes) -> None:
    check_sound(parse_hlo_proto(data))


def check_sound(parsed: ParsedProto) -> None:
    """Every number that is stored must fit its column."""
    if parsed.assignment is None:
        return
    values = {v.value_id for v in parsed.assignment.values}
    for p in parsed.assignment.placements:
        assert p.value_id in values
        assert 0 <= p.size_bytes < 1 << 63
        assert 0 <= p.offset_bytes < 1 << 63
    for r in parsed.assignment.live_ranges:
        assert 0 <= r.start_step <= r.end_step
