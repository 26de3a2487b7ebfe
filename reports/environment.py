"""What else differs between two runs: versions, devices, compiler flags."""

from __future__ import annotations

from collections.abc import Sequence

from hlodb.reports.baseline import branch, labels
from hlodb.reports.facts import Module, Run
from hlodb.reports.model import EnvironmentChange, RunFacts
from hlodb.reports.read import rows
from hlodb.schema.connection import Connection

MEMORY_WORDS = (
    "alias",
    "alloc",
    "collective",
    "combine",
    "donat",
    "fus",
    "hbm",
    "hlo_passes",
    "layout",
    "limit",
    "memory",
    "offload",
    "optimization_level",
    "partition",
    "remat",
    "schedul",
    "shard",
    "spmd",
    "vmem",
)
"""A flag whose name contains one of these may move memory."""

_PLATFORM_PREFIXES = {
    "cpu": ("xla_cpu_",),
    "gpu": ("xla_gpu_",),
    "rocm": ("xla_gpu_",),
    "tpu": ("xla_tpu_", "xla_jf_", "xla_sc_"),
}
"""How flags begin that only one platform heeds."""

_SHOWN = 120
_FACTS = (
    "compiler_version",
    "framework_version",
    "platform",
    "device",
    "topology",
    "commit_sha",
)


def run_facts(run: Run, modules: Sequence[Module]) -> RunFacts:
    """Return the facts about a run that a report prints."""
    ranks = {module.rank for module in modules}
    return RunFacts(
        name=run.name,
        series=run.series,
        started_at=run.started_at.isoformat() if run.started_at else None,
        commit_sha=run.commit_sha,
        branch=branch(run),
        compiler_version=run.compiler_version,
        framework_version=run.framework_version,
        platform=run.platform,
        device=run.device,
        rank_count=len(ranks),
    )


def environment_changes(
    connection: Connection, base: Run, candidate: Run
) -> list[EnvironmentChange]:
    """Return facts, labels and flags that differ, those that may move memory first."""
    changes = [
        EnvironmentChange(name, getattr(base, name), getattr(candidate, name), False)
        for name in _FACTS
        if getattr(base, name) != getattr(candidate, name)
    ]
    changes += _label_changes(base, candidate)
    same_release = base.compiler_version == candidate.compiler_version
    changes += [
        EnvironmentChange(
            f"flag {name}",
            _shown(b),
            _shown(c),
            (None not in (b, c) or (is_default and same_release))
            and _is_memory_relevant(name, candidate.platform),
        )
        for name, b, c, is_default in rows(
            connection, "flags", base=base.run_id, candidate=candidate.run_id
        )
    ]
    return sorted(changes, key=lambda c: (not c.is_memory_relevant, c.key))


def _label_changes(base: Run, candidate: Run) -> list[EnvironmentChange]:
    b, c = labels(base), labels(candidate)
    return [
        EnvironmentChange(f"label {key}", _text(b.get(key)), _text(c.get(key)), False)
        for key in sorted(b.keys() | c.keys())
        if b.get(key) != c.get(key)
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _shown(value: str | None) -> str | None:
    if value is None or len(value) <= _SHOWN:
        return value
    return value[: _SHOWN - 1] + "…"


def _is_memory_relevant(name: str, platform: str | None) -> bool:
    """Return whether a flag may move memory: both releases and the platform heed it."""
    prefixes = _PLATFORM_PREFIXES.get(platform or "", ())
    foreign = [p for known in _PLATFORM_PREFIXES.values() for p in known]
    if prefixes and name.startswith(tuple(p for p in foreign if p not in prefixes)):
        return False
    return any(word in name for word in MEMORY_WORDS)
