"""Compiler flags, as the dump lists them: debug_options, flagfile, tpu_comp_env.

debug_options holds what is not default, the two others every flag of a TPU compile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hlodb.ingest.formats.text_proto import (
    Field,
    flatten,
    messages,
    parse_text_proto,
    text_at,
)
from hlodb.ingest.records import Reject, Unclaimed

_FLAG = re.compile(r"\s*--?(?P<name>[A-Za-z][\w.\-]*)(?P<value>\s*=.*)?")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Flags:
    """Compiler flags as (name, value), in the order of the file, each name once.

    A repeated field is one flag whose values are joined by commas, as on a command
    line; a message gives a flag per field (`options.size`), a map one per key.
    """

    flags: list[tuple[str, str]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    unclaimed: list[Unclaimed] = field(default_factory=list)
    lines_total: int = 0


def parse_flags(kind: str, text: str) -> Flags:
    """Read the flags of a file of this kind; of other kinds there are none."""
    read = _READERS.get(kind)
    return read(text) if read else Flags(lines_total=len(text.splitlines()))


def debug_options(text: str) -> Flags:
    """Read `*.debug_options`: a text proto of DebugOptions."""
    return _flags_of_proto(text)


def tpu_comp_env(text: str) -> Flags:
    """Read `*.tpu_comp_env.txt`: a text proto of TpuCompilationEnvironment."""
    return _flags_of_proto(text)


def module_config(text: str) -> Flags:
    """Read the DebugOptions inside an HloModuleConfigProto."""
    return _flags_of_proto(text, inside="debug_options")


def flagfile(text: str) -> Flags:
    """Read `*.flagfile`: `--name=value`, `--name`, `--noname`, one a line.

    A value, or the whole line, may be in quotes. `--name` alone is true, `--noname`
    false. Empty lines and comments (`#`) are passed over, other lines are unclaimed.
    """
    flags: list[tuple[str, str]] = []
    unclaimed: list[Unclaimed] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        match = _FLAG.fullmatch(_unquoted(line))
        if match is not None:
            flags.append(_flag(match["name"], match["value"]))
        elif line.strip() and not line.lstrip().startswith("#"):
            unclaimed.append(Unclaimed(number, line[:_SHOWN]))
    return Flags(_once(flags), [], unclaimed, len(lines))


_READERS: dict[str, Callable[[str], Flags]] = {
    "debug_options": debug_options,
    "flagfile": flagfile,
    "tpu_comp_env": tpu_comp_env,
    "module_config": module_config,
}


def _flag(name: str, value: str | None) -> tuple[str, str]:
    if value is not None:
        return name, _unquoted(value.lstrip()[1:])
    if name.startswith("no") and len(name) > 2:
        return name[2:], "false"
    return name, "true"


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _flags_of_proto(text: str, inside: str | None = None) -> Flags:
    proto = parse_text_proto(text)
    fields: Iterable[Field] = proto.fields
    if inside is not None:
        fields = [inner for found in messages(fields, inside) for inner in found]
    flags = [flag for one in fields for flag in _flags_of_field(one)]
    return Flags(_once(flags), proto.rejects, [], proto.lines_total)


def _flags_of_field(one: Field) -> list[tuple[str, str]]:
    if isinstance(one.value, str):
        return [(one.name, one.value)]
    key, value = text_at(one.value, "key"), text_at(one.value, "value")
    if key is not None and value is not None and len(one.value) == 2:
        return [(f"{one.name}.{key}", value)]
    return flatten([one])


def _once(flags: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    values: dict[str, list[str]] = {}
    for name, value in flags:
        values.setdefault(name, []).append(value)
    return [(name, ",".join(found)) for name, found in values.items()]
