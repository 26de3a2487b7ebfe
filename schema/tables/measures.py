"""What is computed from assignments once, at ingest."""

from __future__ import annotations

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    double,
    integer,
    locations_id,
    module_id,
    public,
    run_id,
    text,
    to_module,
)

MEMORY_PROFILE = public(
    "memory_profile",
    "Memory of a module per memory space, computed at ingest.",
    module_id(),
    integer("color", "Memory space number."),
    bigint(
        "reserved_bytes",
        "Sum of all allocation sizes of the memory space; the five kinds below"
        " add up to it (bytes).",
    ),
    bigint("parameter_bytes", "Allocations of entry parameters (bytes)."),
    bigint("constant_bytes", "Allocations of constants (bytes)."),
    bigint(
        "live_out_bytes",
        "Allocations that outlive the program and hold no parameter (bytes).",
    ),
    bigint("thread_local_bytes", "Thread-local allocations (bytes)."),
    bigint("temp_bytes", "Temporary allocations (bytes)."),
    bigint(
        "temp_live_peak_bytes",
        "Most bytes of temporary allocations live at one step;"
        " NULL without live ranges (bytes).",
    ),
    bigint(
        "live_peak_bytes",
        "Most bytes live at one step: live temporary bytes, plus whole"
        " parameters, constants and live-outs while one of their values is live"
        " (always, if none of them has a live range); NULL without live ranges"
        " (bytes).",
    ),
    integer("peak_step", "First step that reaches live_peak_bytes."),
    bigint("fragmentation_bytes", "temp_bytes minus temp_live_peak_bytes (bytes)."),
    double(
        "fragmentation_ratio",
        "fragmentation_bytes divided by temp_bytes; NULL without temporaries.",
    ),
    bigint(
        "padding_bytes",
        "Padding of the values live at peak_step: bytes beyond their logical"
        " size, bytes shared in place counted once (bytes).",
    ),
    integer("allocation_count", "Number of allocations (count)."),
    integer(
        "conflict_count",
        "Pairs of values that overlap in address and strictly in"
        " time: 0 in a sound dump (count).",
    ),
    key=("module_id", "color"),
    references=(to_module(), Reference(("module_id",), "allocations")),
)

MODULE_MEMORY = public(
    "module_memory",
    "memory_profile of every module occurrence, with the names of run and"
    " memory space, for questions across runs.",
    run_id(),
    text("run", "Name of the run."),
    text("series", "Series of the run."),
    text("program", "Name of the program, the same across runs."),
    bigint("program_key", "Hash of program, entry shapes and num_partitions."),
    text("stage", "Stage of compilation."),
    integer("rank", "Process or host."),
    integer("module_number", "XLA's number in the file name."),
    text("path", "Its file inside the run, see modules."),
    integer("part", "Number of the module in that file, from 0."),
    module_id(),
    locations_id(),
    text("platform", "cpu, gpu, rocm or tpu."),
    integer("color", "Memory space number."),
    text("space_name", "Name of the memory space."),
    *(
        c._copy()
        for c in MEMORY_PROFILE.columns
        if c.name not in ("module_id", "color")
    ),
    bigint("graph_fingerprint", "Hash of the structure, see modules."),
    bigint("exact_fingerprint", "Hash with layouts, schedule and backend config."),
    bigint(
        "printed_total_bytes",
        "XLA's 'Total bytes used' of the module, over all memory spaces (bytes).",
    ),
    view=True,
)

MEMORY_TIMELINE = public(
    "memory_timeline",
    "Live bytes over the schedule per memory space, run-length encoded,"
    " computed at ingest.",
    module_id(),
    integer("color", "Memory space number."),
    integer("from_step", "First step of the stretch."),
    integer("to_step", "Last step of the stretch, inclusive."),
    bigint("live_bytes", "Live bytes, as in memory_profile.live_peak_bytes (bytes)."),
    bigint("temp_live_bytes", "Live bytes of temporary allocations (bytes)."),
    key=("module_id", "color", "from_step"),
    proof="order",
    references=(to_module(), Reference(("module_id", "color"), "memory_profile")),
)
