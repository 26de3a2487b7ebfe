"""Numbers as people write them: 30 GiB in settings; +1.25 MiB, 2 rows in reports."""

from __future__ import annotations

import re

from hlodb.queries.render_table import human_bytes

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
    """Give a number of bytes for reading; a dash for None."""
    return "-" if count is None else human_bytes(count)


def signed_percent(ratio: float | None) -> str:
    """Give `+12.7 %` for 0.127; a dash for None."""
    return "-" if ratio is None else f"{100 * ratio:+,.1f} %"


def counted(count: int, name: str) -> str:
    """Give `1 row` or `2 rows`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"
