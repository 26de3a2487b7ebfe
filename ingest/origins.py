"""Where a run comes from, as it may be stored: without what opens a door."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)[^/?#]*@")
_SECRET = re.compile(
    r"sig|token|secret|key|credential|password|auth|accessid", re.IGNORECASE
)


def without_secrets(url: str) -> str:
    """Give a URL without user and password, and without signed or secret parameters."""
    address, mark, rest = _USER.sub("", url, count=1).partition("?")
    query, hash_, part = rest.partition("#")
    kept = [p for p in query.split("&") if not _SECRET.search(p.partition("=")[0])]
    return f"{address}{mark if any(kept) else ''}{'&'.join(kept)}{hash_}{part}"
