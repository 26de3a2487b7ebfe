"""Facts about the warehouse, and names that hold in all of it."""

from __future__ import annotations

from sqlalchemy import Column, Text

from hlodb.schema.tables.columns import bigint, integer, public, text

MEMORY_SPACES = public(
    "memory_spaces",
    "Names of memory spaces per platform; others are called color_N.",
    text("platform", "cpu, gpu, rocm or tpu."),
    integer("color", "Memory space number."),
    text("space_name", "Its name."),
)

DEVICE_MEMORY = public(
    "device_memory",
    "Published memory of chips whose dumps do not record it. TPU v2 and v3"
    " are left out: programs are compiled for one of a chip's two cores,"
    " which has half of the memory.",
    text("device", "Chip, as in runs.device."),
    bigint(
        "memory_bytes",
        "Its memory (bytes); libtpu keeps some of it, 0.25 to 1.25 GiB.",
    ),
    text("source", "Where that is published."),
)

WAREHOUSE_INFO = public(
    "warehouse_info",
    "Facts about this file.",
    Column("key", Text, primary_key=True, comment="schema_version, created_by."),
    text("value", "Its value."),
)
