"""`module_0042.metadata.textproto`: which passes ran on a module, and for how long.

HloModuleMetadataProto of openxla's `xla/service/hlo.proto`, written with
--xla_dump_module_metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hlodb.ingest.formats.text_proto import (
    Field,
    int_at,
    messages,
    parse_text_proto,
    text_at,
    texts,
    to_int,
)
from hlodb.ingest.records import Reject


class PassTiming(NamedTuple):
    """One run of an HLO pass; times are microseconds since 1970.

    `pass_id` is unique within the module. `module_id` may differ from the metadata's
    canonical id. `duration_us` is None unless both times are there, in order.
    `metrics` are (name, value) as the pass logged them.
    """

    pass_id: int | None
    pass_name: str | None
    pipeline_name: str | None
    module_changed: bool
    module_id: int | None
    start_timestamp_us: int | None
    end_timestamp_us: int | None
    duration_us: int | None
    module_group_module_ids: tuple[int, ...] = ()
    dump_filenames: tuple[str, ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleMetadata:
    """What the file says of its module; passes in the order in which they ran."""

    canonical_module_id: int | None = None
    module_group_name: str | None = None
    original_module_id: int | None = None
    partitioned_module_ids: tuple[int, ...] = ()
    passes: list[PassTiming] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    lines_total: int = 0


def parse_module_metadata(text: str) -> ModuleMetadata:
    """Read a module's metadata; what breaks the format is rejected."""
    proto = parse_text_proto(text)
    return ModuleMetadata(
        int_at(proto.fields, "canonical_module_id"),
        text_at(proto.fields, "module_group_name"),
        int_at(proto.fields, "original_module_id"),
        _ints(proto.fields, "partitioned_module_ids"),
        [_pass_timing(found) for found in messages(proto.fields, "pass_metadata")],
        proto.rejects,
        proto.lines_total,
    )


def _pass_timing(fields: tuple[Field, ...]) -> PassTiming:
    start = int_at(fields, "start_timestamp_usec")
    end = int_at(fields, "end_timestamp_usec")
    timed = start is not None and end is not None and end >= start
    return PassTiming(
        int_at(fields, "pass_id"),
        text_at(fields, "pass_name"),
        text_at(fields, "pipeline_name"),
        text_at(fields, "module_changed") == "true",
        int_at(fields, "module_id"),
        start,
        end,
        end - start if timed and start is not None and end is not None else None,
        _ints(fields, "module_group_module_ids"),
        tuple(texts(fields, "dump_filenames")),
        tuple(
            (text_at(metric, "key") or "", text_at(metric, "value") or "")
            for metric in messages(fields, "kv_metrics")
        ),
    )


def _ints(fields: tuple[Field, ...], name: str) -> tuple[int, ...]:
    numbers = (to_int(text) for text in texts(fields, name))
    return tuple(number for number in numbers if number is not None)
