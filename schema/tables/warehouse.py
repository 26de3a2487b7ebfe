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
    "Memory of chips whose dumps do not record it, and the part of it that programs"
    " may use.",
    text("device", "Chip, as in runs.device."),
    bigint("memory_bytes", "Its memory as published (bytes)."),
    bigint(
        "usable_bytes",
        "The part that the compiler fills: libtpu refuses programs that need more"
        " (bytes).",
    ),
    text("source", "Where both figures come from."),
)

WAREHOUSE_INFO = public(
    "warehouse_info",
    "Facts about this file.",
    Column("key", Text, primary_key=True, comment="schema_version, created_by."),
    text("value", "Its value."),
)
