"""Modules, their computations, instructions and source locations."""

from __future__ import annotations

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    boolean,
    form_columns,
    instruction_id,
    integer,
    locations_id,
    module_id,
    public,
    run_id,
    text,
    to_computation,
    to_instruction,
    to_module,
)

MODULES = public(
    "modules",
    "An occurrence of a module snapshot in a run.",
    run_id(),
    module_id(),
    locations_id(),
    integer("module_number", "XLA's number in the file name, unique per process only."),
    integer("rank", "Process or host it came from, from folder or file names."),
    text(
        "path",
        "File that names this occurrence (HLO text, else proto, else assignment).",
    ),
    integer("part", "Number of the module in that file, from 0."),
    text(
        "folder",
        "Folder of path, with a slash: processes and dumps of one run have their own.",
    ),
    text("name", "Name of the HloModule."),
    text(
        "program",
        "Name without number, build and unique suffixes: the same across runs.",
    ),
    bigint(
        "program_key",
        "Hash of program, entry parameter and result shapes and num_partitions.",
    ),
    text("stage", "before_optimizations, after_optimizations, pass and others."),
    text("pipeline", "Pass pipeline of a per-pass dump."),
    text("pass_after", "Pass that ran before this snapshot."),
    text("pass_before", "Pass that runs after this snapshot."),
    integer("pass_step", "Number of the snapshot within its module."),
    text("platform", "cpu, gpu, rocm or tpu, from file names; NULL where unknown."),
    boolean("is_scheduled", "Whether instructions are printed in schedule order."),
    integer("num_partitions", "Number of SPMD partitions."),
    integer("replica_count", "Number of replicas."),
    integer("entry_computation_id", "The entry computation."),
    text("entry_layout", "entry_computation_layout as printed."),
    integer("computation_count", "Number of computations (count)."),
    integer("instruction_count", "Number of instructions of the HLO text (count)."),
    integer("fusion_count", "Number of its fusion instructions (count)."),
    bigint(
        "graph_fingerprint",
        "Hash of the opcode, shape and operand structure, without"
        " names, metadata, layouts, schedule.",
    ),
    bigint("exact_fingerprint", "The same with layouts, schedule and backend config."),
    bigint(
        "printed_total_bytes",
        "XLA's own 'Total bytes used', over all memory spaces (bytes).",
    ),
    integer(
        "first_line",
        "Line of the first computation in the file; add line_offset of"
        " an instruction to it.",
    ),
    bigint(
        "unit_digest",
        "Hash of the bytes of all its files: equal bytes are not parsed twice.",
    ),
    integer("allocation_count", "Number of allocations of its assignment (count)."),
    integer("value_count", "Number of values of its assignment (count)."),
    integer("live_range_count", "Number of live ranges of its assignment (count)."),
    boolean("has_assignment", "Whether a buffer assignment was found."),
    boolean("has_live_ranges", "Whether live ranges were found."),
    boolean(
        "is_detailed",
        "Whether its instructions are stored; false for passes ingested with"
        " --passes metrics.",
    ),
    view=True,
    key=("run_id", "path", "part"),
)

COMPUTATIONS = public(
    "computations",
    "A computation of a module.",
    module_id(),
    integer("computation_id", "Number in order of appearance."),
    text("name", "Its name."),
    text(
        "kind",
        "entry, fusion, while_body, while_condition, reducer, branch, async or"
        " call, by its caller.",
    ),
    integer("root_instruction_id", "Its root instruction."),
    integer("instruction_count", "Number of its instructions (count)."),
    text("execution_thread", "Thread it runs on; NULL for the main one."),
    key=("module_id", "computation_id"),
    proof="order",
    references=(to_module(), to_instruction("root_instruction_id", "a root")),
)

INSTRUCTIONS = public(
    "instructions",
    "An instruction of a module.",
    module_id(),
    instruction_id(),
    integer(
        "computation_id",
        "Its computation; NULL if only a buffer assignment names the instruction.",
    ),
    text("name", "Its name."),
    *form_columns(),
    boolean("is_root", "Whether it is the root of its computation."),
    integer("position", "Place within its computation as printed, from 0."),
    integer(
        "schedule_step", "First step in the flattened schedule; NULL where unknown."
    ),
    view=True,
    key=("module_id", "instruction_id"),
    proof="own",
    references=(to_module(), to_computation()),
)

OPERANDS = public(
    "operands",
    "Operands of instructions.",
    module_id(),
    instruction_id("The reader"),
    integer("operand_index", "Place in its operand list, from 0."),
    integer(
        "operand_id",
        "instruction_id of the operand; NULL if the module has no such instruction.",
    ),
    key=("module_id", "instruction_id", "operand_index"),
    proof="order",
    references=(to_module(), to_instruction(), to_instruction("operand_id")),
)

CALLED_COMPUTATIONS = public(
    "called_computations",
    "Computations that instructions call.",
    module_id(),
    instruction_id("The caller"),
    text("role", "calls, to_apply, body, condition, branch_computations, …"),
    integer("ordinal", "Place in a list of computations, from 0."),
    integer(
        "computation_id", "The computation; NULL if the module has no such computation."
    ),
    key=("module_id", "instruction_id", "role", "ordinal"),
    references=(to_module(), to_instruction(), to_computation()),
)

LOCATIONS = public(
    "locations",
    "Source location of an instruction; instructions without one have no row.",
    locations_id(),
    instruction_id(),
    text("source_file", "Source file, from the metadata of older releases."),
    integer("source_line", "Source line, from 1."),
    integer("source_end_line", "Last source line."),
    integer("source_column", "Source column, from 1."),
    integer("source_end_column", "Last source column."),
    integer("stack_frame_id", "Innermost stack frame, from newer releases."),
    view=True,
    references=(
        Reference(("locations_id",), "modules"),
        Reference(("locations_id", "stack_frame_id"), "stack_frames"),
    ),
)

STACK_FRAMES = public(
    "stack_frames",
    "Stack frames of a module's source locations.",
    locations_id(),
    integer("stack_frame_id", "Number of the frame, from 1."),
    integer("parent_id", "The calling frame; NULL for the outermost."),
    text("function_name", "Function of the frame."),
    text("file_name", "File of the frame."),
    integer("line", "Line in that file, from 1."),
    integer("column", "Column in that line, from 1."),
    integer(
        "user_frame_id",
        "Innermost frame, from this one outwards, outside of framework files;"
        " this frame if there is none.",
    ),
    view=True,
    references=(
        Reference(
            ("locations_id", "parent_id"),
            "stack_frames",
            ("locations_id", "stack_frame_id"),
        ),
    ),
)

LOCATED_INSTRUCTIONS = public(
    "located_instructions",
    "A run's instructions with the source line each comes from.",
    run_id(),
    module_id(),
    instruction_id(),
    bigint("line", "Line in the dump file, from 1."),
    text(
        "source_file",
        "Source file: of the innermost user frame, else from the metadata.",
    ),
    integer("source_line", "Line in that file."),
    text("function_name", "Function of that frame; NULL in older releases."),
    integer("stack_frame_id", "Innermost stack frame as printed."),
    view=True,
)

ALIASES = public(
    "aliases",
    "Outputs that may or must share their buffer with a parameter, and"
    " donated parameters without an output (donors).",
    module_id(),
    text("output_index", "Index into the result tuple, such as {0}; NULL for a donor."),
    integer("parameter_number", "The parameter."),
    text("parameter_index", "Index into that parameter, such as {}."),
    text("kind", "may-alias, must-alias or donor."),
    references=(to_module(),),
)
