"""What messages say, read from TOML: `tests/data/oom_collected/README.md`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from hlodb.ingest.formats.logs.oom_report import (
    MemoryStats,
    OomBuffer,
    OomChunk,
    OomReport,
)

Message = dict[str, Any]
POWERS = "BKMGTPE"


def messages(path: Path) -> list[Message]:
    """Return the messages of a file."""
    found: list[Message] = tomllib.loads(path.read_text())["message"]
    return found


def in_bytes(size: int | str | Sequence[str]) -> int:
    """Return the bytes of a size as the message prints it, or of several together."""
    if isinstance(size, int):
        return size
    if not isinstance(size, str):
        return sum(map(in_bytes, size))
    number = size.removesuffix("iB")
    power: int = 1 << 10 * POWERS.index(number[-1])
    return round(Decimal(number[:-1]) * power)


def reports_of(message: Message) -> list[OomReport]:
    """Return the reports that a message holds."""
    return [
        OomReport(
            line=report["line"],
            form=report["form"],
            space_name=report.get("space"),
            sizes={k: in_bytes(v) for k, v in report.get("sizes", {}).items()},
            buffers=[
                OomBuffer(place, **{k: sized(k, v) for k, v in buffer.items()})
                for place, buffer in enumerate(report.get("buffer", []), 1)
            ],
            rank=report.get("rank"),
            texts=report.get("texts", {}),
            chunks={
                OomChunk(**{k: v for k, v in chunk.items() if k != "count"}): (
                    chunk.get("count", 1)
                )
                for chunk in report.get("chunk", [])
            },
        )
        for report in message.get("report", [])
    ]


def stats_of(message: Message) -> list[MemoryStats]:
    """Return the figures of `memory_analysis()` that a message holds."""
    return [
        MemoryStats(
            line=stats["line"],
            form=stats["form"],
            sizes={k: in_bytes(v) for k, v in stats["sizes"].items()},
        )
        for stats in message.get("stats", [])
    ]


def sized(name: str, said: Any) -> Any:
    """Return a field of a buffer, sizes in bytes."""
    return in_bytes(said) if name.endswith("_bytes") else said
