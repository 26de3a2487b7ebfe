"""Sizes as people write them: 30 GiB in settings, +1.25 MiB in reports."""

from __future__ import annotations

import re

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
}
_SIZE = re.compile(r"([\d_]+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(text: str) -> int:
    """Give the bytes of `30 GiB`, `1.5 MB` or `4096`; ValueError for anything else."""
    match = _SIZE.fullmatch(text.strip())
    scale = _SCALES.get(match[2].lower()) if match else None
    if match is None or scale is None:
        raise ValueError(f"{text!r} is no size; write 30 GiB, 512 MiB or 4096")
    return round(float(match[1].replace("_", "")) * scale)


def signed_bytes(count: int | None) -> str:
    """Give `+1.25 MiB`, `-12 B` or `0 B`; a dash for None."""
    if count is None:
        return "-"
    sign = "+" if count > 0 else "-" if count < 0 else ""
    return sign + plain_bytes(abs(count))


def plain_bytes(count: int | None) -> str:
    """Give a number of bytes in the largest unit that leaves at least 1."""
    if count is None:
        return "-"
    size, scale = float(count), 0
    names = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    while abs(size) >= 1024 and scale < len(names) - 1:
        size, scale = size / 1024, scale + 1
    return f"{count:,} B" if scale == 0 else f"{size:,.2f} {names[scale]}"


def signed_percent(ratio: float | None) -> str:
    """Give `+12.7 %` for 0.127; a dash for None."""
    return "-" if ratio is None else f"{100 * ratio:+,.1f} %"
