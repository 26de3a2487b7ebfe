"""Buffer assignments: allocations, values, live ranges, as XLA prints them."""

from __future__ import annotations

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    boolean,
    instruction_id,
    integer,
    module_id,
    public,
    text,
    to_instruction,
    to_module,
    to_value,
)

ALLOCATIONS = public(
    "allocations",
    "An allocation of a module's buffer assignment.",
    module_id(),
    integer("allocation_id", "XLA's number, from 0."),
    bigint("size_bytes", "Size (bytes)."),
    integer("color", "Memory space number."),
    text(
        "kind",
        "parameter, constant, thread_local, live_out or temp; the first that applies.",
    ),
    integer(
        "parameter_number", "Entry parameter that it holds; NULL for other allocations."
    ),
    text("parameter_shape_index", "Index into that parameter, such as {}."),
    boolean("is_live_out", "Whether it may be live out of the entry computation."),
    boolean("is_output_tuple", "Whether it holds the top-level result."),
    text(
        "shape",
        "Shape of the parameter or result as printed, without layout. Texts"
        " until 2020 print none: a parameter then has the shape of its value.",
    ),
    integer(
        "page",
        "Page of the memory space. Until 2026-07 and for memory spaces of one page"
        " some releases print none: NULL.",
    ),
    key=("module_id", "allocation_id"),
    proof="order",
    references=(
        to_module(),
        Reference(("module_id", "color"), "memory_profile", lacks="a profile"),
    ),
)

VALUES = public(
    "values",
    "A value (a logical buffer) of a module's buffer assignment.",
    module_id(),
    integer("value_id", "XLA's number."),
    text("instruction", "Name of the defining instruction."),
    instruction_id("The defining instruction"),
    text(
        "shape_index",
        "Index into a tuple-shaped result, such as {0}; NULL for an array.",
    ),
    integer("color", "Memory space number."),
    boolean("is_phi", "Whether it merges values, as a while result does."),
    text("shape", "Its shape with layout."),
    bigint("logical_bytes", "Elements times element width, without padding (bytes)."),
    view=True,
    key=("module_id", "value_id"),
    proof="order",
    references=(to_module(), to_instruction()),
)

ALLOCATION_VALUES = public(
    "allocation_values",
    "Place of a value in an allocation.",
    module_id(),
    integer("allocation_id", "The allocation."),
    integer("value_id", "The value."),
    bigint("offset_bytes", "Offset from the start of the allocation (bytes)."),
    bigint("size_bytes", "Size in memory, padding included (bytes)."),
    key=("module_id", "allocation_id", "value_id"),
    proof="order",
    references=(
        to_module(),
        to_value(),
        Reference(("module_id", "allocation_id"), "allocations", lacks="an allocation"),
    ),
)

VALUE_POSITIONS = public(
    "value_positions",
    "Places where a value appears; ordinal 0 is its definition.",
    module_id(),
    integer("value_id", "The value."),
    integer(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    text("instruction", "Name of the instruction."),
    instruction_id(),
    text("shape_index", "Index into its result; NULL for an array."),
    view=True,
    key=("module_id", "value_id", "ordinal"),
    proof="order",
    references=(to_module(), to_instruction(), to_value()),
)

VALUE_USES = public(
    "value_uses",
    "Operands that read a value.",
    module_id(),
    integer("value_id", "The value."),
    integer(
        "ordinal",
        "Order by instruction, from 0.",
    ),
    text("instruction", "Name of the reader."),
    instruction_id("The reader"),
    integer("operand_index", "Operand number, from 0."),
    text("shape_index", "Index into that operand; NULL for an array."),
    view=True,
    key=("module_id", "value_id", "ordinal"),
    proof="order",
    references=(to_module(), to_instruction(), to_value()),
)

SCHEDULE = public(
    "schedule",
    "The flattened schedule: one instruction a step.",
    module_id(),
    integer("step", "Position, from 0."),
    text("instruction", "Name of the instruction."),
    instruction_id(),
    view=True,
    key=("module_id", "step"),
    proof="order",
    references=(to_module(), to_instruction()),
)

LIVE_RANGES = public(
    "live_ranges",
    "Steps at which a value is live, inclusive at both ends.",
    module_id(),
    text("instruction", "Name of the defining instruction."),
    text("shape_index", "Index into its result, {} for an array."),
    integer("value_id", "The value; NULL if the buffer assignment does not place it."),
    instruction_id("The defining instruction"),
    integer("start_step", "First step."),
    integer(
        "end_step",
        "Last step; one past the schedule for values that outlive the program.",
    ),
    view=True,
    key=("module_id", "instruction_id", "shape_index"),
    references=(to_module(), to_instruction(), to_value()),
)

PRINTED_PEAKS = public(
    "printed_peaks",
    "XLA's own listing of values at its own peak: evidence, never used as the peak.",
    module_id(),
    text("instruction", "Name of the instruction."),
    text("shape_index", "Index as printed, empty where none is printed."),
    integer("peak_step", "Step that XLA printed."),
    bigint(
        "printed_bytes",
        "Bytes that XLA printed: unpadded; older releases count a"
        " tuple element as its pointer table (bytes).",
    ),
    references=(to_module(),),
)
