"""What XLA and JAX say themselves of a module's memory."""

from __future__ import annotations

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    boolean,
    instruction_id,
    integer,
    module_id,
    public,
    run_id,
    text,
    to_module,
    to_run,
)

MEMORY_REPORTS = public(
    "memory_reports",
    "Totals of a module's memory-usage report: evidence for checks.",
    module_id(),
    integer("color", "Memory space number; NULL where the report mixes them."),
    bigint("total_bytes", "Sum of all allocations, exact (bytes)."),
    integer("hidden_count", "Small allocations that the report leaves out (count)."),
    key=("module_id", "color"),
    references=(to_module(),),
)

MEMORY_REPORT_ALLOCATIONS = public(
    "memory_report_allocations",
    "Allocations that a module's memory-usage report lists with their numbers.",
    module_id(),
    integer("allocation_id", "XLA's number of the allocation."),
    integer("color", "Memory space number; NULL where the report mixes them."),
    bigint("size_bytes", "Its size: exact from a proto, else rounded (bytes)."),
    text("size_text", "Its size as printed, such as 4.0KiB; NULL from a proto."),
    key=("module_id", "allocation_id"),
    references=(to_module(),),
)

MEMORY_REPORT_VALUES = public(
    "memory_report_values",
    "Values at one offset of an allocation, as the memory-usage report has them.",
    module_id(),
    integer("table_number", "Number of the table, by its content, from 0."),
    integer("color", "Memory space number; NULL where the report mixes them."),
    integer(
        "allocation_id", "XLA's number; NULL since 2026-03, where none is printed."
    ),
    bigint("offset_bytes", "Offset from the start of the allocation, exact (bytes)."),
    integer("value_count", "Number of values at this offset (count)."),
    bigint("size_bytes", "Largest size of these values, rounded (bytes)."),
    text("size_text", "That size as printed, such as 4.0KiB."),
    text("shapes", "Shapes of the values, as printed."),
    references=(to_module(),),
)

MEMORY_ANALYSIS = public(
    "memory_analysis",
    "Output of JAX's Compiled.memory_analysis() for a program: evidence for checks.",
    run_id(),
    text("path", "File inside the run; it describes modules of its folder."),
    integer("ordinal", "Place in that file, from 0."),
    text("module_name", "Name of the HloModule it is about."),
    bigint("argument_bytes", "Entry parameters (bytes)."),
    bigint("output_bytes", "Live-outs, donated parameters included (bytes)."),
    bigint("alias_bytes", "Parameters whose memory outputs take over (bytes)."),
    bigint("temp_bytes", "Temporary memory, by the backend's own definition (bytes)."),
    bigint("generated_code_bytes", "Machine code (bytes)."),
    bigint("host_argument_bytes", "Entry parameters in host memory (bytes)."),
    bigint("host_output_bytes", "Live-outs in host memory (bytes)."),
    bigint(
        "host_alias_bytes", "Parameters whose host memory outputs take over (bytes)."
    ),
    bigint("host_temp_bytes", "Temporary host memory (bytes)."),
    bigint("host_generated_code_bytes", "Machine code for the host (bytes)."),
    bigint(
        "peak_bytes",
        "XLA's own peak, which mixes memory spaces: never used as the peak (bytes).",
    ),
    key=("run_id", "path", "ordinal"),
    references=(to_run(),),
)

ELIDED_LITERALS = public(
    "elided_literals",
    "Constants that the text elides as {...}, from the proto.",
    module_id(),
    instruction_id("The constant"),
    bigint("size_bytes", "Size of the literal's message (bytes)."),
    text("digest", "Digest that distinguishes constants, hexadecimal."),
    references=(to_module(),),
)

PROTO_COMPARISONS = public(
    "proto_comparisons",
    "Text and proto of one module, table by table: evidence for checks.",
    run_id(),
    text("path", "The proto's file inside the run, see dump_files."),
    text("table_name", "Table whose rows were compared."),
    bigint("compared_count", "Rows that both forms should contain (count)."),
    bigint("difference_count", "Rows that only one of them contains (count)."),
    text("example", "The first row that differs."),
    references=(to_run(),),
)

OOM_REPORTS = public(
    "oom_reports",
    "Reports of running out of memory, from logs. Sizes are printed to a few digits.",
    run_id(),
    text("path", "File inside the run."),
    integer("ordinal", "Number of the report in that file, from 0."),
    bigint("line", "Line it begins at, from 1."),
    integer("rank", "Rank that the prefix of its lines names; NULL if none does."),
    text(
        "form",
        "buffer_assignment (CPU, GPU) or program_memory (TPU); for single lines"
        " allocation, rematerialization (which did not get below capacity_bytes)"
        " or program_usage (a TPU program that may fit).",
    ),
    text(
        "space_name", "Memory space as printed, such as hbm; NULL if none is printed."
    ),
    bigint("requested_bytes", "Size of the allocation that failed (bytes)."),
    bigint("used_bytes", "Bytes of the memory space that the program needs (bytes)."),
    bigint("capacity_bytes", "Capacity of the memory space (bytes)."),
    bigint("reserved_bytes", "Part of it that is reserved for others (bytes)."),
    bigint("program_bytes", "Requirement of the program alone (bytes)."),
    bigint("parameter_bytes", "Parameters or arguments (bytes)."),
    bigint("constant_bytes", "Constants (bytes)."),
    bigint("live_out_bytes", "Live-outs or outputs (bytes)."),
    bigint("shared_bytes", "Outputs that share memory with arguments (bytes)."),
    bigint("temp_bytes", "Temporaries (bytes)."),
    bigint("temp_fragmentation_bytes", "Fragmentation of the temporaries (bytes)."),
    bigint(
        "total_bytes",
        "All allocations of the assignment; before rematerialization (bytes).",
    ),
    bigint("total_fragmentation_bytes", "Fragmentation of all allocations (bytes)."),
    key=("run_id", "path", "ordinal"),
    references=(to_run(),),
)

OOM_BUFFERS = public(
    "oom_buffers",
    "The largest buffers that a report of running out of memory lists.",
    run_id(),
    text("path", "File inside the run."),
    integer("ordinal", "Number of the report in that file, from 0."),
    integer(
        "place", "Position in the list, from 1; a second list continues the numbers."
    ),
    bigint("size_bytes", "Its size, printed to a few digits (bytes)."),
    bigint("unpadded_bytes", "Its size without padding; NULL if not printed (bytes)."),
    text("shape", "Its shape, also if it is an entry parameter."),
    boolean("is_parameter", "Whether it belongs to an entry parameter."),
    text("label", "XLA's name, opcode or text of the instruction."),
    text("op_name", "Framework path."),
    text("source_file", "Source file."),
    integer("source_line", "Line in that file."),
    text("allocation_type", "Such as HLO temp; NULL if not printed."),
    key=("run_id", "path", "ordinal", "place"),
    references=(
        to_run(),
        Reference(("run_id", "path", "ordinal"), "oom_reports", lacks="a report"),
    ),
)
