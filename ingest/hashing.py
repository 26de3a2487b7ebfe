"""Hashes as the warehouse stores them: 64 bits of a BLAKE2b, as a signed number."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any


def hash64(data: str | bytes) -> int:
    """Return the first 64 bits of a BLAKE2b over `data`, signed."""
    return signed64(digest64(data))


def digest64(data: str | bytes) -> bytes:
    """Return the hash as bytes; text counts as UTF-8, with what was none as it was."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return blake2b(data, digest_size=8).digest()


def hash64_of(parts: Iterable[Any]) -> int:
    """Return the hash of byte strings and arrays end to end, which are not joined."""
    whole = blake2b(digest_size=8)
    for part in parts:
        whole.update(part)
    return signed64(whole.digest())


def signed64(digest: bytes) -> int:
    """Return the number that eight bytes are stored as."""
    return int.from_bytes(digest, "little", signed=True)
