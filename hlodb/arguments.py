"""Names as arguments of a suggested command."""

from __future__ import annotations


def positional(*names: str) -> list[str]:
    """Return `names` behind `--` where one of them would be taken for an option."""
    dashes = ["--"] if any(name.startswith("-") for name in names) else []
    return [*dashes, *names]
