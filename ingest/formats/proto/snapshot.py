"""Snapshots of executions: a module with the arguments it was run on, and the result.

`--xla_dump_hlo_snapshots` writes an HloSnapshot for every execution (field 1 is an
HloProto), and `--xla_dump_hlo_unoptimized_snapshots` an HloUnoptimizedSnapshot (field 1
is the HloModuleProto as it was before it was compiled). The arguments are as large as
the arrays that they are; nothing of them is read.
"""

from __future__ import annotations

from hlodb.ingest.formats.proto.wire import BYTES, wire_fields

_MODULE = 1


def module_of_snapshot(data: bytes) -> bytes:
    """Return the HloProto or HloModuleProto in a snapshot; else `data` itself."""
    first = next(wire_fields(data), None)
    if first is None or (first.number, first.wire_type) != (_MODULE, BYTES):
        return data
    return data[first.payload : first.end]
