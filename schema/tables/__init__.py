"""Every table of the warehouse, declared once: DDL, comments and docs come from here.

`PUBLIC` holds what people query (schema `main`). Some of its tables are stored in a
tighter form in schema `store` (`STORE`) and shown through a view of the same name;
`view=True` marks them. Units stand in the column names: `_bytes` bytes, `_step`
positions in the schedule, `_ratio` shares from 0 to 1.
"""

from __future__ import annotations

# In the order in which pages list them.
# ruff: noqa: I001
from hlodb.schema.tables.runs import COMPILER_FLAGS, DUMP_FILES, PASSES, REJECTS, RUNS
from hlodb.schema.tables.programs import (
    ALIASES,
    CALLED_COMPUTATIONS,
    COMPUTATIONS,
    INSTRUCTIONS,
    LOCATED_INSTRUCTIONS,
    LOCATIONS,
    MODULES,
    OPERANDS,
    STACK_FRAMES,
)
from hlodb.schema.tables.assignments import (
    ALLOCATION_VALUES,
    ALLOCATIONS,
    LIVE_RANGES,
    PRINTED_PEAKS,
    SCHEDULE,
    VALUE_POSITIONS,
    VALUE_USES,
    VALUES,
)
from hlodb.schema.tables.measures import MEMORY_PROFILE, MEMORY_TIMELINE, MODULE_MEMORY
from hlodb.schema.tables.evidence import (
    ELIDED_LITERALS,
    MEMORY_ANALYSIS,
    MEMORY_REPORT_ALLOCATIONS,
    MEMORY_REPORT_VALUES,
    MEMORY_REPORTS,
    LOG_MEMORY_STATS,
    OOM_BUFFERS,
    OOM_CHUNKS,
    OOM_REPORTS,
    PROTO_COMPARISONS,
)
from hlodb.schema.tables.warehouse import DEVICE_MEMORY, MEMORY_SPACES, WAREHOUSE_INFO
from hlodb.schema.tables.findings import FINDING_EVENTS, FINDINGS
from hlodb.schema.tables.stored import (
    STORED_FILES,
    STORED_FORMS,
    STORED_FRAMES,
    STORED_INSTRUCTIONS,
    STORED_LIVE_RANGES,
    STORED_LOCATION_LISTS,
    STORED_LOCATION_NUMBERS,
    STORED_LOCATION_SETS,
    STORED_OCCURRENCES,
    STORED_PATHS,
    STORED_POSITIONS,
    STORED_RUN_FILES,
    STORED_SCHEDULE,
    STORED_SNAPSHOTS,
    STORED_USES,
    STORED_VALUES,
)
from hlodb.schema.tables.columns import PUBLIC, STORE

__all__ = [
    "ALIASES",
    "ALLOCATIONS",
    "ALLOCATION_VALUES",
    "CALLED_COMPUTATIONS",
    "COMPILER_FLAGS",
    "COMPUTATIONS",
    "DEVICE_MEMORY",
    "DUMP_FILES",
    "ELIDED_LITERALS",
    "FINDINGS",
    "FINDING_EVENTS",
    "INSTRUCTIONS",
    "LIVE_RANGES",
    "LOCATED_INSTRUCTIONS",
    "LOCATIONS",
    "LOG_MEMORY_STATS",
    "MEMORY_ANALYSIS",
    "MEMORY_PROFILE",
    "MEMORY_REPORTS",
    "MEMORY_REPORT_ALLOCATIONS",
    "MEMORY_REPORT_VALUES",
    "MEMORY_SPACES",
    "MEMORY_TIMELINE",
    "MODULES",
    "MODULE_MEMORY",
    "OOM_BUFFERS",
    "OOM_CHUNKS",
    "OOM_REPORTS",
    "OPERANDS",
    "PASSES",
    "PRINTED_PEAKS",
    "PROTO_COMPARISONS",
    "PUBLIC",
    "REJECTS",
    "RUNS",
    "SCHEDULE",
    "STACK_FRAMES",
    "STORE",
    "STORED_FILES",
    "STORED_FORMS",
    "STORED_FRAMES",
    "STORED_INSTRUCTIONS",
    "STORED_LIVE_RANGES",
    "STORED_LOCATION_LISTS",
    "STORED_LOCATION_NUMBERS",
    "STORED_LOCATION_SETS",
    "STORED_OCCURRENCES",
    "STORED_PATHS",
    "STORED_POSITIONS",
    "STORED_RUN_FILES",
    "STORED_SCHEDULE",
    "STORED_SNAPSHOTS",
    "STORED_USES",
    "STORED_VALUES",
    "VALUES",
    "VALUE_POSITIONS",
    "VALUE_USES",
    "WAREHOUSE_INFO",
]
