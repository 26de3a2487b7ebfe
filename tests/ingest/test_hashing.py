"""Hashes that are stored: they have to stay what they are."""

from hlodb.ingest.hashing import digest64, hash64


def test_hashes_are_those_of_b2sum() -> None:
    """`printf TEXT | b2sum -l 64`, read as little-endian."""
    assert {text: hash64(text).to_bytes(8, "little", signed=True).hex()
            for text in ("", "add", "a\udcffb")} == {
        "": "e4a6a0577479b2b4",
        "add": "3e2a0a887a17047d",
        "a\udcffb": "56486344ae72cdf7",
    }  # fmt: skip


def test_bytes_are_hashed_as_the_text_that_they_are() -> None:
    assert digest64(b"a\xffb") == digest64("a\udcffb")
    assert hash64(b"add") == int.from_bytes(digest64("add"), "little", signed=True)
