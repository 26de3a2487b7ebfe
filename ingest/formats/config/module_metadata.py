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
)
from hlodb.ingest.records import Reject


class PassTiming(NamedTuple):
    """One run of an HLO pass; times are microseconds since 1970.

    `duration_us` is None unless both times are there, in order.
    """

    pass_name: str | None
    pipeline_name: str | None
    module_changed: bool
    start_timestamp_us: int | None
    duration_us: int | None


@dataclass(frozen=True, slots=True)
class ModuleMetadata:
    """What the file says of its module: passes in the order in which they ran."""

    passes: list[PassTiming] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)


def parse_module_metadata(text: str) -> ModuleMetadata:
    """Read a module's metadata; what breaks the format is rejected."""
    proto = parse_text_proto(text)
    passes = [_pass_timing(found) for found in messages(proto.fields, "pass_metadata")]
    return ModuleMetadata(passes, proto.rejects)


def _pass_timing(fields: tuple[Field, ...]) -> PassTiming:
    start = int_at(fields, "start_timestamp_usec")
    end = int_at(fields, "end_timestamp_usec")
    return PassTiming(
        text_at(fields, "pass_name"),
        text_at(fields, "pipeline_name"),
        text_at(fields, "module_changed") == "true",
        start,
        None if start is None or end is None or end < start else end - start,
    )
