"""What a file tells about its run: platform, device, compiler, flags, pass timings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hlodb.ingest.formats.config.flags import Flags, parse_flags
from hlodb.ingest.formats.config.module_metadata import (
    PassTiming,
    parse_module_metadata,
)
from hlodb.ingest.formats.config.target import Target, parse_target
from hlodb.ingest.formats.memory_reports.memory_analysis import (
    MemoryAnalysis,
    parse_memory_analyses,
)
from hlodb.ingest.recognise.file_kinds import FACT_KINDS, FLAG_KINDS, TARGET_KINDS
from hlodb.ingest.recognise.unit_files import FileReport, UnitFile, platform_of
from hlodb.ingest.records import Reject, summed_up, total


@dataclass(slots=True)
class RunFacts:
    """What `files`, given by path, say about their run; the first to speak wins.

    But the platform is the device's wherever there is one: its process may compile
    programs for the host as well, and those first.
    """

    files: set[str] = field(default_factory=set)
    facts: dict[str, str | int] = field(default_factory=dict)
    newest_file_at: float | None = None
    flags: dict[tuple[str, str], set[int | None]] = field(default_factory=dict)
    flag_owners: set[int | None] = field(default_factory=set)
    passes: dict[int | None, list[PassTiming]] = field(default_factory=dict)
    analyses: dict[str, list[MemoryAnalysis]] = field(default_factory=dict)

    def learn(self, facts: Mapping[str, str | int | None]) -> None:
        """Keep facts not known yet."""
        if facts.get("platform") and self.facts.get("platform") == "cpu":
            del self.facts["platform"]
        for key, value in facts.items():
            if value:
                self.facts.setdefault(key, value)

    def saw_file_at(self, modified_at: float | None) -> None:
        """Keep the newest file time."""
        if modified_at is not None:
            self.newest_file_at = max(modified_at, self.newest_file_at or modified_at)

    def add_flags(
        self, module_number: int | None, flags: Iterable[tuple[str, str]]
    ) -> None:
        """Add the compiler flags that one module's files list."""
        self.flag_owners.add(module_number)
        for name, value in flags:
            self.flags.setdefault((name, value), set()).add(module_number)

    def add_analyses(self, path: str, analyses: list[MemoryAnalysis]) -> None:
        """Add what the file at `path` says of programs' memory."""
        self.analyses[path] = analyses

    def analysis_rows(self) -> list[dict[str, Any]]:
        """Return rows of memory_analysis."""
        return [
            {
                "path": path,
                "ordinal": ordinal,
                "module_name": analysis.module_name,
                **analysis.sizes,
            }
            for path, analyses in sorted(self.analyses.items())
            for ordinal, analysis in enumerate(analyses)
        ]

    def flag_rows(self) -> list[dict[str, Any]]:
        """Return rows of compiler_flags; flags of all modules have no number."""
        shared: list[int | None] = [None]
        return [
            {"module_number": owner, "name": name, "value": value}
            for (name, value), owners in sorted(self.flags.items())
            for owner in (shared if owners == self.flag_owners else sorted_ids(owners))
        ]

    def pass_rows(self) -> list[dict[str, Any]]:
        """Return rows of passes, those of each module in execution order."""
        return [
            {
                "module_number": number,
                "ordinal": ordinal,
                "pipeline": timing.pipeline_name,
                "pass_name": timing.pass_name,
                "has_changed": timing.module_changed,
                "started_us": timing.start_timestamp_us,
                "duration_us": timing.duration_us,
            }
            for number, timings in self.passes.items()
            for ordinal, timing in enumerate(timings)
        ]


def sorted_ids(ids: Iterable[int | None]) -> list[int | None]:
    """Return ids in order, None first."""
    return sorted(ids, key=lambda number: -1 if number is None else number)


def learn_from_name(facts: RunFacts, file: UnitFile) -> None:
    """Keep what a file's name says of the run."""
    r = file.recognised
    # An executable tells its platform, not the device of a file name.
    is_executable = r.kind in ("executable", "hlo_text_proto")
    prefix = None if is_executable else r.platform_prefix
    facts.learn(
        {
            "platform": platform_of(r),
            "compiler_version": f"cl_{r.cl}" if r.cl else None,
            "device": prefix if prefix not in (None, "cpu") else None,
        }
    )


def learn_from_file(
    facts: RunFacts, file: UnitFile, report: FileReport
) -> list[Reject]:
    """Keep what a flag, target or metadata file says; complete its report."""
    kind = file.recognised.kind
    if kind not in FACT_KINDS:
        return []
    text = file.data.decode("utf-8", "replace")
    facts.files.add(file.path)
    number = file.recognised.module_number
    rejects: list[Reject] = []
    if kind in FLAG_KINDS:
        flags = _flags(kind, text)
        facts.add_flags(number, flags.flags)
        rejects += flags.rejects
        report.lines_unclaimed = total(flags.unclaimed)
    if kind in TARGET_KINDS:
        target = _target(kind, text)
        facts.learn(
            {
                "platform": target.platform,
                "device": target.device,
                "device_memory_bytes": target.memory_bytes,
                "topology": target.topology,
            }
        )
        rejects += target.rejects
    if kind == "module_metadata":
        metadata = parse_module_metadata(text)
        facts.passes.setdefault(number, []).extend(metadata.passes)
        rejects += metadata.rejects
    if kind == "memory_analysis":
        analyses = parse_memory_analyses(text)
        facts.add_analyses(file.path, analyses.analyses)
        rejects += analyses.rejects
    report.status = "rejected" if rejects else "loaded"
    report.lines_total = len(text.splitlines())
    report.lines_unclaimed = report.lines_unclaimed or 0
    return summed_up(rejects)


# The modules of a run mostly have equal flags and targets.
@lru_cache(maxsize=64)
def _flags(kind: str, text: str) -> Flags:
    return parse_flags(kind, text)


@lru_cache(maxsize=64)
def _target(kind: str, text: str) -> Target:
    return parse_target(kind, text)
