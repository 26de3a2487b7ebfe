"""Executables, snapshots and modules as protobuf text → the HloProto that they hold.

    file       ::= 'cpu_executable' '{' executable '}' | 'gpu_executable' '{' … '}'
                 | executable | snapshot | HloProto | HloModuleProto
    executable ::= ('hlo_module' | 'hlo_module_with_config')
                   '{' 'hlo_module' '{' … '}' … '}'
                   ('buffer_assignment' | 'buffer_allocations') '{' … '}' …
    snapshot   ::= 'hlo' '{' HloProto '}' … | 'hlo_module' '{' … '}' 'partitions' …

The first is how XLA writes executables to be compared by people; the names of fields
are those of xla/service/cpu/executable.proto, xla/service/gpu/gpu_executable.proto and
xla/service/hlo.proto. Arguments, machine code and configurations are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hlodb.ingest.formats.proto.text_message import text_to_message
from hlodb.ingest.formats.proto.wire import encoded
from hlodb.ingest.formats.text_proto import Field, messages, parse_text_proto
from hlodb.ingest.records import Reject

_SHOWN = 5


class TextHlo(NamedTuple):
    """An HloProto as bytes, rejects of its text, and in words what was left out."""

    hlo: bytes
    rejects: list[Reject]
    left_out: str | None


def hlo_of_text(text: str) -> TextHlo:
    """Return the HLO in a text; no bytes where it holds none. Never raises."""
    proto = parse_text_proto(text, keep_escapes=True)
    outer: Sequence[Field] = proto.fields
    for name in ("cpu_executable", "gpu_executable", "hlo"):
        outer = next(messages(outer, name), outer)
    module = _module(outer)
    left_out: Counter[str] = Counter()
    hlo = b""
    for number, fields, message in (
        (1, module, "HloModuleProto"),
        (3, _assignment(outer), "BufferAssignmentProto"),
    ):
        if fields:
            found = text_to_message(fields, message)
            hlo += encoded(number, found.data)
            left_out += found.left_out
    return TextHlo(hlo, proto.rejects, _described(left_out))


def _module(outer: Sequence[Field]) -> Sequence[Field]:
    for name in ("hlo_module_with_config", "hlo_module"):
        for found in messages(outer, name):
            return next(messages(found, "hlo_module"), found)
    return outer if any(messages(outer, "computations")) else ()


def _assignment(outer: Sequence[Field]) -> Sequence[Field]:
    for found in messages(outer, "buffer_assignment"):
        return found
    for listed in messages(outer, "buffer_allocations"):
        return [field._replace(name="buffer_allocations") for field in listed]
    return ()


def _described(left_out: Counter[str]) -> str | None:
    if not left_out:
        return None
    names = ", ".join(name for name, _ in left_out.most_common(_SHOWN))
    more = ", …" if len(left_out) > _SHOWN else ""
    return f"{left_out.total()} values are of fields that are not read: {names}{more}"
