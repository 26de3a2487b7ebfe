"""The files of a dump directory, as data: their kinds, stages and names.

The tables are ordered; the first row that fits wins.
Names are XLA's own (`xla/service/dump.cc` and its callers, and libtpu's dumps).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "hlo_text",
    "hlo_proto",
    "hlo_riegeli",
    "hlo_snapshot",
    "hlo_text_proto",
    "executable",
    "buffer_assignment",
    "buffer_assignment_values",
    "live_range",
    "memory_report",
    "memory_report_proto",
    "debug_options",
    "flagfile",
    "target_arguments",
    "gpu_target_config",
    "module_config",
    "execution_options",
    "compile_options",
    "topology",
    "module_metadata",
    "tpu_comp_env",
    "text_proto",
    "xplane",
    "memory_analysis",
    "log",
    "ignored",
    "unknown",
]
"""What a file is; `ignored` is known and of no use here, `unknown` is not known."""

HEAD_BYTES = 1 << 16
"""How much of a file's beginning tells its kind."""

Stage: TypeAlias = Literal[
    "before_optimizations",
    "pass",
    "after_spmd_partitioner",
    "before_config_assignment",
    "after_optimizations_before_buffer_assignment",
    "after_optimizations_after_buffer_assignment",
    "after_optimizations",
    "after_codegen",
    "after_codegen_after_hlo_sanitization",
    "oom_intermediate_module",
]
"""The point of the compilation at which a module was dumped."""

STAGES: tuple[Stage, ...] = (
    "before_optimizations",
    "pass",
    "after_spmd_partitioner",
    "before_config_assignment",
    "after_optimizations_before_buffer_assignment",
    "after_optimizations_after_buffer_assignment",
    "after_optimizations",
    "after_codegen",
    "after_codegen_after_hlo_sanitization",
    "oom_intermediate_module",
)
"""Stages in the order in which a compilation passes through them.

libtpu writes oom_intermediate_module where it gives up for lack of memory.
"""

STAGE_TOKENS: dict[str, Stage] = {
    **{stage: stage for stage in STAGES if stage != "pass"},
    # The hlo-opt tool says it in the singular.
    "before_optimization": "before_optimizations",
    "after_optimization": "after_optimizations",
}
"""Stage as spelled in a file name → stage."""

TEXT_KINDS: frozenset[Kind] = frozenset(
    {
        "hlo_text",
        "hlo_text_proto",
        "buffer_assignment",
        "buffer_assignment_values",
        "live_range",
        "memory_report",
        "debug_options",
        "flagfile",
        "target_arguments",
        "gpu_target_config",
        "module_config",
        "execution_options",
        "compile_options",
        "topology",
        "module_metadata",
        "tpu_comp_env",
        "text_proto",
        "memory_analysis",
        "log",
    }
)
"""Kinds whose content is text."""

NESTED_KINDS: frozenset[Kind] = TEXT_KINDS - {
    "hlo_text",
    "hlo_text_proto",
    "buffer_assignment",
    "buffer_assignment_values",
    "live_range",
    "memory_report",
    "log",
}
"""Kinds whose content is a text proto, flags or JSON: small, and nested."""

PROTO_KINDS: frozenset[Kind] = frozenset(
    {
        "hlo_proto",
        "hlo_riegeli",
        "hlo_snapshot",
        "executable",
        "memory_report_proto",
        "xplane",
    }
)
"""Kinds whose content is a binary protobuf message."""

READ_KINDS: frozenset[Kind] = TEXT_KINDS | PROTO_KINDS
"""Kinds that make a directory a dump: everything but `ignored` and `unknown`."""

PAGE_SUFFIXES: frozenset[str] = frozenset(
    {
        *("adoc", "bib", "htm", "html", "ipynb", "markdown", "md", "mdx", "org", "rst"),
        *("tex", "xml", "diff", "patch", "css", "csv", "tsv", "sql", "proto", "mlir"),
        *("bash", "bzl", "c", "cc", "cfg", "cpp", "cu", "cuh", "go", "h", "hpp", "ini"),
        *("java", "jl", "js", "kt", "lock", "py", "pyi", "r", "rs", "scala", "sh"),
        *("swift", "toml", "ts", "tsx", "yaml", "yml"),
    }
)
"""Endings of pages and sources: a log in one is an excerpt, and no log of a run."""

COMPRESSION_SUFFIXES: tuple[str, ...] = (".gz", ".xz", ".zst", ".bz2")
"""Endings of a single compressed file; they say nothing about what it is."""

ARCHIVE_SUFFIXES: tuple[str, ...] = (
    ".tar",
    *(f".tar{suffix}" for suffix in COMPRESSION_SUFFIXES),
    ".tgz",
    ".txz",
    ".tzst",
    ".tbz2",
    ".tbz",
    ".zip",
)
"""Endings of a packed directory."""


class NamedKind(NamedTuple):
    """A row of a name table: names that end in `suffix` are of this kind."""

    suffix: str
    kind: Kind
    description: str


ARTEFACTS: tuple[NamedKind, ...] = (
    NamedKind(
        "-buffer-assignment-values.txt",
        "buffer_assignment_values",
        "values of a buffer assignment",
    ),
    NamedKind("-buffer-assignment.txt", "buffer_assignment", "buffer assignment"),
    NamedKind("-live-range.txt", "live_range", "live ranges"),
    NamedKind("-memory-usage-report.txt", "memory_report", "memory usage report"),
    NamedKind(
        "-memory-usage-report.pb", "memory_report_proto", "MemoryUsageReportProto"
    ),
    NamedKind(".hlo.pb", "hlo_proto", "HloProto"),
    NamedKind("_hlo.pb", "hlo_proto", "HloProto"),
    # Dumps have no such files; who renames a dump makes them.
    NamedKind(".hlo", "hlo_text", "HLO module text"),
    NamedKind(".riegeli", "hlo_riegeli", "HloProto in Riegeli records"),
    NamedKind(".top_level.html", "ignored", "HLO graph (HTML)"),
    NamedKind(".html", "ignored", "HLO graph (HTML)"),
    NamedKind(".dot", "ignored", "HLO graph (DOT)"),
    NamedKind(".url", "ignored", "address of a rendered HLO graph"),
    NamedKind(".fdo_profile", "ignored", "profile for feedback-directed optimization"),
    NamedKind(".txt", "hlo_text", "HLO module text"),
)
"""What may hang on a stage: `module_0001.f.cpu_after_optimizations` + suffix."""

COMPANION_KINDS: frozenset[Kind] = frozenset(
    {
        "hlo_text",
        "hlo_proto",
        "hlo_riegeli",
        "hlo_snapshot",
        "hlo_text_proto",
        "buffer_assignment",
        "buffer_assignment_values",
        "live_range",
        "memory_report",
        "memory_report_proto",
    }
)
"""Kinds that together describe one module at one stage."""

STAGELESS: tuple[tuple[str, Kind, str], ...] = (
    # Read: flags, target, configuration, pass timings.
    (r"debug_options(?:\.txt)?", "debug_options", "DebugOptions that are not default"),
    (r"flagfile", "flagfile", "compiler flags, one a line"),
    (r"target_arguments\.txt", "target_arguments", "TPU target and topology"),
    (r"gpu_target_config\.pbtxt", "gpu_target_config", "GpuTargetConfigProto"),
    (
        r"hlo_module_config\.txt|config\.pbtxt",
        "module_config",
        "HloModuleConfigProto",
    ),
    (r"execution_options\.txt", "execution_options", "ExecutionOptions"),
    (r"metadata\.textproto", "module_metadata", "passes and their timings"),
    (r"tpu_comp_env\.txt", "tpu_comp_env", "TpuCompilationEnvironment"),
    (
        r"basic_compiler_metadata\.txt|transfer_stats\.txt|sdc_metadata\.txt",
        "text_proto",
        "text proto about the compilation",
    ),
    (r"autotune_results\.pbtxt", "text_proto", "AutotuneResults"),
    # Modules.
    (r"buffer_assignment", "buffer_assignment", "buffer assignment"),
    (r"\d+\.(?:before|after)\.txt", "hlo_text", "HLO of an autotuning candidate"),
    (r"hlo", "hlo_text", "HLO text"),
    (r"hlo\.txt", "hlo_text", "HLO text"),
    (r"xplane\.pb", "xplane", "XSpace profile"),
    # The number is one of an execution, of 32 bits with a sign.
    (
        r"(?:execution_\d+\.hlo_snapshot|snapshot\.-?\d+)\.pb",
        "hlo_snapshot",
        "HloSnapshot",
    ),
    (
        r"execution_\d+\.hlo_unoptimized_snapshot\.pb",
        "hlo_snapshot",
        "HloUnoptimizedSnapshot",
    ),
    (
        r"execution_\d+\.hlo_unoptimized_snapshot\.txt",
        "hlo_text_proto",
        "HloUnoptimizedSnapshot",
    ),
    # Known and of no use here.
    (r"execution_\d+\.(?:pb|txt)", "ignored", "buffer debug log of an execution"),
    (
        r"(?:debug_options|target_arguments|hlo_module_config|execution_options"
        r"|tpu_comp_env|basic_compiler_metadata|transfer_stats|sdc_metadata)\.pb",
        "ignored",
        "binary form of a configuration that is read as text only",
    ),
    (
        r"thunk_(?:sequence|sequence_after_thunk_passes|schedule|metadata)"
        r"(?:\.txt|\.pb)?",
        "ignored",
        "thunks of the executable",
    ),
    (r"priority_fusion_dump\.(?:txt|pb)", "ignored", "steps of priority fusion"),
    (r"(?:before_validation\.)?ttir(?:\.txt)?", "ignored", "Triton IR"),
    (
        r"triton_fusion_numerics_verifier_failed_.*",
        "ignored",
        "failed check of a Triton fusion",
    ),
    (r"cudnn_fusion_\w+\.json", "ignored", "cuDNN graph"),
    (r"schedule\.(?:txt|pb)", "ignored", "schedule of the latency-hiding scheduler"),
    (
        r"mlir-passes\.log|mlir-trace(?:\.txt|\.pb)?",
        "ignored",
        "log or trace of MLIR passes",
    ),
    (r"ir-(?:no|with)-opt(?:-noconst)?\.ll|ll|bc", "ignored", "LLVM IR"),
    (r"ptx", "ignored", "PTX"),
    (r"cubin|hsaco|fatbin", "ignored", "GPU machine code"),
    (r"spv", "ignored", "SPIR-V"),
    (r"o|obj|so|a", "ignored", "object file"),
    (r"s|asm", "ignored", "assembly"),
    (r"mlir|mlirbc", "ignored", "MLIR"),
    (r"dot|gv", "ignored", "graph (DOT)"),
    (r"html?|svg|png|url|pyz", "ignored", "picture"),
    (r"json|csv", "ignored", "table or trace"),
    (r"xplane\.riegeli", "xplane", "XSpace profile in Riegeli records"),
    (r"riegeli", "hlo_riegeli", "HloProto in Riegeli records"),
    (r"fdo_profile", "ignored", "profile for feedback-directed optimization"),
    (r"pbtxt|textproto|textpb|txtpb|prototxt", "text_proto", "text proto"),
)
"""Names without a stage: (pattern, kind, description).

The pattern is a regular expression for all that follows one of the name's dots.
"""

CACHE_NAME = r"(?P<module>.+)-[0-9a-f]{64}(?P<ending>-cache|-atime)?"
"""Name of a file in JAX's compilation cache; before 0.4.36 it had no ending."""

CACHE_KINDS: dict[str, tuple[Kind, str]] = {
    "": ("executable", "entry of JAX's compilation cache"),
    "-cache": ("executable", "entry of JAX's compilation cache"),
    "-atime": ("ignored", "time at which a cache entry was last used"),
}
"""What the endings of such names stand for."""

SNAPSHOT_STAGES: dict[str, Stage] = {
    "HloSnapshot": "after_optimizations",
    "HloUnoptimizedSnapshot": "before_optimizations",
}
"""Of which stage the module of a snapshot is, by its description."""

EXECUTABLES_AS_TEXT: dict[str, str] = {
    "CPU executable as text": "cpu",
    "GPU executable as text": "gpu",
}
"""The platform of an executable that is text, by its description."""

NUMBERED: dict[str, tuple[Kind, str]] = {
    ".hlo": ("ignored", "a computation as it is given to Triton; its module has it"),
}
"""Tails of names that mean something else behind `module_0001.`."""

WHOLE_NAMES: dict[str, tuple[Kind, str]] = {
    # In a folder of the module's name, `module_0001.f`; older ones are called `f_123`.
    "compile_options.textproto": (
        "compile_options",
        "CompileOptionsProto given to PJRT",
    ),
    "topology.textproto": ("topology", "topology given to PJRT"),
    "compile_options.pb": (
        "ignored",
        "CompileOptionsProto given to PJRT, which is read as text only:"
        " dump without --xla_dump_hlo_as_proto",
    ),
    "topology.pb": ("ignored", "topology given to PJRT, which is read as text only"),
    "module.mlir": ("ignored", "StableHLO given to PJRT"),
    "memory_analysis.json": (
        "memory_analysis",
        "what JAX reports of programs' memory",
    ),
}
"""Files known by their whole name; their folder may say whose they are."""

FLAG_KINDS: frozenset[Kind] = frozenset(
    ("debug_options", "flagfile", "tpu_comp_env", "module_config", "compile_options")
)
# Options say nothing of the target, but broken ones are to be reported.
TARGET_KINDS: frozenset[Kind] = frozenset(
    ("target_arguments", "gpu_target_config", "execution_options", "topology")
)
FACT_KINDS = FLAG_KINDS | TARGET_KINDS | {"module_metadata", "memory_analysis"}
"""Kinds of file that say something of a whole run."""
