"""Text that people and programs read: sizes, visible characters, JSON, nearest names.

Sizes have binary units (30 GiB in settings; +1.25 MiB, 2 rows in reports).
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from math import isfinite
from typing import Any

BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
"""Units of sizes for people, each 1,024 of the one before."""

_LISTED = 12
_PIPED = (100, 24)

_SCALES = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    # As XLA prints sizes: 15.75G are 15.75 GiB.
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
}
_SIZE = re.compile(r"([\d_]+(?:\.\d+)?)\s*([A-Za-z]*)")

# Control characters, and what would turn the reading direction of a terminal.
_HIDDEN = "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_UNSAFE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
# Those below a blank are JSON's own to escape.
_UNSAFE_IN_JSON = re.compile(f"[{_HIDDEN}]")


def parse_size(text: str) -> int:
    """Return the bytes of `30 GiB`, `8G`, `1.5 MB` or `4096`.

    Raises ValueError for other texts.
    """
    match = _SIZE.fullmatch(text.strip())
    scale = _SCALES.get(match[2].lower()) if match else None
    if match is None or scale is None:
        raise ValueError(f"{text!r} is no size; write 30 GiB, 512 MiB or 4096")
    return round(float(match[1].replace("_", "")) * scale)


_LEAST_LIMIT = 2**20
"""No main memory is smaller: a smaller limit lacks its unit."""


def parse_limit(text: str) -> int:
    """Return the bytes of a limit of memory.

    Raises ValueError for texts that are no size, and for less than 1 MiB.
    """
    size = parse_size(text)
    if size < _LEAST_LIMIT:
        meant = text.strip() if text.strip().isdecimal() and size else "16"
        raise ValueError(
            f"{text!r} is {plain_bytes(size)}, and a limit is at least 1 MiB; write"
            f" {meant}GiB for {meant} GiB"
        )
    return size


def human_bytes(count: int | float) -> str:
    """Return a number of bytes in the largest unit that leaves at least 1."""
    size, scale = float(count), 0
    # 1,048,571 B are 1.00 MiB: no unit is printed 1,024 times.
    while round(abs(size), 2) >= 1024 and scale < len(BYTE_UNITS) - 1:
        size, scale = size / 1024, scale + 1
    return f"{size:,.0f} B" if scale == 0 else f"{size:,.2f} {BYTE_UNITS[scale]}"


def plain_bytes(count: int | None) -> str:
    """Return a number of bytes for reading; a dash for None."""
    return "-" if count is None else human_bytes(count)


def signed_bytes(count: int | None) -> str:
    """Return `+1.25 MiB`, `-12 B` or `0 B`; a dash for None."""
    if count is None:
        return "-"
    sign = "+" if count > 0 else "-" if count < 0 else ""
    return sign + plain_bytes(abs(count))


def bytes_range(least: int | None, most: int | None) -> str:
    """Return `4.45 to 6.72 GiB`, or the least alone where there is no more."""
    first, second = plain_bytes(least), plain_bytes(most)
    if most is None:
        return first
    size, unit = first.split(" ")
    return f"{size if second.endswith(f' {unit}') else first} to {second}"


def bytes_from_to(base: int, candidate: int) -> str:
    """Return `8.88 → 48.00 MiB`, or both units where they differ."""
    first, unit = human_bytes(base).split(" ")
    second = human_bytes(candidate)
    return (
        f"{first} → {second}"
        if second.endswith(f" {unit}")
        else (f"{first} {unit} → {second}")
    )


def plain_percent(ratio: float | None) -> str:
    """Return `12.7 %` for 0.127; a dash for None."""
    return "-" if ratio is None else f"{100 * ratio:,.1f} %"


def signed_percent(ratio: float | None) -> str:
    """Return `+12.7 %` for 0.127; a dash for None."""
    return "-" if ratio is None else f"{100 * ratio:+,.1f} %"


def space_words(space: str | None, color: int | None) -> str:
    """Return the name of a memory space by that in the data and XLA's number.

    What devices call host is the memory that a CPU computes in.
    """
    return "CPU memory" if (space, color) == ("host", 0) else space or ""


def counted(count: int, name: str) -> str:
    """Return `1 row` or `2 rows`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def few(names: Sequence[str], most: int) -> str:
    """Return at most `most` names in a line, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def visible(text: str) -> str:
    """Return `text` on one line, with `\\n` or `\\u202e` for what does not print."""
    return _UNSAFE.sub(lambda m: m.group().encode("unicode_escape").decode(), text)


def plain(value: object) -> str:
    """Return a value as text, exact and without units; nothing for NULL."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime() | date() | time():
            return value.isoformat()
        case list() | dict() | tuple():
            return _dumped(value)
    return str(value)


def json_text(value: Any, indent: int | None = None) -> str:
    """Return JSON that a terminal can show: `\\u202e` for what does not print.

    Parsed, it has every character of the value. NaN and infinity are null.
    """
    text = _dumped(value, indent)
    return _UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def _dumped(value: Any, indent: int | None = None) -> str:
    dumps = partial(
        json.dumps,
        ensure_ascii=False,
        indent=indent,
        default=_json_value,
        allow_nan=False,
    )
    try:
        return dumps(value)
    except (TypeError, ValueError):  # a key or a number that JSON doesn't have
        return dumps(_within_json(value))


def _within_json(value: Any) -> Any:
    match value:
        case float() if not isfinite(value):
            return None
        case list() | tuple():
            return [_within_json(part) for part in value]
        case dict():
            return {plain(key): _within_json(part) for key, part in value.items()}
    return value


def _json_value(value: object) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return plain(value)


def text_width() -> int:
    """Return what COLUMNS names, else the width of the terminal, else 100 columns."""
    return shutil.get_terminal_size(_PIPED).columns


def nearest(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean …?` with the nearest of `names`, or nothing."""
    close = get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def not_held(
    kind: str, name: object, names: Iterable[object], *, holder: str = "the warehouse"
) -> str:
    """Return a message about a run, program, … that `holder` doesn't hold.

    It suggests the nearest of `names`, and lists the first of them.
    """
    known = sorted({str(known) for known in names if known is not None})
    some = ", ".join(known[:_LISTED]) or "none"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    hint = nearest(str(name), known)
    listed = f"{' It' if hint else '; it'} has {some}{more}"
    return f"{holder} has no {kind} {name!r}{hint}{listed}"
