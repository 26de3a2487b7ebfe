"""How many processes parse, unless somebody says."""

from __future__ import annotations

import os
from math import ceil, inf
from pathlib import Path

MOST_JOBS = 8
"""The most workers unless more are asked for: with most dumps the one process that
reads and writes can't keep up with half as many, and each takes memory."""


def default_jobs(limits: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the number of cores this process may use, or MOST_JOBS where it has more.

    A container may see all cores of its machine and be given the time of a few: what
    it is given stands in files in `limits`.
    """
    seen = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        seen = len(os.sched_getaffinity(0))
    return max(1, ceil(min(seen, _given_cores(limits), MOST_JOBS)))


def _given_cores(limits: Path) -> float:
    """Return the cores' time of a control group, of version 2 or 1."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            texts = [(limits / name).read_text(encoding="ascii") for name in names]
            quota, period = (int(word) for word in " ".join(texts).split())
        except (OSError, ValueError):  # None is set, or it is "max".
            continue
        if quota > 0 and period > 0:
            return quota / period
    return inf
