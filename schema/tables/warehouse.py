"""Facts about the warehouse, and names that hold in all of it."""

from __future__ import annotations

from sqlalchemy import Column, Text

from hlodb.schema.tables.columns import integer, public, text

MEMORY_SPACES = public(
    "memory_spaces",
    "Names of memory spaces per platform; others are called color_N.",
    text("platform", "cpu, gpu, rocm or tpu."),
    integer("color", "Memory space number."),
    text("space_name", "Its name."),
)

WAREHOUSE_INFO = public(
    "warehouse_info",
    "Facts about this file.",
    Column("key", Text, primary_key=True, comment="schema_version, created_by."),
    text("value", "Its value."),
)
