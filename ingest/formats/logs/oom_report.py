"""What a log says of a shortage of memory, as records."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OomBuffer:
    """A buffer of the list; `place` counts from 1 as printed, sizes are rounded."""

    place: int
    size_bytes: int | None = None
    unpadded_bytes: int | None = None
    shape: str | None = None
    is_parameter: bool = False
    label: str | None = None
    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    allocation_type: str | None = None
    instruction: str | None = None


@dataclass(frozen=True, slots=True)
class OomChunk:
    """Chunks of an allocator that are alike, by what their annotation says."""

    size_bytes: int
    is_free: bool = False
    program_name: str | None = None
    kind: str | None = None
    allocation_id: int | None = None


@dataclass(slots=True)
class OomReport:
    """One report.

    `sizes` holds bytes and `texts` words by the names of the columns of oom_reports;
    `chunks` counts the chunks of the allocator.
    """

    line: int
    form: str
    space_name: str | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    buffers: list[OomBuffer] = field(default_factory=list)
    rank: int | None = None
    texts: dict[str, str] = field(default_factory=dict)
    chunks: dict[OomChunk, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """What `memory_analysis()` says of a program, as somebody printed it."""

    line: int
    form: str
    sizes: dict[str, int]
    rank: int | None = None
