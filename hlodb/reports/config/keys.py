"""What may stand in hlodb.toml: every table and key, and how its value is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from hlodb.reports.config.settings import GATES, Budget, Device, Waiver
from hlodb.text import parse_size

Check = Callable[[Any], Any]


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number, 0 or more")
    return value


def _positive(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number, 1 or more")
    return value


def _optional_count(value: Any) -> int | None:
    return None if value is False else _count(value)


def _size(value: Any) -> int:
    return parse_size(value) if isinstance(value, str) else _count(value)


def _ratio(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not known or not 0 <= value <= 1:
        raise ValueError("must be a share from 0 to 1")
    return float(value)


def _weight(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not known or value < 0:
        raise ValueError("must be a number, 0 or more")
    return float(value)


def _level(value: Any) -> str:
    if value not in ("fail", "warn", "ignore"):
        raise ValueError("must be fail, warn or ignore")
    return str(value)


def _gate(value: Any) -> str:
    if value not in ("*", *GATES):
        raise ValueError(f"must be * or one of {', '.join(GATES)}")
    return str(value)


def _day(value: Any) -> date:
    if type(value) is date:
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("must be a day such as 2027-01-31") from None


SECTIONS: dict[str, dict[str, tuple[str, Check]]] = {
    "report": {
        "series": ("series", _text),
        "baseline": ("baseline", _text),
        "window": ("window", _positive),
        "main_branch": ("main_branch", _text),
        "top": ("top", _count),
        "codeowners": ("codeowners", _text),
        "link": ("link", _text),
    },
    "floors": {"bytes": ("floor_bytes", _size), "ratio": ("floor_ratio", _ratio)},
    "history": {"bytes": ("step_bytes", _size), "ratio": ("step_ratio", _ratio)},
    "gates": {
        "regression": ("regression", _flag),
        "changed_inputs": ("changed_inputs", _level),
        "missing_program": ("missing_program", _flag),
        "donation_loss": ("donation_loss", _flag),
        "managed_ratio": ("managed_ratio", _ratio),
        "fragmentation_ratio": ("fragmentation_ratio", _ratio),
        "padding_ratio": ("padding_ratio", _ratio),
        "recompiles": ("recompiles", _count),
        "replicated_bytes": ("replicated_bytes", _size),
    },
    "quality": {
        "max_rejects": ("max_rejects", _optional_count),
        "consistency": ("consistency", _flag),
    },
}
"""Tables of single settings: key → field of Settings, and how it is read."""

MAPPINGS: dict[str, Check] = {"owners": _text, "weights": _weight}

ENTRIES: dict[str, tuple[type, dict[str, Check], tuple[str, ...]]] = {
    "device": (
        Device,
        {"device": _text, "space": _text, "bytes": _size},
        ("device", "space", "bytes"),
    ),
    "budget": (
        Budget,
        {
            "program": _text,
            "space": _text,
            "color": _count,
            "bytes": _size,
            "ratio": _ratio,
            "owner": _text,
        },
        ("program",),
    ),
    "waiver": (
        Waiver,
        {
            "program": _text,
            "space": _text,
            "color": _count,
            "gate": _gate,
            "finding": _text,
            "owner": _text,
            "reason": _text,
            "until": _day,
        },
        ("program", "owner", "reason", "until"),
    ),
}
"""Tables that may stand many times: what each makes, its keys, and those it needs."""
