"""xplane.pb: the modules that a profile carries along.

The profiler writes the HloProto of every program that ran into the plane
`/host:metadata`: one event metadata per program, called `jit_step(123)` after module
and program number, with the message as the bytes of its stat `Hlo Proto` (`hlo_proto`
in some releases). Everything else in a profile is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hlodb.ingest.formats.proto.broken_messages import Parts, read_message
from hlodb.ingest.formats.proto.hlo_pb2 import XEventMetadata, XPlane, XSpace
from hlodb.ingest.formats.proto.metadata import text_of
from hlodb.ingest.records import Reject

_SPACE = Parts(XSpace, {1: Parts(XPlane, {}, 60)}, 60)
_METADATA_PLANE = b"/host:metadata"
_HLO_STATS = frozenset(("hlo_proto", "hlo proto"))


@dataclass(frozen=True, slots=True)
class ParsedProfile:
    """The programs of one profile in the order of their numbers, as HloProtos."""

    modules: list[bytes] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)


def parse_xplane(data: bytes) -> ParsedProfile:
    """Return the modules within an XSpace; none is no error. Never raises."""
    space, rejects = read_message(data, _SPACE, "xplane")
    planes = [plane for plane in space.planes if plane.name == _METADATA_PLANE]
    modules = [module for plane in planes for module in _modules(plane)]
    return ParsedProfile(modules, rejects)


def _modules(plane: XPlane) -> Iterator[bytes]:
    hlo_stats = {
        number
        for number, stat in plane.stat_metadata.items()
        if text_of(stat.name).lower() in _HLO_STATS
    }
    for _, event in sorted(plane.event_metadata.items()):
        if hlo := _hlo_bytes(event, hlo_stats):
            yield hlo


def _hlo_bytes(event: XEventMetadata, hlo_stats: set[int]) -> bytes:
    for stat in event.stats:
        if stat.metadata_id in hlo_stats and stat.bytes_value:
            return bytes(stat.bytes_value)
    return b""
