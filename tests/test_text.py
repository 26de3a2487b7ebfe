"""Text that people and programs read."""

import json

import pytest

from hlodb.text import (
    bytes_range,
    counted,
    human_bytes,
    json_text,
    nearest,
    not_held,
    parse_limit,
    parse_size,
    signed_bytes,
    signed_percent,
    visible,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.00 KiB"),
        (-1536, "-1.50 KiB"),
        (2**20, "1.00 MiB"),
        (2**20 - 5, "1.00 MiB"),
        (2**20 - 6, "1,023.99 KiB"),
        (2**80, "1,048,576.00 EiB"),
    ],
)
def test_human_bytes(count: int, text: str) -> None:
    assert human_bytes(count) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("30 GiB", 30 * 2**30), ("1.5 MB", 1_500_000), ("4_096", 4096), ("7b", 7)),
        *(("8G", 8 * 2**30), ("15.75g", 63 * 2**28), ("512M", 512 * 2**20)),
    ],
)
def test_parse_size(text: str, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "GiB", "1 parsec", "-1", "1e3"])
def test_sizes_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="is no size; write 30 GiB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("8", "'8' is 8 B, and a limit is at least 1 MiB; write 8GiB for 8 GiB"),
        ("0", "'0' is 0 B, and a limit is at least 1 MiB; write 16GiB for 16 GiB"),
        ("512 KiB", "'512 KiB' is 512.00 KiB, and a limit is at least 1 MiB"),
    ],
)
def test_a_limit_without_its_unit(text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=meant):
        parse_limit(text)
    assert parse_limit("1M") == 2**20


def test_ranges_of_sizes() -> None:
    assert bytes_range(None, None) == "-"
    assert bytes_range(2**20, None) == "1.00 MiB"
    assert bytes_range(2**20, 3 * 2**19) == "1.00 to 1.50 MiB"
    assert bytes_range(2**19, 3 * 2**19) == "512.00 KiB to 1.50 MiB"


def test_signed_numbers() -> None:
    assert [signed_bytes(n) for n in (1280 * 1024, -12, 0, None)] == [
        "+1.25 MiB",
        "-12 B",
        "0 B",
        "-",
    ]
    assert [signed_percent(r) for r in (0.127, -1.0, None)] == [
        "+12.7 %",
        "-100.0 %",
        "-",
    ]
    assert [counted(n, "row") for n in (0, 1, 2000)] == [
        "0 rows",
        "1 row",
        "2,000 rows",
    ]


def test_what_does_not_print_is_visible() -> None:
    text = "a\n\x1b[31m\u202e"
    assert visible(text) == r"a\n\x1b[31m\u202e"
    assert json_text(text) == r'"a\n\u001b[31m\u202e"'
    assert json.loads(json_text(text)) == text


def test_a_name_that_is_not_there() -> None:
    assert nearest("paek", ["peak", "runs"]) == "; did you mean peak?"
    assert nearest("zzz", ["peak"]) == ""
    assert not_held("run", "nigth", ["night", None]) == (
        "the warehouse has no run 'nigth'; did you mean night? It has night"
    )
    assert not_held("run", "x", "abcdefghijklmn", holder="this file") == (
        "this file has no run 'x'; it has a, b, c, d, e, f, g, h, i, j, k, l and 2 more"
    )
    assert not_held("run", "x", []) == "the warehouse has no run 'x'; it has none"
