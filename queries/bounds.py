"""Which numbers a parameter takes: what it declares, within what its type holds."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from hlodb.errors import UsageError
from hlodb.queries.query import Parameter

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
"""What a BIGINT holds."""


def require_within(parameter: Parameter, value: object) -> None:
    """Raise UsageError where `value` is, or holds, a number that isn't allowed."""
    least, most = parameter.least, parameter.most
    if parameter.type in ("BIGINT", "BIGINT[]"):
        least = _LEAST if least is None else least
        most = _MOST if most is None else most
    for number in _numbers(value):
        is_low = least is not None and number < least
        is_high = most is not None and number > most
        if is_low or is_high or (isinstance(number, float) and not isfinite(number)):
            allowed = bounds_text(least, most) or "a finite number"
            message = f"parameter {parameter.name!r} is {allowed}, not {number}"
            raise UsageError(message)


def bounds_text(least: float | None, most: float | None) -> str:
    """Return in words which numbers are allowed, nothing where all are."""
    if most is not None:
        return f"from {least:,} to {most:,}"
    return "" if least is None else f"at least {least:,}"


def _numbers(value: object) -> Iterator[int | float]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int | float) and not isinstance(each, bool):
            yield each
