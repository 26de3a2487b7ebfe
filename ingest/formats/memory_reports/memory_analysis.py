"""What JAX says of programs' memory: `Compiled.memory_analysis()` written as JSON.

    [{"module": "jit_f", "argument_size_in_bytes": 4096, "temp_size_in_bytes": 0, …}, …]

One object or a list of them; names are those of XLA's CompiledMemoryStats.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hlodb.ingest.formats.scan import printable
from hlodb.ingest.records import Reject, Tally

MEMORY_STATS: dict[str, str] = {
    "argument_bytes": "argument_size_in_bytes",
    "output_bytes": "output_size_in_bytes",
    "alias_bytes": "alias_size_in_bytes",
    "temp_bytes": "temp_size_in_bytes",
    "generated_code_bytes": "generated_code_size_in_bytes",
    "host_argument_bytes": "host_argument_size_in_bytes",
    "host_output_bytes": "host_output_size_in_bytes",
    "host_alias_bytes": "host_alias_size_in_bytes",
    "host_temp_bytes": "host_temp_size_in_bytes",
    "host_generated_code_bytes": "host_generated_code_size_in_bytes",
    "peak_bytes": "peak_memory_in_bytes",
    "total_allocation_bytes": "total_allocation_bytes",
    "indefinite_bytes": "indefinite_allocations",
    "peak_unpadded_bytes": "peak_unpadded_heap_bytes",
}
"""Our name of each size → XLA's; older releases lack some, the last before 0.11."""

_MOST_BYTES = 1 << 60


@dataclass(frozen=True, slots=True)
class MemoryAnalysis:
    """What is said of one program: sizes by our names, those unsaid left out."""

    module_name: str
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True)
class ParsedAnalyses:
    """The programs that a file speaks of, and what of it is no such thing."""

    analyses: list[MemoryAnalysis] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=Tally)


def parse_memory_analyses(text: str) -> ParsedAnalyses:
    """Read a file of memory analyses; no text makes it fail."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        return ParsedAnalyses(
            rejects=[_reject("malformed", f"no JSON: {error.msg}", error)]
        )
    except (RecursionError, ValueError) as error:
        return ParsedAnalyses(rejects=[_reject("malformed", f"no JSON: {error}")])
    parsed = ParsedAnalyses()
    for number, entry in enumerate(found if isinstance(found, list) else [found]):
        analysis = _analysis(entry)
        if analysis is not None:
            parsed.analyses.append(analysis)
        else:
            message = f"entry {number} has no module name with sizes in bytes"
            parsed.rejects.append(_reject("malformed", message))
    return parsed


def _analysis(entry: Any) -> MemoryAnalysis | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("module"), str):
        return None
    said = {ours: entry.get(theirs) for ours, theirs in MEMORY_STATS.items()}
    sizes = {name: size for name, size in said.items() if size is not None}
    if not sizes or not all(_is_size(size) for size in sizes.values()):
        return None
    return MemoryAnalysis(printable(entry["module"]), sizes)


def _is_size(size: Any) -> bool:
    return type(size) is int and abs(size) < _MOST_BYTES


def _reject(
    code: str, message: str, error: json.JSONDecodeError | None = None
) -> Reject:
    line, column = (error.lineno, error.colno) if error else (0, 0)
    return Reject(line, column, "memory analysis", code, message, "")
