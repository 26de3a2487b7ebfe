"""What somebody may have meant by a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable

_LISTED = 5


def nearest(name: str, names: Iterable[str]) -> str:
    """Give `; did you mean …?` with the nearest of `names`, or nothing."""
    import difflib  # for mistakes only

    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def not_held(
    kind: str, name: object, names: Iterable[object], *, holder: str = "the warehouse"
) -> str:
    """Give what to say of a run, program, … that `holder` doesn't hold.

    It names the nearest of `names`, else the first few that there are.
    """
    known = sorted({str(known) for known in names if known is not None})
    some = ", ".join(known[:_LISTED]) or "none"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    hint = nearest(str(name), known) or f"; it has {some}{more}"
    return f"{holder} has no {kind} {name!r}{hint}"
