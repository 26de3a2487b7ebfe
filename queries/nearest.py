"""What somebody may have meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """Give `; did you mean …?` with the nearest of `names`, or nothing."""
    import difflib  # for mistakes only

    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""
