"""What a file is, judged by its first bytes alone.

Rules are tried in the order of the tables below; None means that no rule took it.

Binary protobuf messages are recognised by their first few fields, without a schema: XLA
writes fields in the order of their numbers, so the nesting of field 1 and the types of
what follows it differ between the messages.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from itertools import islice
from typing import NamedTuple

from hlodb.ingest.formats.logs.wordings import FIRST_MARKS
from hlodb.ingest.formats.proto.executable import begins_executable
from hlodb.ingest.formats.proto.riegeli import SIGNATURE
from hlodb.ingest.formats.proto.wire import BYTES, VARINT, is_module, wire_fields
from hlodb.ingest.formats.scan import decoded
from hlodb.ingest.recognise.file_kinds import HEAD_BYTES, Kind


class _Field(NamedTuple):
    number: int
    wire_type: int
    payload: bytes


def message_kind(head: bytes) -> tuple[Kind, str] | None:
    """Return (kind, description) of a message by its `head`; None if unknown.

    An HloProto and a bare HloModuleProto are both `hlo_proto`; in the latter field 1,
    the module's name, is a string.
    """
    if begins_executable(head):
        return "executable", "serialized executable"
    fields = _fields(head, 3)
    if not fields or not _is(fields[0], 1, BYTES):
        return None
    if is_module(head):
        return "hlo_proto", "HloModuleProto without its HloProto"
    if is_module(fields[0].payload):
        return "hlo_proto", "HloProto"
    inner = _fields(fields[0].payload, 3)
    if inner and _is(inner[0], 1, BYTES) and is_module(inner[0].payload):
        return "hlo_snapshot", "HloSnapshot"
    if _is_plane(inner):
        return "xplane", "XSpace profile"
    if _is_pprof(fields):
        return "ignored", "profile of pprof"
    if _is_report(inner):
        return "memory_report_proto", "MemoryUsageReportProto"
    return None


def _is_plane(fields: list[_Field]) -> bool:
    """XPlane: id (absent when 0), then a name."""
    named = fields[1:] if fields and _is(fields[0], 1, VARINT) else fields
    return bool(named) and _is_name(named[0], 2)


def _is_pprof(fields: list[_Field]) -> bool:
    """Profile of pprof: types of samples, of two numbers each, then samples.

    `jax.profiler.save_device_memory_profile` writes one. The spaces of a
    MemoryUsageReportProto may begin alike, but it has no other field.
    """
    types = [_fields(field.payload, 3) for field in fields if field.number == 1]
    is_typed = all(
        [(f.number, f.wire_type) for f in each] == [(1, VARINT), (2, VARINT)]
        for each in types
    )
    return is_typed and _is(fields[-1], 2, BYTES)


def _is_report(fields: list[_Field]) -> bool:
    """MemoryUsageReportProto's space: total_bytes, color (absent when 0), entries."""
    if len(fields) < 2 or not _is(fields[0], 1, VARINT):
        return False
    return _is(fields[1], 2, VARINT) or _is(fields[1], 3, BYTES)


def _is(field: _Field, number: int, wire_type: int) -> bool:
    return field.number == number and field.wire_type == wire_type


def _is_name(field: _Field, number: int) -> bool:
    if not _is(field, number, BYTES) or not field.payload:
        return False
    return field.payload.decode(errors="replace").isprintable()


def _fields(data: bytes, count: int) -> list[_Field]:
    """Read up to `count` fields; the payload of the last may be cut short."""
    return [
        _Field(field.number, field.wire_type, data[field.payload : field.end])
        for field in islice(wire_fields(data), count)
    ]


class Sniffed(NamedTuple):
    """What the content says; `certain` ones outweigh the file's name."""

    kind: Kind
    description: str
    certain: bool = True


class _Rule(NamedTuple):
    pattern: re.Pattern[bytes]
    sniffed: Sniffed


def _rule(pattern: bytes, kind: Kind, description: str, certain: bool = True) -> _Rule:
    return _Rule(re.compile(pattern), Sniffed(kind, description, certain))


_BINARY_STARTS: tuple[_Rule, ...] = (
    _rule(rb"\x7fELF", "ignored", "object file (ELF)"),
    _rule(rb"\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe", "ignored", "object file (Mach-O)"),
    _rule(rb"BC\xc0\xde", "ignored", "LLVM bitcode"),
    _rule(rb"ML\xefR", "ignored", "MLIR bytecode"),
    _rule(rb"\x03\x02\x23\x07", "ignored", "SPIR-V"),
    _rule(re.escape(SIGNATURE), "hlo_riegeli", "Riegeli records", certain=False),
    _rule(rb"\x89PNG|\xff\xd8\xff|GIF8|%PDF-", "ignored", "picture or document"),
    _rule(rb"\x1f\x8b|\xfd7zXZ\x00|BZh[1-9]1AY&SY", "unknown", "compressed data"),
    _rule(rb"\x28\xb5\x2f\xfd", "unknown", "compressed data (zstd)", certain=False),
    _rule(rb"PK\x03\x04", "unknown", "archive (zip)"),
    _rule(rb"(?s).{257}ustar", "unknown", "archive (tar)"),
    _rule(rb"\xff\xfe|\xfe\xff", "unknown", "UTF-16 text; write it as UTF-8"),
)

# Tried where the first word begins: behind white space, `//` and `/* */` comments.
_TEXT_STARTS: tuple[_Rule, ...] = (
    _rule(rb"HloModule\s+[\w.:\-]", "hlo_text", "HLO module text"),
    _rule(
        rb"BufferAssignment:|allocation \d+: (?:0x[0-9a-f]+, )?size ",
        "buffer_assignment",
        "buffer assignment",
    ),
    _rule(
        rb"(?:Total bytes used: \d[^\n]{0,40}\n\s{0,8})?Used values:",
        "buffer_assignment_values",
        "values of a buffer assignment",
    ),
    _rule(
        rb"Total bytes used: \d[^\n]{0,40}\n\s{0,8}Allocations sorted by size"
        rb"|Memory Space: [^\n]{0,40}\(color=",
        "memory_report",
        "memory usage report",
    ),
    _rule(rb"HloLiveRange ", "live_range", "live ranges"),
    _rule(rb"\*\*\* Begin [^\n]+ \*\*\*", "log", "dump written to standard output"),
    _rule(
        rb"; ModuleID = |source_filename = |target (?:datalayout|triple) = ",
        "ignored",
        "LLVM IR",
    ),
    _rule(rb"\.version \d+\.\d+\s+\.target ", "ignored", "PTX"),
    _rule(
        rb"#\w+ = |module @|module attributes|module \{|builtin\.module",
        "ignored",
        "MLIR, such as StableHLO: a program not compiled yet, without buffers",
    ),
    _rule(rb"(?:strict )?digraph\b[^\n]*\{", "ignored", "graph (DOT)"),
    _rule(rb"(?i:<!doctype html|<html|<svg|<\?xml)", "ignored", "picture"),
    _rule(rb"buffer_id,buffer_name,", "ignored", "table of buffers"),
    _rule(
        rb"(?:\[\s*)?\{\s*\"module\":\s*\"[^\"\n]{0,1000}\",\s*\"\w{1,40}_in_bytes\":",
        "memory_analysis",
        "what JAX reports of programs' memory",
        certain=False,
    ),
    _rule(rb"\{\"[^\n]{0,4000}\}\r?\n\{\"", "unknown", "lines of JSON", certain=False),
    _rule(rb"[\[{]\s*[\"\[{\]}]", "ignored", "JSON", certain=False),
    _rule(rb"--[A-Za-z]\w*(?:=|\s*\n|\Z)", "flagfile", "compiler flags", False),
)

# Tried anywhere in what looks like a text proto, behind a line break before it. A rule
# that begins with `^` is tried at each character, one with a literal is looked for.
_TEXT_PROTO_MARKS: tuple[_Rule, ...] = (
    _rule(
        rb"\ncpu_executable\s?:?\s?\{|\nhlo_module\s?:?\s?\{\s{0,8}hlo_module\s?:?\s?\{",
        "hlo_text_proto",
        "CPU executable as text",
    ),
    _rule(
        rb"\n(?:gpu_executable|hlo_module_with_config)\s?:?\s?\{",
        "hlo_text_proto",
        "GPU executable as text",
    ),
    _rule(
        rb"\nhlo\s?:?\s?\{\s{0,8}hlo_module\s?:?\s?\{",
        "hlo_text_proto",
        "HloSnapshot as text",
    ),
    _rule(
        rb"\nhlo_module\s?:?\s?\{|\ncomputations\s?:?\s?\{",
        "hlo_text_proto",
        "HLO as a text proto",
    ),
    _rule(rb"\ntpu_topology_args \{", "target_arguments", "TPU target", False),
    _rule(rb"\ngpu_device_info \{", "gpu_target_config", "GPU target", False),
    _rule(
        rb"\n(?:canonical_module_id: |pass_metadata \{)",
        "module_metadata",
        "passes and their timings",
        False,
    ),
    _rule(
        rb"\nentry_computation_layout \{",
        "module_config",
        "HloModuleConfigProto",
        False,
    ),
    _rule(rb"\nxla_(?:jf|tpu)_", "tpu_comp_env", "TpuCompilationEnvironment", False),
    _rule(rb"\nxla_\w+: ", "debug_options", "DebugOptions", False),
)

# Tried anywhere in text that nothing else took.
_LOG_MARKS: tuple[_Rule, ...] = (
    _rule(rb"\*\*\* Begin [^\n]+ \*\*\*", "log", "log with dumped files", False),
    _rule(rb"HloModule [\w.:\-]+(?:,|\r?\n)", "log", "log with HLO modules", False),
    _rule(
        rb"\n[ \t]*+(?:ENTRY[ \t]++)?%?[A-Za-z_][\w.\-]*+[ \t]*+(?:\([^\n]{0,4096})?"
        rb"\{[ \t\r]*+\n[ \t]*+(?:ROOT[ \t]++)?%?[\w.\-]++[ \t]*+=[ \t]*+"
        rb"\(?[a-z][a-z0-9]*+\[",
        "log",
        "text with HLO computations",
        False,
    ),
    _rule(rb"BufferAssignment:\r?\n", "log", "log with a buffer assignment", False),
)

_SKIPPED = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>(?:\s++|//[^\n]*+(?:\n|\Z)|/\*.*?\*/)*)", re.DOTALL
)
_COMPUTATION = re.compile(rb"(?:ENTRY )?%?[A-Za-z_][\w.\-]*(?: \(| \{)")
_INSTRUCTION = re.compile(rb"\s*(?:ROOT )?%?[\w.\-]+ = ")
_PROTO_LINE = re.compile(
    rb"\s*(?:\w+:\s*(?:\"[^\"]*\"|[\w.+\-]+)|\w+:?\s*\{\s*\}?|\})\s*"
)
_VAGUE = ("ignored", "unknown", "text_proto")
"""Kinds that a text has which may be a log as well."""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\b\x1b")) + b"\x7f"


def sniff(data: bytes, *, for_logs: bool = True) -> Sniffed | None:
    """Return the kind of `data`, the beginning of a file or all of it, by content.

    Unless `for_logs`, messages of running out of memory are not looked for.
    """
    head = data[:HEAD_BYTES]
    if not head:
        return Sniffed("ignored", "empty file", certain=False)
    binary = _first(_BINARY_STARTS, head, 0)
    if binary is not None:
        return (_sniff_log(data) if for_logs and is_wide(head) else None) or binary
    if not looks_like_text(head):
        message = message_kind(head)
        if message is not None:
            return Sniffed(*message)
        return Sniffed("unknown", "binary data", certain=False)
    found = _sniff_text(data, head)
    is_sure = found is not None and (found.certain or found.kind not in _VAGUE)
    return found if is_sure or not for_logs else _sniff_log(data) or found


def is_wide(head: bytes) -> bool:
    """Return whether data is UTF-16, as Windows' shell writes what a program prints."""
    return head.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def looks_like_text(head: bytes) -> bool:
    """Return whether data is text: no NUL, and next to no control characters."""
    if b"\0" in head:
        return False
    controls = len(head) - len(head.translate(None, delete=_CONTROLS))
    return controls * 100 <= len(head)


def _sniff_text(data: bytes, head: bytes) -> Sniffed | None:
    skipped = _SKIPPED.match(head)
    start = skipped.end() if skipped else 0
    found = _first(_TEXT_STARTS, head, start)
    if found is not None:
        return found
    lines = head[start : start + 4096].split(b"\n")[:4]
    if _is_computation(lines):
        return Sniffed("hlo_text", "HLO text without its HloModule line", False)
    if _is_text_proto(lines):
        mark = _anywhere(_TEXT_PROTO_MARKS, b"\n" + data)
        return mark or Sniffed("text_proto", "text proto", certain=False)
    return _anywhere(_LOG_MARKS, data)


_OOM_MARKS = tuple(mark.encode() for mark in FIRST_MARKS)


def _sniff_log(data: bytes) -> Sniffed | None:
    """Return a log if the text tells of a shortage of memory, in whatever wording."""
    text = decoded(data).encode() if is_wide(data) else data
    if not any(mark in text for mark in _OOM_MARKS):
        return None
    from hlodb.ingest.formats.logs.oom_log import parse_oom_log

    log = parse_oom_log(decoded(text))
    if any(report.form != "unknown" for report in log.reports):
        return Sniffed("log", "log of running out of memory", certain=False)
    if log.stats:
        return Sniffed("log", "what memory_analysis() printed", certain=False)
    if log.reports:
        return Sniffed("log", "log that tells of a shortage of memory", certain=False)
    return None


def _first(rules: tuple[_Rule, ...], head: bytes, start: int) -> Sniffed | None:
    for pattern, sniffed in rules:
        if pattern.match(head, start):
            return sniffed
    return None


def _anywhere(rules: tuple[_Rule, ...], data: bytes) -> Sniffed | None:
    for pattern, sniffed in rules:
        if pattern.search(data):
            return sniffed
    return None


def _is_computation(lines: list[bytes]) -> bool:
    return (
        len(lines) > 1
        and lines[0].rstrip().endswith(b"{")
        and _COMPUTATION.match(lines[0]) is not None
        and _INSTRUCTION.match(lines[1]) is not None
    )


def _is_text_proto(lines: list[bytes]) -> bool:
    whole = lines[:-1] if len(lines) > 1 else lines
    told = [line for line in whole if line.strip() and line.lstrip()[:1] != b"#"]
    return bool(told) and all(_PROTO_LINE.fullmatch(line) for line in told)
