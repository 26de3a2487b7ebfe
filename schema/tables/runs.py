"""Runs, what they were compiled with, and the files they came from."""

from __future__ import annotations

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Column, Text

from hlodb.schema.tables.columns import (
    Reference,
    bigint,
    boolean,
    integer,
    public,
    run_id,
    text,
    to_run,
)

RUNS = public(
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
    text("series", "The series it belongs to, such as nightly; NULL for none."),
    Column(
        "started_at",
        TIMESTAMP,
        comment="When the dump was written (UTC): the newest"
        " file time, or what --started-at said.",
    ),
    boolean(
        "is_started_at_given",
        "Whether --started-at said when; then the times of files don't change it.",
    ),
    Column("ingested_at", TIMESTAMP, comment="When it was ingested (UTC)."),
    text("commit_sha", "Commit of the program that was compiled."),
    text("branch", "Branch of the program that was compiled."),
    text("compiler_version", "XLA release: what the dump says, else a label."),
    text("framework_version", "JAX, TensorFlow or PyTorch/XLA release, from a label."),
    text("platform", "cpu, gpu, rocm or tpu: what the dump says, else a label."),
    text("device", "Chip or GPU architecture, such as TPU v5e or sm_90."),
    bigint(
        "device_memory_bytes",
        "Memory of one device (bytes), which its spaces share, as GPU dumps say;"
        " NULL where the dump doesn't.",
    ),
    text("topology", "Arrangement of the devices, such as 2x2x1."),
    text("origin", "The path or URL that was ingested."),
    Column("labels", JSON, comment="Further key=value labels, as a JSON object."),
    text("hlodb_version", "Version of hlodb that ingested it."),
    Column(
        "pruned_at",
        TIMESTAMP,
        comment="When its details were deleted to save room (UTC); NULL while it is"
        " whole.",
    ),
    key=("run_id",),
    unique=(("name",),),
)

DUMP_FILES = public(
    "dump_files",
    "Every file of a run, also those that were not loaded.",
    run_id(),
    text("path", "Path inside the run, with forward slashes."),
    text("kind", "What the file is, such as hlo_text, buffer_assignment, ignored."),
    text("stage", "Stage of compilation it belongs to, NULL where there is none."),
    bigint("module_id", "The module it helped to make; NULL where there is none."),
    text("sha256", "Digest of its bytes, hexadecimal."),
    bigint("size_bytes", "Its size, unpacked (bytes)."),
    text("status", "loaded, duplicate, ignored or rejected."),
    bigint("lines_total", "Lines of text; NULL for binary or unread files."),
    bigint("lines_unclaimed", "Lines that no rule of the format took."),
    text("reason", "Why it was ignored or rejected, or what it is."),
    view=True,
    key=("run_id", "path"),
    proof="own",
    references=(Reference(("module_id",), "modules"),),
)

REJECTS = public(
    "rejects",
    "Places of the input that break their format.",
    run_id(),
    text("path", "Path inside the run."),
    bigint(
        "line", "Line, from 1; NULL in a binary file, or where the whole file is meant."
    ),
    bigint(
        "column_number",
        "Column, from 1, in a binary file the byte; NULL where unknown.",
    ),
    text("section", "Section of the format, such as allocations."),
    text("code", "Stable short name of the problem."),
    text("message", "What was expected and what to do."),
    text("snippet", "The text at that place, shortened."),
    references=(to_run(), Reference(("run_id", "path"), "dump_files")),
)

COMPILER_FLAGS = public(
    "compiler_flags",
    "Compiler flags that the dump itself lists.",
    run_id(),
    integer(
        "module_number", "Number of the module in file names; NULL for the whole run."
    ),
    text("name", "Name of the flag, without dashes."),
    text("value", "Its value as text."),
    references=(to_run(),),
)

PASSES = public(
    "passes",
    "Passes that ran on a module, from its metadata file.",
    run_id(),
    integer("module_number", "Number of the module in file names."),
    integer("ordinal", "Order in which the file lists them, from 0."),
    text("pipeline", "Pass pipeline."),
    text("pass_name", "The pass."),
    boolean("has_changed", "Whether it changed the module."),
    bigint("started_us", "When it began (microseconds since 1970)."),
    bigint("duration_us", "How long it took (microseconds)."),
    references=(to_run(),),
)
