"""Every table of the warehouse, declared once: DDL, comments and docs come from here.

`PUBLIC` holds what people query (schema `main`). Some of its tables are stored in a
tighter form in schema `store` (`STORE`) and shown through a view of the same name;
`view=True` marks them. Units stand in the column names: `_bytes` bytes, `_step`
positions in the schedule, `_ratio` shares from 0 to 1.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    TIMESTAMP,
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    Table,
    Text,
)

PUBLIC = MetaData()
STORE = MetaData(schema="store")

Columns = list[Column[object]]


def _big(name: str, comment: str) -> Column[object]:
    return Column(name, BigInteger, comment=comment, autoincrement=False)


def _int(name: str, comment: str) -> Column[object]:
    return Column(name, Integer, comment=comment, autoincrement=False)


def _text(name: str, comment: str) -> Column[object]:
    return Column(name, Text, comment=comment)


def _flag(name: str, comment: str) -> Column[object]:
    return Column(name, Boolean, comment=comment)


def _ratio(name: str, comment: str) -> Column[object]:
    return Column(name, Double, comment=comment)


def _run() -> Column[object]:
    return _big("run_id", "The run, see runs.")


def _module() -> Column[object]:
    return _big(
        "module_id",
        "Content of one module snapshot: first 64 bits of a BLAKE2b over its texts"
        " without source locations and pointers.",
    )


def _locations() -> Column[object]:
    return _big(
        "locations_id", "Content of a module's source locations: 64 bits of a BLAKE2b."
    )


def _instruction(what: str = "The instruction") -> Column[object]:
    return _int("instruction_id", f"{what}: its number in order of appearance.")


def _public(
    name: str, comment: str, *columns: Column[object], view: bool = False
) -> Table:
    return Table(name, PUBLIC, *columns, comment=comment, info={"view": view})


def _store(name: str, comment: str, *columns: Column[object]) -> Table:
    return Table(name, STORE, *columns, comment=comment)


# --- Runs and files ------------------------------------------------------------

RUNS = _public(
    "runs",
    "A dump directory or archive.",
    Column(
        "run_id",
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="Number of the run, in order of ingestion.",
    ),
    Column(
        "name", Text, unique=True, nullable=False, comment="Unique name of the run."
    ),
    _text("series", "The series it belongs to, such as nightly; NULL for none."),
    Column(
        "started_at",
        TIMESTAMP,
        comment="When the dump was written (UTC): the newest"
        " file time, or what --started-at said.",
    ),
    Column("ingested_at", TIMESTAMP, comment="When it was ingested (UTC)."),
    _text("commit_sha", "Commit of the program that was compiled."),
    _text("branch", "Branch of the program that was compiled."),
    _text("compiler_version", "XLA release: what the dump says, else a label."),
    _text("framework_version", "JAX, TensorFlow or PyTorch/XLA release, from a label."),
    _text("platform", "cpu, gpu, rocm or tpu: what the dump says, else a label."),
    _text("device", "Chip or GPU architecture, such as TPU v5e or sm_90."),
    _text("topology", "Arrangement of the devices, such as 2x2x1."),
    _text("origin", "The path or URL that was ingested."),
    Column("labels", JSON, comment="Further key=value labels, as a JSON object."),
    _text("hlodb_version", "Version of hlodb that ingested it."),
    Column(
        "pruned_at",
        TIMESTAMP,
        comment="When its details were deleted to save room (UTC); NULL while it is"
        " whole.",
    ),
)

DUMP_FILES = _public(
    "dump_files",
    "Every file of a run, also those that were not loaded.",
    _run(),
    _text("path", "Path inside the run, with forward slashes."),
    _text("kind", "What the file is, such as hlo_text, buffer_assignment, ignored."),
    _text("stage", "Stage of compilation it belongs to, NULL where there is none."),
    _big("module_id", "The module it helped to make; NULL where there is none."),
    _text("sha256", "Digest of its bytes, hexadecimal."),
    _big("size_bytes", "Its size, unpacked (bytes)."),
    _text("status", "loaded, duplicate, ignored or rejected."),
    _big("lines_total", "Lines of text; NULL for binary or unread files."),
    _big("lines_unclaimed", "Lines that no rule of the format took."),
    _text("reason", "Why it was ignored or rejected, or what it is."),
)

REJECTS = _public(
    "rejects",
    "Places of the input that break their format.",
    _run(),
    _text("path", "Path inside the run."),
    _big("line", "Line, from 1; NULL where the whole file is meant."),
    _big("column_number", "Column, from 1; NULL where unknown."),
    _text("section", "Section of the format, such as allocations."),
    _text("code", "Stable short name of the problem."),
    _text("message", "What was expected and what to do."),
    _text("snippet", "The text at that place, shortened."),
)

COMPILER_FLAGS = _public(
    "compiler_flags",
    "Compiler flags that the dump itself lists.",
    _run(),
    _int(
        "module_number", "Number of the module in file names; NULL for the whole run."
    ),
    _text("name", "Name of the flag, without dashes."),
    _text("value", "Its value as text."),
)

PASSES = _public(
    "passes",
    "Passes that ran on a module, from its metadata file.",
    _run(),
    _int("module_number", "Number of the module in file names."),
    _int("ordinal", "Order in which the file lists them, from 0."),
    _text("pipeline", "Pass pipeline."),
    _text("pass_name", "The pass."),
    _flag("has_changed", "Whether it changed the module."),
    _big("started_us", "When it began (microseconds since 1970)."),
    _big("duration_us", "How long it took (microseconds)."),
)

# --- Modules -------------------------------------------------------------------

MODULES = _public(
    "modules",
    "An occurrence of a module snapshot in a run.",
    _run(),
    _module(),
    _locations(),
    _int("module_number", "XLA's number in the file name, unique per process only."),
    _int("rank", "Process or host it came from, from folder or file names."),
    _text(
        "path",
        "File that names this occurrence (HLO text, else proto, else assignment).",
    ),
    _int("part", "Which module of that file, from 0."),
    _text("name", "Name of the HloModule."),
    _text(
        "program",
        "Name without number, build and unique suffixes: the same across runs.",
    ),
    _big(
        "program_key",
        "Hash of program, entry parameter and result shapes and num_partitions.",
    ),
    _text("stage", "before_optimizations, after_optimizations, pass and others."),
    _text("pipeline", "Pass pipeline of a per-pass dump."),
    _text("pass_after", "Pass that ran before this snapshot."),
    _text("pass_before", "Pass that runs after this snapshot."),
    _int("pass_step", "Number of the snapshot within its module."),
    _text("platform", "cpu, gpu, rocm or tpu, from file names; NULL where unknown."),
    _flag("is_scheduled", "Whether instructions stand in schedule order."),
    _int("num_partitions", "Number of SPMD partitions."),
    _int("replica_count", "Number of replicas."),
    _int("entry_computation_id", "The entry computation."),
    _text("entry_layout", "entry_computation_layout as printed."),
    _int("computation_count", "Number of computations (count)."),
    _int("instruction_count", "Number of instructions of the HLO text (count)."),
    _int("fusion_count", "Number of its fusion instructions (count)."),
    _big(
        "graph_fingerprint",
        "Hash of the opcode, shape and operand structure, without"
        " names, metadata, layouts, schedule.",
    ),
    _big("exact_fingerprint", "The same with layouts, schedule and backend config."),
    _big(
        "printed_total_bytes", "XLA's own 'Total bytes used', over all colours (bytes)."
    ),
    _int(
        "first_line",
        "Line of the first computation in the file; add line_offset of"
        " an instruction to it.",
    ),
    _big(
        "unit_digest",
        "Hash of the bytes of all its files: equal bytes are not parsed twice.",
    ),
    _int("allocation_count", "Number of allocations of its assignment (count)."),
    _int("value_count", "Number of values of its assignment (count)."),
    _int("live_range_count", "Number of live ranges of its assignment (count)."),
    _flag("has_assignment", "Whether a buffer assignment was found."),
    _flag("has_live_ranges", "Whether live ranges were found."),
    _flag(
        "is_detailed",
        "Whether its instructions are stored; not of passes under --passes metrics.",
    ),
)

COMPUTATIONS = _public(
    "computations",
    "A computation of a module.",
    _module(),
    _int("computation_id", "Number in order of appearance."),
    _text("name", "Its name."),
    _text(
        "kind",
        "entry, fusion, while_body, while_condition, reducer, branch, async or"
        " call: by who calls it.",
    ),
    _int("root_instruction_id", "Its root instruction."),
    _int("instruction_count", "Number of its instructions (count)."),
    _text("execution_thread", "Thread it runs on; NULL for the main one."),
)

_FORM: tuple[tuple[str, str, str], ...] = (
    (
        "text",
        "opcode",
        "Operation, such as fusion or dot; NULL where only the name is known.",
    ),
    ("text", "shape", "Shape of the result with layout, as printed."),
    ("text", "element_type", "Element type of an array, or tuple."),
    (
        "big",
        "logical_bytes",
        "Elements times element width, without padding; a tuple"
        " counts its pointer table only (bytes).",
    ),
    ("text", "layout", "Layout of an array, as printed between braces."),
    ("int", "color", "Memory space S(n) of the layout; 0 where none is printed."),
    ("int", "parameter_number", "Number of a parameter."),
    ("text", "op_name", "Framework path, from the metadata."),
    ("text", "op_type", "Framework operation, from the metadata."),
    ("text", "sharding", "Sharding as printed."),
    ("text", "fusion_kind", "kLoop, kInput, kOutput or kCustom."),
    ("text", "custom_call_target", "Target of a custom call."),
    ("big", "channel_id", "Channel of a collective."),
    ("text", "replica_groups", "Replica groups as printed."),
    ("text", "backend_config", "Backend configuration as printed, unescaped."),
    ("text", "literal", "Value of a constant as printed, whitespace folded."),
    ("text", "attributes", "All other attributes, as printed, in order."),
)
_MAKE = {"text": _text, "big": _big, "int": _int}


def _form_columns() -> Columns:
    return [_MAKE[kind](name, comment) for kind, name, comment in _FORM]


INSTRUCTIONS = _public(
    "instructions",
    "An instruction of a module.",
    _module(),
    _instruction(),
    _int(
        "computation_id",
        "Its computation; NULL where only a buffer assignment names it.",
    ),
    _text("name", "Its name."),
    *_form_columns(),
    _flag("is_root", "Whether it is the root of its computation."),
    _int("position", "Place within its computation as printed, from 0."),
    _int("schedule_step", "First step in the flattened schedule; NULL where unknown."),
    view=True,
)

OPERANDS = _public(
    "operands",
    "Which instruction reads which.",
    _module(),
    _instruction("The reader"),
    _int("operand_index", "Place in its operand list, from 0."),
    _int(
        "operand_id",
        "instruction_id of what it reads; NULL where the text does not resolve.",
    ),
    _text("shape_index", "Tuple path of compact get-tuple-element text, such as 0.1."),
)

CALLED_COMPUTATIONS = _public(
    "called_computations",
    "Which instruction calls which computation.",
    _module(),
    _instruction("The caller"),
    _text("role", "calls, to_apply, body, condition, branch_computations, …"),
    _int("ordinal", "Place in a list of computations, from 0."),
    _int("computation_id", "The computation; NULL where the text does not resolve."),
)

LOCATIONS = _public(
    "locations",
    "Source location of an instruction; instructions without one have no row.",
    _locations(),
    _instruction(),
    _text("source_file", "Source file, from the metadata of older releases."),
    _int("source_line", "Source line, from 1."),
    _int("source_end_line", "Last source line."),
    _int("source_column", "Source column, from 1."),
    _int("source_end_column", "Last source column."),
    _int("stack_frame_id", "Innermost stack frame, from newer releases."),
)

STACK_FRAMES = _public(
    "stack_frames",
    "Stack frames of a module's source locations.",
    _locations(),
    _int("stack_frame_id", "Number of the frame, from 1."),
    _int("parent_id", "The calling frame; NULL for the outermost."),
    _text("function_name", "Function of the frame."),
    _text("file_name", "File of the frame."),
    _int("line", "Line in that file, from 1."),
    _int("column", "Column in that line, from 1."),
    _int(
        "user_frame_id",
        "Innermost frame from here outwards that is not in a framework's own file;"
        " this frame itself where there is none.",
    ),
)

LOCATED_INSTRUCTIONS = _public(
    "located_instructions",
    "A run's instructions with the source line each comes from.",
    _run(),
    _module(),
    _instruction(),
    _big("line", "Line in the dump file, from 1."),
    _text(
        "source_file",
        "Source file: of the innermost user frame, else from the metadata.",
    ),
    _int("source_line", "Line in that file."),
    _text("function_name", "Function of that frame; NULL in older releases."),
    _int("stack_frame_id", "Innermost stack frame as printed."),
    view=True,
)

ALIASES = _public(
    "aliases",
    "Outputs that may or must share their buffer with a parameter, and donors.",
    _module(),
    _text(
        "output_index", "Index into the result tuple, such as {0}; NULL for a donor."
    ),
    _int("parameter_number", "The parameter."),
    _text("parameter_index", "Index into that parameter, such as {}."),
    _text("kind", "may-alias, must-alias or donor."),
)

# --- Buffer assignment -----------------------------------------------------------

ALLOCATIONS = _public(
    "allocations",
    "An allocation of a module's buffer assignment.",
    _module(),
    _int("allocation_id", "XLA's number, from 0."),
    _big("size_bytes", "What the arena reserves (bytes)."),
    _int("color", "Memory space number."),
    _text(
        "kind",
        "parameter, constant, thread_local, live_out or temp; the first that holds.",
    ),
    _int("parameter_number", "Entry parameter it holds."),
    _text("parameter_shape_index", "Index into that parameter, such as {}."),
    _flag("is_live_out", "Whether it may be live out of the entry computation."),
    _flag("is_output_tuple", "Whether it holds the top-level result."),
    _text("shape", "Shape of parameter or result as printed."),
    _int("page", "Page of a multi-page space; NULL for the only one."),
)

VALUES = _public(
    "values",
    "A value (a logical buffer) of a module's buffer assignment.",
    _module(),
    _int("value_id", "XLA's number."),
    _text("instruction", "Name of the defining instruction."),
    _instruction("The defining instruction"),
    _text(
        "shape_index",
        "Index into a tuple-shaped result, such as {0}; NULL for an array.",
    ),
    _int("color", "Memory space number."),
    _flag("is_phi", "Whether it merges values, as a while result does."),
    _text("shape", "Its shape with layout."),
    _big("logical_bytes", "Elements times element width, without padding (bytes)."),
    view=True,
)

ALLOCATION_VALUES = _public(
    "allocation_values",
    "Where in an allocation a value lies.",
    _module(),
    _int("allocation_id", "The allocation."),
    _int("value_id", "The value."),
    _big("offset_bytes", "Offset from the start of the allocation (bytes)."),
    _big("size_bytes", "Room it takes, padding included (bytes)."),
)

VALUE_POSITIONS = _public(
    "value_positions",
    "Places where a value appears; ordinal 0 is its definition.",
    _module(),
    _int("value_id", "The value."),
    _int(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    _text("instruction", "Name of the instruction."),
    _instruction(),
    _text("shape_index", "Index into its result; NULL for an array."),
    view=True,
)

VALUE_USES = _public(
    "value_uses",
    "Operands that read a value.",
    _module(),
    _int("value_id", "The value."),
    _int(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    _text("instruction", "Name of the reader."),
    _instruction("The reader"),
    _int("operand_index", "Operand number, from 0."),
    _text("shape_index", "Index into that operand; NULL for an array."),
    view=True,
)

SCHEDULE = _public(
    "schedule",
    "The flattened schedule: one instruction a step.",
    _module(),
    _int("step", "Position, from 0."),
    _text("instruction", "Name of the instruction."),
    _instruction(),
    view=True,
)

LIVE_RANGES = _public(
    "live_ranges",
    "Steps at which a value is live, inclusive at both ends.",
    _module(),
    _text("instruction", "Name of the defining instruction."),
    _text("shape_index", "Index into its result, {} for an array."),
    _int(
        "value_id", "The value; NULL where the assignment has none (it is not placed)."
    ),
    _instruction("The defining instruction"),
    _int("start_step", "First step."),
    _int("end_step", "Last step; one past the schedule for what outlives it."),
    view=True,
)

PRINTED_PEAKS = _public(
    "printed_peaks",
    "XLA's own listing at its own peak: evidence, never the peak.",
    _module(),
    _text("instruction", "Name of the instruction."),
    _text("shape_index", "Index as printed, empty where none is printed."),
    _int("peak_step", "Step that XLA printed."),
    _big(
        "printed_bytes",
        "Bytes that XLA printed: unpadded; older releases count a"
        " tuple element as its pointer table (bytes).",
    ),
)

# --- Derived at ingest -------------------------------------------------------------

MEMORY_PROFILE = _public(
    "memory_profile",
    "Memory of a module per colour, derived at ingest.",
    _module(),
    _int("color", "Memory space number."),
    _big(
        "reserved_bytes",
        "Sum of all allocation sizes of the colour; the five kinds"
        " below add up to it (bytes).",
    ),
    _big("parameter_bytes", "Allocations of entry parameters (bytes)."),
    _big("constant_bytes", "Allocations of constants (bytes)."),
    _big(
        "live_out_bytes",
        "Allocations that outlive the program and hold no parameter (bytes).",
    ),
    _big("thread_local_bytes", "Thread-local allocations (bytes)."),
    _big("temp_bytes", "Temporary allocations (bytes)."),
    _big(
        "temp_live_peak_bytes",
        "Most bytes of temporary allocations live at one step;"
        " NULL without live ranges (bytes).",
    ),
    _big(
        "live_peak_bytes",
        "Most bytes live at one step: live temporary bytes plus"
        " whole parameters, constants and live-outs while they hold anything; NULL"
        " without live ranges (bytes).",
    ),
    _int("peak_step", "First step that reaches live_peak_bytes."),
    _big("fragmentation_bytes", "temp_bytes minus temp_live_peak_bytes (bytes)."),
    _ratio(
        "fragmentation_ratio",
        "fragmentation_bytes divided by temp_bytes; NULL without temporaries.",
    ),
    _big(
        "padding_bytes",
        "Room beyond the logical size of the values live at peak_step,"
        " bytes shared in place counted once (bytes).",
    ),
    _int("allocation_count", "Number of allocations (count)."),
    _int(
        "conflict_count",
        "Pairs of values that overlap in address and strictly in"
        " time: 0 in a sound dump (count).",
    ),
)

MODULE_MEMORY = _public(
    "module_memory",
    "memory_profile of every module occurrence, with the names of run and memory space:"
    " what questions across runs read.",
    _run(),
    _text("run", "Name of the run."),
    _text("series", "Series of the run."),
    _text("program", "Name of the program, the same across runs."),
    _big("program_key", "Hash of program, entry shapes and num_partitions."),
    _text("stage", "Stage of compilation."),
    _int("rank", "Process or host."),
    _int("module_number", "XLA's number in the file name."),
    _module(),
    _locations(),
    _text("platform", "cpu, gpu, rocm or tpu."),
    _int("color", "Memory space number."),
    _text("space_name", "Name of the memory space."),
    *(
        c._copy()
        for c in MEMORY_PROFILE.columns
        if c.name not in ("module_id", "color")
    ),
    _big("graph_fingerprint", "Hash of the structure, see modules."),
    _big("exact_fingerprint", "Hash with layouts, schedule and backend config."),
    _big(
        "printed_total_bytes",
        "XLA's 'Total bytes used' of the module, over all colours (bytes).",
    ),
    view=True,
)

MEMORY_TIMELINE = _public(
    "memory_timeline",
    "Live bytes over the schedule per colour, run-length encoded, derived at ingest.",
    _module(),
    _int("color", "Memory space number."),
    _int("from_step", "First step of the stretch."),
    _int("to_step", "Last step of the stretch, inclusive."),
    _big("live_bytes", "Live bytes, as in memory_profile.live_peak_bytes (bytes)."),
    _big("temp_live_bytes", "Live bytes of temporary allocations (bytes)."),
)

# --- Evidence: what XLA and JAX say of a module's memory themselves -----------------

MEMORY_REPORTS = _public(
    "memory_reports",
    "Totals of a module's memory-usage report: evidence for checks.",
    _module(),
    _int("color", "Memory space number; NULL where the report mixes them."),
    _big("total_bytes", "Sum of all allocations, exact (bytes)."),
    _int("hidden_count", "Small allocations that the report leaves out (count)."),
)

MEMORY_REPORT_ALLOCATIONS = _public(
    "memory_report_allocations",
    "Allocations that a module's memory-usage report lists with their numbers.",
    _module(),
    _int("allocation_id", "XLA's number of the allocation."),
    _int("color", "Memory space number; NULL where the report mixes them."),
    _big("size_bytes", "Its size: exact from a proto, else rounded (bytes)."),
    _text("size_text", "Its size as printed, such as 4.0KiB; NULL from a proto."),
)

MEMORY_REPORT_VALUES = _public(
    "memory_report_values",
    "Values at one offset of an allocation, as the memory-usage report has them.",
    _module(),
    _int("table_number", "Number of the table, by its content, from 0."),
    _int("color", "Memory space number; NULL where the report mixes them."),
    _int("allocation_id", "XLA's number; NULL since 2026-03, where none is printed."),
    _big("offset_bytes", "Offset from the start of the allocation, exact (bytes)."),
    _int("value_count", "Number of values at this offset (count)."),
    _big("size_bytes", "Largest size of these values, rounded (bytes)."),
    _text("size_text", "That size as printed, such as 4.0KiB."),
    _text("shapes", "Shapes of the values, as printed."),
)

MEMORY_ANALYSIS = _public(
    "memory_analysis",
    "What JAX's Compiled.memory_analysis() said of a program: evidence for checks.",
    _run(),
    _text("path", "File inside the run; it speaks of modules in its own folder."),
    _int("ordinal", "Place in that file, from 0."),
    _text("module_name", "Name of the HloModule it is about."),
    _big("argument_bytes", "Entry parameters (bytes)."),
    _big("output_bytes", "What is live out, donated parameters included (bytes)."),
    _big("alias_bytes", "Parameters that outputs take over (bytes)."),
    _big("temp_bytes", "Temporary memory, by the backend's own definition (bytes)."),
    _big("generated_code_bytes", "Machine code (bytes)."),
    _big("host_argument_bytes", "Entry parameters in host memory (bytes)."),
    _big("host_output_bytes", "What is live out in host memory (bytes)."),
    _big("host_alias_bytes", "Parameters that outputs take over, on the host (bytes)."),
    _big("host_temp_bytes", "Temporary host memory (bytes)."),
    _big("host_generated_code_bytes", "Machine code for the host (bytes)."),
    _big("peak_bytes", "XLA's own peak, which mixes colours: never the peak (bytes)."),
)

PROTO_FACTS = _public(
    "proto_facts",
    "Modules of which a proto was read: what only it says.",
    _module(),
    _flag("is_dynamic", "Whether shapes are dynamic."),
    _int("cross_program_prefetch_count", "Parameters prefetched for it (count)."),
)

ELIDED_LITERALS = _public(
    "elided_literals",
    "Constants that the text elides as {...}, from the proto.",
    _module(),
    _instruction("The constant"),
    _big("size_bytes", "Size of the literal's message (bytes)."),
    _text("digest", "Digest that tells constants apart, hexadecimal."),
)

ALLOCATION_FLAGS = _public(
    "allocation_flags",
    "What the proto says of an allocation beyond the text.",
    _module(),
    _big("allocation_id", "XLA's number."),
    _flag("is_tuple", "Whether it holds a table of pointers."),
    _flag(
        "is_aliased",
        "Whether it is a parameter that shares its buffer with an output (since 2025).",
    ),
)

HEAP_TRACES = _public(
    "heap_traces",
    "Runs of XLA's heap simulator, from the proto.",
    _module(),
    _int("trace_id", "Number of the run, from 0."),
    _big("allocation_id", "Allocation that its first buffer lies in."),
    _flag("is_whole_module", "Whether it covers the whole module."),
)

HEAP_EVENTS = _public(
    "heap_events",
    "Events of XLA's heap simulator, from the proto.",
    _module(),
    _int("trace_id", "The run."),
    _int("event", "Place in the run, from 0."),
    _text("kind", "alloc, free or share_with."),
    _big("value_id", "The value."),
    _big("shared_value_id", "The value whose buffer it shares; NULL for others."),
)

PEAK_BUFFERS = _public(
    "peak_buffers",
    "Values live at the peak of their allocation by XLA's account, from the proto.",
    _module(),
    _big("allocation_id", "The allocation."),
    _big("value_id", "The value."),
)

PROTO_COMPARISONS = _public(
    "proto_comparisons",
    "Text and proto of one module, table by table: evidence for checks.",
    _run(),
    _text("path", "The proto's file inside the run, see dump_files."),
    _text("table_name", "Table whose rows were compared."),
    _big("compared_count", "Rows that both forms should give (count)."),
    _big("difference_count", "Rows that only one of them gives (count)."),
    _text("example", "The first row that differs."),
)

OOM_REPORTS = _public(
    "oom_reports",
    "Reports of running out of memory, from logs. Sizes are printed to a few digits.",
    _run(),
    _text("path", "File inside the run."),
    _int("ordinal", "Which report of that file, from 0."),
    _big("line", "Line it begins at, from 1."),
    _text("form", "buffer_assignment (CPU, GPU) or program_memory (TPU)."),
    _text("space_name", "Memory space as printed, such as hbm; NULL where none is."),
    _big("requested_bytes", "What could not be allocated (bytes)."),
    _big("used_bytes", "What the program needs of the space (bytes)."),
    _big("capacity_bytes", "What the space holds (bytes)."),
    _big("reserved_bytes", "What is reserved for others (bytes)."),
    _big("program_bytes", "Requirement of the program alone (bytes)."),
    _big("parameter_bytes", "Parameters or arguments (bytes)."),
    _big("constant_bytes", "Constants (bytes)."),
    _big("live_out_bytes", "Live-outs or outputs (bytes)."),
    _big("shared_bytes", "Outputs that share memory with arguments (bytes)."),
    _big("temp_bytes", "Temporaries (bytes)."),
    _big("temp_fragmentation_bytes", "Fragmentation of the temporaries (bytes)."),
    _big("total_bytes", "All allocations of the assignment (bytes)."),
    _big("total_fragmentation_bytes", "Fragmentation of all allocations (bytes)."),
)

OOM_BUFFERS = _public(
    "oom_buffers",
    "The largest buffers that a report of running out of memory lists.",
    _run(),
    _text("path", "File inside the run."),
    _int("ordinal", "Which report of that file, from 0."),
    _int("place", "Place in its list, from 1."),
    _big("size_bytes", "Its size, printed to a few digits (bytes)."),
    _big("unpadded_bytes", "Its size without padding; NULL where unsaid (bytes)."),
    _text("shape", "Its shape, of an entry parameter too."),
    _flag("is_parameter", "Whether it belongs to an entry parameter."),
    _text("label", "XLA's name, opcode or text of the instruction."),
    _text("op_name", "Framework path."),
    _text("source_file", "Source file."),
    _int("source_line", "Line in that file."),
    _text("allocation_type", "Such as HLO temp; NULL where unsaid."),
)

MEMORY_SPACES = _public(
    "memory_spaces",
    "Names of memory spaces per platform; others are called color_N.",
    _text("platform", "cpu, gpu, rocm or tpu."),
    _int("color", "Memory space number."),
    _text("space_name", "Its name."),
)

WAREHOUSE_INFO = _public(
    "warehouse_info",
    "Facts about this file.",
    Column("key", Text, primary_key=True, comment="schema_version, created_by."),
    _text("value", "Its value."),
)

# --- Compact storage behind the views ----------------------------------------------

STORED_FORMS = _store(
    "instruction_forms",
    "What an instruction says apart from its name, operands and place; each once.",
    _int("form_id", "Number of the form in this warehouse."),
    _big("form_key", "64 bits of a BLAKE2b over its columns."),
    *_form_columns(),
)

STORED_INSTRUCTIONS = _store(
    "instructions",
    "Instructions of a module: name, place and form.",
    _module(),
    _instruction(),
    _int("computation_id", "Its computation."),
    _text("name", "Its name."),
    _int("form_id", "Its form."),
    _flag("is_root", "Whether it is the root of its computation."),
    _int("position", "Place within its computation, from 0."),
    _int("schedule_step", "First step in the flattened schedule."),
    _int("line_offset", "Lines after the first computation's line in the dump file."),
)

STORED_VALUES = _store(
    "values",
    "Values without the name of their instruction.",
    _module(),
    _int("value_id", "XLA's number."),
    _instruction("The defining instruction"),
    _text("shape_index", "Index into a tuple-shaped result; NULL for an array."),
    _int("color", "Memory space number."),
    _flag("is_phi", "Whether it merges values."),
    _text("shape", "Its shape with layout."),
    _big("logical_bytes", "Size without padding (bytes)."),
)

STORED_POSITIONS = _store(
    "value_positions",
    "Positions without the name of the instruction.",
    _module(),
    _int("value_id", "The value."),
    _int(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    _instruction(),
    _text("shape_index", "Index into its result; NULL for an array."),
)

STORED_USES = _store(
    "value_uses",
    "Uses without the name of the instruction.",
    _module(),
    _int("value_id", "The value."),
    _int(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    _instruction("The reader"),
    _int("operand_index", "Operand number, from 0."),
    _text("shape_index", "Index into that operand; NULL for an array."),
)

STORED_SCHEDULE = _store(
    "schedule",
    "The flattened schedule without names.",
    _module(),
    _int("step", "Position, from 0."),
    _instruction(),
)

STORED_LIVE_RANGES = _store(
    "live_ranges",
    "Live ranges without names.",
    _module(),
    _instruction("The defining instruction"),
    _text("shape_index", "Index into its result, {} for an array."),
    _int("value_id", "The value; NULL where it is not placed."),
    _int("start_step", "First step."),
    _int("end_step", "Last step, inclusive."),
)

# --- Findings of reports ---------------------------------------------------------

FINDINGS = _public(
    "findings",
    "Differences that reports found, each once: what hlodb triage decides about.",
    Column(
        "finding_id",
        Text,
        primary_key=True,
        comment="Stable id: hash of program, rank, colour, metric and first run.",
    ),
    _text("program", "Name of the program, see modules."),
    _int("rank", "Process or host; NULL where unknown."),
    _int("color", "Memory space number."),
    _text("space_name", "Name of the memory space."),
    _text("metric", "What moved, such as reserved_bytes."),
    _text("first_run", "Name of the run in which the difference first appeared."),
    _text("base_run", "Name of the run it was compared with when first found."),
    _text("change", "worse, improved, mixed, new, failed, not_comparable and others."),
    _big("base_bytes", "The metric in the base; NULL where it has none (bytes)."),
    _big("candidate_bytes", "The metric in the candidate; NULL likewise (bytes)."),
    _text("cause_key", "Short name of the cause, to group by."),
    _text("cause_title", "The cause in a sentence."),
    _text("report_id", "The report that found it first."),
)

FINDING_EVENTS = _public(
    "finding_events",
    "What happened to a finding: seen by a report, or decided about by hlodb triage.",
    _text("finding_id", "The finding."),
    _int("event_number", "Order of the events of a finding, from 1."),
    _text(
        "event",
        "seen; accepted, waived, invalid, fixed, acknowledged, duplicate or reopened.",
    ),
    _text("reason", "Why, in the words of who decided."),
    _text("until", "First day on which a waiver no longer holds (ISO 8601)."),
    _text("actor", "Who decided."),
    Column("happened_at", TIMESTAMP, comment="When it was recorded (UTC)."),
    _text("report_id", "The report that saw it; NULL for a decision."),
    _text("candidate_run", "Name of the run it was seen in; NULL for a decision."),
)
