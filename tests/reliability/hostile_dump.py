"""What hostile inputs are made of: a sound dump, and limits that small ones pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hlodb.ingest.sources.limits import Limits
from tests.ingest.dumps import write

LIMITS = Limits(
    file_bytes=200_000,
    fact_bytes=40_000,
    line_bytes=50_000,
    expansion_ratio=20,
    expansion_free_bytes=10_000,
    archive_members=20,
    directory_bytes=10_000,
    path_characters=100,
    held_bytes=100_000,
    nesting_depth=15,
)
"""Smaller than by default, so that the inputs can be small."""

NAME = "module_0001.jit_f.before_optimizations.txt"

AFTER = "module_0001.jit_f.cpu_after_optimizations"

SOUND = b"""\
HloModule jit_f, entry_computation_layout={(f32[3]{0})->f32[3]{0}}

ENTRY %main.1 (x.2: f32[3]) -> f32[3] {
  ROOT %x.2 = f32[3]{0} parameter(0)
}
"""

GOOD = {NAME: SOUND}

Make = Callable[[Path], Path]


def one_file(name: str, data: bytes) -> Make:
    """Return a single file."""
    return lambda below: write(below, {name: data}) / name


def assignment(body: str) -> bytes:
    """Return a buffer assignment with this body."""
    return f"BufferAssignment:\n{body}".encode()
