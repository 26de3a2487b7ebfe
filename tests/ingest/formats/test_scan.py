import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats import scan
from hlodb.ingest.formats.scan import (
    closing,
    human_bytes,
    is_balanced,
    remembered,
    split_commas,
    unescape,
    unquote,
    without_comments,
)


def test_closing_skips_strings_and_comments() -> None:
    text = 'f(a, ")", /* ) */ {b(c)}) rest)'
    assert closing(text, 1) == text.index(" rest") - 1


def test_closing_of_an_open_bracket_is_minus_one() -> None:
    assert closing("f(a, {b)", 5) == 7
    assert closing("f(a, {b}", 1) == -1


def test_balance_ignores_what_strings_hold() -> None:
    assert is_balanced('metadata={op_name="jit(f)/{"}')
    assert not is_balanced("metadata={op_name=3")


def test_commas_at_depth_zero_split() -> None:
    text = "a=1, b={1,2}, c=f(x, y), d=\"p,q\", e=mesh['a'=2,'b'=4] {'a'}"
    assert split_commas(text) == [
        "a=1",
        "b={1,2}",
        "c=f(x, y)",
        'd="p,q"',
        "e=mesh['a'=2,'b'=4] {'a'}",
    ]


def test_no_text_has_no_parts() -> None:
    assert split_commas("") == []
    assert split_commas("  \n") == []


def test_index_comments_vanish() -> None:
    assert without_comments("a, /*index=5*/b") == "a, b"


def test_c_escapes() -> None:
    assert unescape(r"a\"b\n\\\101\x41\q") == 'a"b\n\\AAq'
    assert unescape(r"\x41B\0101") == "AB\b1"
    assert unquote(r'"x\"y"') == 'x"y'
    assert unquote("x") == "x"


def test_escaped_bytes_are_utf_8() -> None:
    assert unescape(r"caf\303\251") == "café"
    assert unescape(r"caf\xc3\xa9 \342\202\254") == "café €"
    assert unescape("é\\303\\251") == "éé"


def test_escaped_bytes_that_are_no_utf_8_stay_escaped() -> None:
    assert unescape(r"caf\303 \377\303\251") == r"caf\xc3 \xffé"
    assert unescape(r"\355\240\200") == r"\xed\xa0\x80"


@given(st.binary(max_size=30))
def test_whatever_bytes_are_escaped_the_text_can_be_stored(data: bytes) -> None:
    text = unescape("".join(f"\\{byte:03o}" for byte in data))
    assert text.encode() == data.decode("utf-8", "backslashreplace").encode()


@given(st.text(alphabet="()[]{},\"'\\/* ab\n", max_size=80))
def test_any_text_is_scanned(text: str) -> None:
    parts = split_commas(text)
    assert sum(map(len, parts)) <= len(text)
    assert is_balanced(text) in (True, False)
    assert closing(text, 0) < len(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("0B", 0), ("27B", 27), ("4.0K", 4096), ("4.0KiB", 4096), ("2.00T", 2 << 40),
     ("286.05MiB", 299945165), ("1.50TiB", 3 << 39)],
)  # fmt: skip
def test_sizes_as_people_read_them(text: str, size: int) -> None:
    assert human_bytes(text) == size


def test_what_is_remembered_is_bounded_by_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scan, "_REMEMBERED_CHARACTERS", 10)
    monkeypatch.setattr(scan, "_RECORD_CHARACTERS", 0)
    read: list[str] = []

    def take(text: str) -> int:
        read.append(text)
        return len(text)

    look_up = remembered(take)
    asked = ["abcd", "efgh", "abcd", "ij", "abcd", "klm", "klm", "abcd"]
    assert list(map(look_up, asked)) == list(map(len, asked))
    # The eleventh character makes it forget all before.
    assert read == ["abcd", "efgh", "ij", "klm", "abcd"]
