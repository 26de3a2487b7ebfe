"""What is fuzzed: every function that meets bytes from outside, by name."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from hlodb.errors import ParseError
from hlodb.ingest.formats.buffer_assignment.assignment import parse_assignment
from hlodb.ingest.formats.config.flags import parse_flags
from hlodb.ingest.formats.config.module_metadata import parse_module_metadata
from hlodb.ingest.formats.config.target import parse_target
from hlodb.ingest.formats.hlo_text.attributes import parse_tail
from hlodb.ingest.formats.hlo_text.header import parse_frame_tables
from hlodb.ingest.formats.hlo_text.instruction import (
    parse_instruction,
    parse_instructions,
)
from hlodb.ingest.formats.hlo_text.module import parse_hlo
from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.stdout_frames import split_frames
from hlodb.ingest.formats.memory_reports.memory_analysis import parse_memory_analyses
from hlodb.ingest.formats.memory_reports.memory_report import parse_memory_report
from hlodb.ingest.formats.memory_reports.memory_report_proto import (
    parse_memory_report_proto,
)
from hlodb.ingest.formats.proto.executable import hlo_of_executable
from hlodb.ingest.formats.proto.hlo_proto import parse_hlo_proto
from hlodb.ingest.formats.proto.riegeli import message_of_records
from hlodb.ingest.formats.proto.text_hlo import hlo_of_text
from hlodb.ingest.formats.proto.xplane import parse_xplane
from hlodb.ingest.formats.shapes import parse_shape, without_layout
from hlodb.ingest.formats.text_proto import parse_text_proto
from hlodb.ingest.modules.interning import Distinct
from hlodb.ingest.modules.stored_text import stored_attributes, stored_literal
from hlodb.ingest.pipeline.run_reading import hlo_alone
from hlodb.ingest.recognise.file_kinds import TARGET_KINDS
from hlodb.ingest.recognise.recognition import recognise
from hlodb.ingest.recognise.unit_files import PARSED_KINDS, UnitFile
from hlodb.ingest.records import Instruction
from hlodb.ingest.sources.discover import discover
from hlodb.ingest.sources.limits import DEFAULT_LIMITS, Refusal, RefusedFile
from hlodb.ingest.sources.streams import LimitedReader
from hlodb.ingest.sources.units import read_tar_units, read_zip_units
from hlodb.ingest.tables.batch import parse_batch, start_process
from tests.fuzz.seeds import COMPACT

Reads = Callable[[bytes], object]


class FuzzTarget(NamedTuple):
    """A function, the kinds of seed it begins with, and what it may raise."""

    read: Reads
    kinds: tuple[str, ...]
    may_raise: tuple[type[Exception], ...] = ()


def _text(read: Callable[[str], object]) -> Reads:
    return lambda data: read(data.decode("utf-8", "replace"))


def _line(read: Callable[[str], object]) -> Reads:
    """Pass each line to a function that reads instructions or shapes."""

    def read_lines(data: bytes) -> None:
        for line in data.decode("utf-8", "replace").split("\n")[:200]:
            try:
                read(line.strip())
            except ParseError:
                continue

    return read_lines


def _lines_at_once(text: str) -> None:
    """Read lines at once, which has to give what each gives alone."""
    lines: list[str] = []
    alone: list[Instruction] = []
    for line in text.split("\n")[:200]:
        try:
            alone.append(parse_instruction(line))
            lines.append(line)
        except ParseError:
            continue
    distinct = Distinct()
    assert parse_instructions(lines) == alone
    stored = [
        i._replace(
            literal=stored_literal(i.literal),
            attributes=stored_attributes(i.attributes),
        )
        for i in alone
    ]
    assert list(distinct.sequence(distinct.read(lines))) == stored


def _read_text_hlo(text: str) -> None:
    found = hlo_of_text(text)
    if found.hlo:
        parse_hlo_proto(found.hlo)


def _unit(kind_of_name: str) -> Reads:
    """Return a function that takes a file the whole way to tables."""
    path = f"module_0001.jit_f.{kind_of_name}"

    def read_unit(data: bytes) -> None:
        start_process()
        known = recognise(path, data)
        if known.kind in PARSED_KINDS:
            file = UnitFile(path, data, sha256(data).hexdigest(), known)
            parse_batch([[hlo_alone(file)]])

    return read_unit


@lru_cache(maxsize=1)
def _files_of_one_module() -> dict[str, bytes]:
    """Return HLO text and assignment of a module, by their names."""
    [source] = discover([str(COMPACT)])
    files = (file for unit in source.units() for file in unit.files)
    return {f.path: f.data for f in files if ".jit_cg.cpu_after" in f.path}


def _unit_with(end_of_name: str) -> Reads:
    """Return a function that takes a file to tables with the others of its module."""

    def read_unit(data: bytes) -> None:
        start_process()
        files = []
        for path, sound in _files_of_one_module().items():
            content = data if path.endswith(end_of_name) else sound
            known = recognise(path, content)
            if known.kind in PARSED_KINDS:
                digest = sha256(content).hexdigest()
                files.append(UnitFile(path, content, digest, known))
        parse_batch([files])

    return read_unit


def _archive(data: bytes) -> None:
    refused: list[RefusedFile] = []
    read = read_zip_units if data[:2] == b"PK" else read_tar_units
    for _ in read(lambda: io.BytesIO(data), "a", DEFAULT_LIMITS, refused.append):
        pass


def _compressed(data: bytes) -> None:
    LimitedReader(io.BytesIO(data), DEFAULT_LIMITS).take_all()


_ASSIGNMENTS = ("buffer_assignment", "buffer_assignment_values", "live_range")

TARGETS: dict[str, FuzzTarget] = {
    "hlo_text": FuzzTarget(_text(parse_hlo), ("hlo_text",)),
    "hlo_instruction": FuzzTarget(_line(parse_instruction), ("hlo_text",)),
    "hlo_lines": FuzzTarget(_text(_lines_at_once), ("hlo_text",)),
    "hlo_attributes": FuzzTarget(_line(parse_tail), ("hlo_text",)),
    "shapes": FuzzTarget(
        _line(lambda line: (parse_shape(line), without_layout(line))), ("hlo_text",)
    ),
    "stack_frames": FuzzTarget(_text(parse_frame_tables), ("hlo_text",)),
    "hlo_proto": FuzzTarget(parse_hlo_proto, ("hlo_proto",)),
    "riegeli": FuzzTarget(message_of_records, ("hlo_riegeli",)),
    "unit_of_riegeli": FuzzTarget(
        _unit("cpu_after_optimizations.riegeli"), ("hlo_riegeli",)
    ),
    "xplane": FuzzTarget(parse_xplane, ("xplane", "hlo_proto")),
    "executable": FuzzTarget(hlo_of_executable, ("executable", "hlo_proto")),
    "unit_of_executable": FuzzTarget(_unit("executable.pb"), ("executable",)),
    "text_hlo": FuzzTarget(_text(_read_text_hlo), ("hlo_text_proto", "text_proto")),
    "buffer_assignment": FuzzTarget(_text(parse_assignment), _ASSIGNMENTS),
    "memory_report": FuzzTarget(_text(parse_memory_report), ("memory_report",)),
    "memory_report_proto": FuzzTarget(
        parse_memory_report_proto, ("memory_report_proto", "hlo_proto")
    ),
    "memory_analysis": FuzzTarget(_text(parse_memory_analyses), ("memory_analysis",)),
    "oom_log": FuzzTarget(_text(parse_oom_log), ("log",)),
    "stdout_frames": FuzzTarget(_text(split_frames), ("log",)),
    "module_metadata": FuzzTarget(_text(parse_module_metadata), ("module_metadata",)),
    "text_proto": FuzzTarget(
        _text(parse_text_proto), ("debug_options", "module_metadata", "text_proto")
    ),
    "flags": FuzzTarget(
        _text(
            lambda text: [
                parse_flags(kind, text)
                for kind in (
                    *("debug_options", "module_config", "flagfile"),
                    "compile_options",
                )
            ]
        ),
        (
            *("debug_options", "tpu_comp_env", "flagfile", "module_config"),
            "compile_options",
        ),
    ),
    "target": FuzzTarget(
        _text(lambda text: [parse_target(kind, text) for kind in sorted(TARGET_KINDS)]),
        ("target_arguments", "gpu_target_config", "text_proto"),
    ),
    "recognise": FuzzTarget(
        lambda data: recognise(data[:100].decode("utf-8", "replace"), data),
        ("hlo_text", "hlo_proto", "log", "unknown"),
    ),
    "archives": FuzzTarget(_archive, ("archive",)),
    "streams": FuzzTarget(_compressed, ("compressed",), (Refusal,)),
    "unit_of_text": FuzzTarget(
        _unit("cpu_after_optimizations.txt"), ("hlo_text", "log")
    ),
    "text_in_unit": FuzzTarget(_unit_with("optimizations.txt"), ("hlo_text",)),
    "values_in_unit": FuzzTarget(
        _unit_with("-values.txt"), ("buffer_assignment_values",)
    ),
    "unit_of_assignment": FuzzTarget(
        _unit("cpu_after_optimizations-buffer-assignment.txt"), _ASSIGNMENTS
    ),
}
