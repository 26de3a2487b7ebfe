"""Compiler flags, as the dump lists them: debug_options, flagfile, tpu_comp_env.

debug_options holds what is not default, flagfile and tpu_comp_env every flag of a TPU
compile, compile_options every option as a framework handed it to the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from hlodb.ingest.formats.sections import snippet
from hlodb.ingest.formats.text_proto import (
    Field,
    flatten,
    messages,
    parse_text_proto,
    text_at,
)
from hlodb.ingest.records import Reject, Tally, Unclaimed

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
    unclaimed: list[Unclaimed] = field(default_factory=Tally)


def parse_flags(kind: str, text: str) -> Flags:
    """Read the flags of a file of this kind; of other kinds there are none.

    XLA ends each line: a last one without its end is cut off, and its value unknown.
    """
    read = _READERS.get(kind)
    if read is None:
        return Flags()
    lines, end, cut = text.rpartition("\n")
    found = read(lines + end)
    if not cut:
        return found
    where = lines.count("\n") + len(end) + 1, len(cut) + 1
    message = "the text breaks off in this line; everything before it was read"
    reject = Reject(*where, "end", "truncated", message, snippet(cut))
    return replace(found, rejects=[*found.rejects, reject])


def _flags_of_lines(text: str) -> Flags:
    """Read `*.flagfile`: `--name=value`, `--name`, `--noname`, one a line.

    A value, or the whole line, may be in quotes. `--name` alone is true, `--noname`
    false. Empty lines and comments (`#`) are passed over, other lines are unclaimed.
    """
    flags: list[tuple[str, str]] = []
    unclaimed: Tally[Unclaimed] = Tally()
    for number, line in enumerate(text.splitlines(), start=1):
        match = _FLAG.fullmatch(_unquoted(line))
        if match is not None:
            flags.append(_flag(match["name"], match["value"]))
        elif line.strip() and not line.lstrip().startswith("#"):
            unclaimed.append(Unclaimed(number, line[:_SHOWN]))
    return Flags(_once(flags), [], unclaimed)


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
    return Flags(_once(flags), proto.rejects)


def _flags_of_options(text: str) -> Flags:
    """Read a CompileOptionsProto: its DebugOptions, and what overrides them.

    Overrides, from `jit(…, compiler_options=…)`, count in place of the options. Other
    fields are flags called by their path; binary environments of backends are left out.
    """
    proto = parse_text_proto(text)
    build = [f for found in messages(proto.fields, _BUILD) for f in found]
    flags: dict[str, str] = {}
    for found in messages(build, "debug_options"):
        flags |= dict(_once(flag for one in found for flag in _flags_of_field(one)))
    rest = [f for f in proto.fields if f.name not in (_BUILD, _OVERRIDES)]
    rest += [f for f in build if f.name not in _NO_OPTIONS]
    flags |= dict(_once(flatten(rest)))
    for found in messages(proto.fields, _OVERRIDES):
        key = text_at(found, "key")
        said = [one for value in messages(found, "value") for one in flatten(value)]
        if key and said:
            flags[key] = said[0][1]
    return Flags(list(flags.items()), proto.rejects)


_BUILD, _OVERRIDES = "executable_build_options", "env_option_overrides"
# The device assignment is that of the module.
_NO_OPTIONS = frozenset(("comp_envs", "debug_options", "device_assignment"))


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


_READERS: dict[str, Callable[[str], Flags]] = {
    "compile_options": _flags_of_options,
    "debug_options": _flags_of_proto,
    "flagfile": _flags_of_lines,
    "tpu_comp_env": _flags_of_proto,
    "module_config": partial(_flags_of_proto, inside="debug_options"),
}
