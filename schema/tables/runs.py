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
    "A run: one dump directory or archive.",
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
        comment="When the dump was written (UTC): the newest file time, or the value of"
        " --started-at.",
    ),
    boolean(
        "is_started_at_given",
        "Whether started_at comes from --started-at; file times then do not change it.",
    ),
    Column("ingested_at", TIMESTAMP, comment="When it was ingested (UTC)."),
    text("commit_sha", "Commit of the program that was compiled."),
    text("branch", "Branch of the program that was compiled."),
    text("compiler_version", "XLA release, from the dump or else from a label."),
    text("framework_version", "JAX, TensorFlow or PyTorch/XLA release, from a label."),
    text("platform", "cpu, gpu, rocm or tpu, from the dump or else from a label."),
    text("device", "Chip or GPU architecture, such as TPU v5e or sm_90."),
    bigint(
        "device_memory_bytes",
        "Memory of one device, which its memory spaces share, as GPU dumps"
        " record it; NULL for other dumps (bytes).",
    ),
    text("topology", "Arrangement of the devices, such as 2x2x1."),
    text("origin", "The path or URL that was ingested."),
    Column("labels", JSON, comment="Further key=value labels, as a JSON object."),
    text("hlodb_version", "Version of hlodb that ingested it."),
    Column(
        "pruned_at",
        TIMESTAMP,
        comment="When hlodb prune deleted its details (UTC); NULL if they are stored.",
    ),
    key=("run_id",),
    unique=(("name",),),
)

DUMP_FILES = public(
    "dump_files",
    "Every file of a run, also those that were not loaded.",
    run_id(),
    text("path", "Path inside the run, with forward slashes."),
    text("kind", "Kind of file, such as hlo_text, buffer_assignment, ignored."),
    text("stage", "Stage of compilation it belongs to, NULL where there is none."),
    bigint(
        "module_id",
        "Module that was read from it, maybe with other files; NULL if there is none.",
    ),
    text("sha256", "Digest of its bytes, hexadecimal."),
    bigint("size_bytes", "Its size, unpacked (bytes)."),
    text("status", "loaded, duplicate, ignored or rejected."),
    bigint("lines_total", "Lines of text; NULL for binary or unread files."),
    bigint("lines_unclaimed", "Lines that no parser rule matched."),
    text("reason", "Why it was ignored or rejected, or what it is."),
    view=True,
    key=("run_id", "path"),
    proof="own",
    references=(Reference(("module_id",), "modules"),),
)

REJECTS = public(
    "rejects",
    "Places in files that could not be parsed, and files that could not be read.",
    run_id(),
    text("path", "Path inside the run."),
    bigint("line", "Line, from 1; NULL for a binary file or for the whole file."),
    bigint(
        "column_number",
        "Column, from 1, or byte of a binary file; NULL if unknown.",
    ),
    text("section", "Section of the format, such as allocations."),
    text("code", "Short, stable name of the problem."),
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
