"""What a file tells about its run: platform, device, compiler, flags, pass timings."""

from __future__ import annotations

from functools import lru_cache

from hlodb.ingest.formats.flags import Flags, parse_flags
from hlodb.ingest.formats.memory_analysis import parse_memory_analyses
from hlodb.ingest.formats.module_metadata import parse_module_metadata
from hlodb.ingest.formats.target import Target, parse_target
from hlodb.ingest.records import Reject
from hlodb.ingest.run_records import RunFacts
from hlodb.ingest.unit_files import FileReport, UnitFile, platform_of

FLAG_KINDS = frozenset(("debug_options", "flagfile", "tpu_comp_env", "module_config"))
TARGET_KINDS = frozenset(
    ("target_arguments", "gpu_target_config", "execution_options", "module_config")
)
FACT_KINDS = FLAG_KINDS | TARGET_KINDS | {"module_metadata", "memory_analysis"}


def learn_from_name(facts: RunFacts, file: UnitFile) -> None:
    """Keep what a file's name says of the run."""
    r = file.recognised
    prefix = r.platform_prefix
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
    number = file.recognised.module_number
    rejects: list[Reject] = []
    if kind in FLAG_KINDS:
        flags = _flags(kind, text)
        facts.add_flags(number, flags.flags)
        rejects += flags.rejects
        report.lines_unclaimed = len(flags.unclaimed)
    if kind in TARGET_KINDS:
        target = _target(kind, text)
        facts.learn(
            {
                "platform": target.platform,
                "device": target.device,
                "topology": target.topology,
            }
        )
        rejects += [] if kind in FLAG_KINDS else target.rejects
    if kind == "module_metadata":
        metadata = parse_module_metadata(text)
        facts.passes += [(number, timing) for timing in metadata.passes]
        rejects += metadata.rejects
    if kind == "memory_analysis":
        analyses = parse_memory_analyses(text)
        facts.add_analyses(file.path, analyses.analyses)
        rejects += analyses.rejects
    report.status = "rejected" if rejects else "loaded"
    report.lines_total = len(text.splitlines())
    report.lines_unclaimed = report.lines_unclaimed or 0
    return rejects


# The modules of a run mostly have equal flags and targets.
@lru_cache(maxsize=64)
def _flags(kind: str, text: str) -> Flags:
    return parse_flags(kind, text)


@lru_cache(maxsize=64)
def _target(kind: str, text: str) -> Target:
    return parse_target(kind, text)
