"""Names as arguments of a command that somebody is told to type."""

from __future__ import annotations


def positional(*names: str) -> list[str]:
    """Give `names` behind `--` where one of them would be taken for an option."""
    dashes = ["--"] if any(name.startswith("-") for name in names) else []
    return [*dashes, *names]
