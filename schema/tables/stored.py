"""The tighter form behind the views: what public tables repeat stands here once."""

from __future__ import annotations

from sqlalchemy import Column

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    boolean,
    columns_of,
    form_columns,
    instruction_id,
    integer,
    locations_id,
    module_id,
    run_id,
    stored,
    text,
    to_run,
)
from hlodb.schema.tables.programs import LOCATIONS, MODULES, STACK_FRAMES
from hlodb.schema.tables.runs import DUMP_FILES

_FROM_PATHS = (
    "path",
    "module_number",
    "rank",
    "stage",
    "pipeline",
    "pass_after",
    "pass_before",
    "pass_step",
    "platform",
)
"""Columns of `modules` that follow from the name and place of a file."""


def _number(name: str, what: str) -> Column[object]:
    return integer(name, f"Number of the {what} in this warehouse.")


def _key(name: str) -> Column[object]:
    return bigint(name, "64 bits of a BLAKE2b over its columns.")


STORED_FORMS = stored(
    "instruction_forms",
    "What an instruction says apart from its name, operands and place; each once.",
    _number("form_id", "form"),
    _key("form_key"),
    *form_columns(),
    key=("form_id",),
    unique=(("form_key",),),
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
        "Order by instruction, from 0.",
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

STORED_SNAPSHOTS = stored(
    "snapshots",
    "What follows from the content of module snapshots; each once.",
    _number("snapshot_id", "snapshot"),
    _key("snapshot_key"),
    *columns_of(MODULES, "run_id", *_FROM_PATHS),
    key=("snapshot_id",),
    unique=(("snapshot_key",),),
    references=(Reference(("snapshot_id",), "occurrences", lacks="a module"),),
)

STORED_PATHS = stored(
    "paths",
    "Paths of module snapshots and what follows from them; each once.",
    _number("path_id", "path"),
    _key("path_key"),
    *columns_of(MODULES, *(c.name for c in MODULES.c if c.name not in _FROM_PATHS)),
    key=("path_id",),
    unique=(("path_key",),),
    references=(Reference(("path_id",), "occurrences", lacks="a module"),),
)

STORED_OCCURRENCES = stored(
    "occurrences",
    "Which snapshot a run holds, and where: what a night adds to `modules`.",
    run_id(),
    integer("path_id", "Its path."),
    integer("snapshot_id", "Its content."),
    shown_as="modules",
    references=(
        to_run(),
        Reference(("snapshot_id",), "snapshots", lacks="a snapshot"),
        Reference(("path_id",), "paths", lacks="a path"),
    ),
)

STORED_FILES = stored(
    "files",
    "Files with their path and content; each once.",
    _number("file_id", "file"),
    _key("file_key"),
    *columns_of(DUMP_FILES, "run_id", "status"),
    key=("file_id",),
    unique=(("file_key",),),
)

STORED_RUN_FILES = stored(
    "run_files",
    "Which files a run holds: what a night adds to `dump_files`.",
    run_id(),
    integer("file_id", "The file."),
    text("status", "loaded, duplicate, ignored or rejected."),
    shown_as="dump_files",
    references=(to_run(), Reference(("file_id",), "files", lacks="a file")),
)

STORED_LOCATION_SETS = stored(
    "location_sets",
    "What the source locations of a module are made of: moved lines change the list"
    " or the frames only.",
    locations_id(),
    bigint("numbering_id", "Which instruction has which location: 64 bits of a hash."),
    bigint("list_id", "What these locations are: 64 bits of a hash."),
    bigint("frames_id", "Its table of stack frames: 64 bits of a hash."),
    key=("locations_id",),
    references=(Reference(("locations_id",), "snapshots", lacks="a module"),),
)

STORED_LOCATION_NUMBERS = stored(
    "location_numbers",
    "Locations of instructions, numbered in order of appearance.",
    bigint("numbering_id", "The numbering."),
    instruction_id(),
    integer("location_number", "Its location, from 0."),
    key=("numbering_id", "instruction_id"),
    proof="order",
    references=(Reference(("numbering_id",), "location_sets", lacks="a set"),),
)

STORED_LOCATION_LISTS = stored(
    "location_lists",
    "What numbered locations are.",
    bigint("list_id", "The list."),
    integer("location_number", "The location, from 0."),
    *columns_of(LOCATIONS, "locations_id", "instruction_id"),
    key=("list_id", "location_number"),
    proof="order",
    references=(Reference(("list_id",), "location_sets", lacks="a set"),),
)

STORED_FRAMES = stored(
    "stack_frames",
    "Tables of stack frames, which modules of one compilation share.",
    bigint("frames_id", "The table."),
    *columns_of(STACK_FRAMES, "locations_id"),
    key=("frames_id", "stack_frame_id"),
    proof="order",
    references=(Reference(("frames_id",), "location_sets", lacks="a set"),),
)
