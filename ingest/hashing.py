"""Hashes as the warehouse stores them: 64 bits of a BLAKE2b, as a signed number."""

from __future__ import annotations

from hashlib import blake2b


def hash64(data: str | bytes) -> int:
    """Return the first 64 bits of a BLAKE2b over `data`, signed."""
    return signed64(digest64(data))


def digest64(data: str | bytes) -> bytes:
    """Return the hash as bytes; text counts as UTF-8, with what was none as it was."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return blake2b(data, digest_size=8).digest()


def signed64(digest: bytes) -> int:
    """Return the number that eight bytes are stored as."""
    return int.from_bytes(digest, "little", signed=True)
