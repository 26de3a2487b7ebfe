"""The tighter form behind the views: what public tables repeat stands here once."""

from __future__ import annotations

from hlodb.schema.tables.columns import (
    bigint,
    boolean,
    form_columns,
    instruction_id,
    integer,
    module_id,
    stored,
    text,
)

STORED_FORMS = stored(
    "instruction_forms",
    "What an instruction says apart from its name, operands and place; each once.",
    integer("form_id", "Number of the form in this warehouse."),
    bigint("form_key", "64 bits of a BLAKE2b over its columns."),
    *form_columns(),
)

STORED_INSTRUCTIONS = stored(
    "instructions",
    "Instructions of a module: name, place and form.",
    module_id(),
    instruction_id(),
    integer("computation_id", "Its computation."),
    text("name", "Its name."),
    integer("form_id", "Its form."),
    boolean("is_root", "Whether it is the root of its computation."),
    integer("position", "Place within its computation, from 0."),
    integer("schedule_step", "First step in the flattened schedule."),
    integer(
        "line_offset", "Lines after the first computation's line in the dump file."
    ),
)

STORED_VALUES = stored(
    "values",
    "Values without the name of their instruction.",
    module_id(),
    integer("value_id", "XLA's number."),
    instruction_id("The defining instruction"),
    text("shape_index", "Index into a tuple-shaped result; NULL for an array."),
    integer("color", "Memory space number."),
    boolean("is_phi", "Whether it merges values."),
    text("shape", "Its shape with layout."),
    bigint("logical_bytes", "Size without padding (bytes)."),
)

STORED_POSITIONS = stored(
    "value_positions",
    "Positions without the name of the instruction.",
    module_id(),
    integer("value_id", "The value."),
    integer(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    instruction_id(),
    text("shape_index", "Index into its result; NULL for an array."),
)

STORED_USES = stored(
    "value_uses",
    "Uses without the name of the instruction.",
    module_id(),
    integer("value_id", "The value."),
    integer(
        "ordinal",
        "Order by instruction, from 0; position 0 is the definition.",
    ),
    instruction_id("The reader"),
    integer("operand_index", "Operand number, from 0."),
    text("shape_index", "Index into that operand; NULL for an array."),
)

STORED_SCHEDULE = stored(
    "schedule",
    "The flattened schedule without names.",
    module_id(),
    integer("step", "Position, from 0."),
    instruction_id(),
)

STORED_LIVE_RANGES = stored(
    "live_ranges",
    "Live ranges without names.",
    module_id(),
    instruction_id("The defining instruction"),
    text("shape_index", "Index into its result, {} for an array."),
    integer("value_id", "The value; NULL where it is not placed."),
    integer("start_step", "First step."),
    integer("end_step", "Last step, inclusive."),
)
