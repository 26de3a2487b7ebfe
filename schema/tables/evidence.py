"""What XLA and JAX say themselves of a module's memory."""

from __future__ import annotations

from sqlalchemy import Column

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


def _totals() -> tuple[Column[object], ...]:
    """Return the columns of totals that memory_analysis() has since jaxlib 0.11."""
    return (
        bigint(
            "total_allocation_bytes",
            "All allocations of the device's main memory, since jaxlib 0.11 (bytes).",
        ),
        bigint(
            "indefinite_bytes",
            "Those of them that outlive an execution, such as parameters and results,"
            " since jaxlib 0.11 (bytes).",
        ),
        bigint(
            "peak_unpadded_bytes",
            "XLA's own peak without padding, since jaxlib 0.11 (bytes).",
        ),
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
    *_totals(),
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
        "buffer_assignment (CPU, GPU), program_memory (a program that does not fit),"
        " allocation (a request at run time) or killed (by the system). Warnings and"
        " other failures: rematerialization (which did not get below capacity_bytes),"
        " argument_limit (arguments alone exceed it), program_usage (a TPU program"
        " that may fit), allocation_warning (a request whose caller goes on without),"
        " input_mismatch, host_offload. unknown: not understood.",
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
    bigint(
        "excess_bytes", "What exceeds the capacity, where the message says it (bytes)."
    ),
    text("excess_text", "That size as printed, such as 1.7K."),
    text("program_name", "Program that the message names."),
    text("error_code", "XLA's number of the error, such as E1001."),
    text("operation", "What the memory was for, such as the code of a kernel."),
    text("allocator_name", "Allocator that failed, such as GPU_0_bfc."),
    text("device_name", "Device as printed, such as 0x0x1_HBM0."),
    integer("parameter_number", "Parameter of an input_mismatch, from 0."),
    bigint("free_bytes", "Free memory of the allocator (bytes)."),
    bigint("reservable_bytes", "Free memory in one piece (bytes)."),
    bigint("largest_free_bytes", "Largest free chunk (bytes)."),
    bigint("in_use_bytes", "Memory in use (bytes)."),
    bigint("peak_in_use_bytes", "The most that was in use (bytes)."),
    bigint("limit_bytes", "What the allocator may use at most (bytes)."),
    bigint("pool_bytes", "What the allocator holds of the device's memory (bytes)."),
    bigint("device_free_bytes", "Free memory of the whole device (bytes)."),
    bigint("device_bytes", "Memory of the whole device (bytes)."),
    text("message", "The line as written, where it is not understood."),
    bigint(
        "repeat_count",
        "How often the same report follows, or a like line that is not understood,"
        " digits aside; NULL if none does (count).",
    ),
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
    text("instruction", "Instruction that the message names beside a label."),
    key=("run_id", "path", "ordinal", "place"),
    references=(
        to_run(),
        Reference(("run_id", "path", "ordinal"), "oom_reports", lacks="a report"),
    ),
)

OOM_CHUNKS = public(
    "oom_chunks",
    "Chunks that an allocator lists when it runs out of memory, those alike together.",
    run_id(),
    text("path", "File inside the run."),
    integer("ordinal", "Number of the report in that file, from 0."),
    integer("place", "Order in which they appear, from 1."),
    bigint("size_bytes", "Size of each, exact (bytes)."),
    boolean("is_free", "Whether they are free."),
    text("program_name", "Program that allocated them, since XLA of 2026-06."),
    text("kind", "What for, such as temp or live_out."),
    integer("allocation_id", "Allocation of that program, see allocations."),
    bigint("chunk_count", "How many there are (count)."),
    key=("run_id", "path", "ordinal", "place"),
    references=(
        to_run(),
        Reference(("run_id", "path", "ordinal"), "oom_reports", lacks="a report"),
    ),
)

LOG_MEMORY_STATS = public(
    "log_memory_stats",
    "Figures of memory_analysis() that somebody printed into a log or pasted.",
    run_id(),
    text("path", "File inside the run."),
    integer("ordinal", "Place in that file, from 0."),
    bigint("line", "Line it begins at, from 1."),
    integer("rank", "Rank that the prefix of its lines names; NULL if none does."),
    text("form", "memory_analysis, or maxtext, whose figures are rounded."),
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
    bigint("peak_bytes", "XLA's own peak, which mixes memory spaces (bytes)."),
    *_totals(),
    bigint("total_bytes", "Their total as printed (bytes)."),
    key=("run_id", "path", "ordinal"),
    references=(to_run(),),
)
