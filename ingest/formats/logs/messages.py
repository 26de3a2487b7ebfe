"""Lines → the message that begins in the first of them, by the table of wordings.

The lines of a message are joined: by a blank, as a page or an editor wraps them, or by
nothing, where a terminal or a container runtime breaks them at a column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from hlodb.ingest.formats.logs.envelope import LogLine
from hlodb.ingest.formats.logs.oom_report import OomBuffer
from hlodb.ingest.formats.logs.wordings import (
    ERROR_CODE,
    ERROR_SPACE,
    PROGRAMS,
    SUSPECT,
    WORDINGS,
    Wording,
    line_number,
    size_bytes,
)
from hlodb.ingest.formats.scan import is_balanced

_MOST_LINES = 10
"""A message runs over no more lines."""

_MOST_CHARACTERS = 40_000
"""Lines are not joined to more."""

_LEAST_WIDTH = 40
"""Narrower terminals are none."""

_HINT = re.compile(
    r"(?i)memory|alloc|exhaust|oom|exceed|usage|scoped|temporar|status_|reserve|words"
    r"|executable|moved to host|use more|failed|killed|pinned"
)
_SPACES = {0: "smem", 201: "tile_spmem", 202: "spmem", 203: "hbm", 204: "sync_flags"}
"""Memory spaces of a SparseCore, openxla.org/xla/errors/error_3000."""

_WORD_BYTES = 4
_TYPES = {
    "float": ("f32", 4),
    "double": ("f64", 8),
    "half": ("f16", 2),
    "bfloat16": ("bf16", 2),
    "int8": ("s8", 1),
    "uint8": ("u8", 1),
    "int16": ("s16", 2),
    "int32": ("s32", 4),
    "int64": ("s64", 8),
    "bool": ("pred", 1),
    "complex64": ("c64", 8),
    "complex128": ("c128", 16),
    "uint16": ("u16", 2),
    "uint32": ("u32", 4),
    "uint64": ("u64", 8),
}
"""TensorFlow's names of types → XLA's and their bytes."""

_CUT = re.compile(r"[.,;]? ?(?:Used|Exceeded)\b")
_OPEN = re.compile(
    r"[=,]$|\b(?:while|allocating|on|stack|for)$| = \S{1,400}[\]}](?: [\w\-]*)?$"
)
_CALL = re.compile(r" = \S{1,400} [a-z][\w\-]{1,60}\(")
_HYPHEN = re.compile(r"[a-z]-$")
_INSTRUCTION = re.compile(
    r"%?(?P<name>[\w.\-]{1,300}) = (?P<shape>\(.{1,2000}?\)(?= [a-z])"
    r"|[a-z]\w{0,15}\[[^\]]{0,200}\](?:\{[^}]{0,200}\})?)?"
)
_METADATA = re.compile(
    r'(op_name|source_file|source_line)=(?:"((?:[^"\\]|\\.){0,2000})"|(\d{1,9}))'
)
_OUTPUT_OF = re.compile(r"output of %?([\w.\-]{1,300}?)@?(?:\{|$)")


@dataclass(frozen=True, slots=True)
class Found:
    """What a message says.

    It takes `line_count` lines and `rest` is what its last one holds behind it;
    `numbers` are those of the lines that it claims, a heading included.
    """

    form: str
    space_name: str | None
    sizes: dict[str, int]
    texts: dict[str, str]
    buffers: list[OomBuffer]
    line_count: int
    rest: str
    numbers: list[int] = field(default_factory=list)
    is_exact: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class _Joined:
    """Lines as one text; `ends` are where each ends in it."""

    text: str
    ends: list[int]


def found_in(lines: Sequence[LogLine], at: int, taken: Collection[int]) -> Found | None:
    """Return the message that begins in the line at `at`; None where none does."""
    line = lines[at]
    if not line.said or not _may_begin(lines, at):
        return None
    joined = _joined(lines, at)
    best = _best(joined)
    broken = _joined_without_blanks(lines, at)
    other = _best(broken) if broken is not None else None
    if broken is not None and _facts(broken, other) > _facts(joined, best):
        joined, best = broken, other
    return _found(lines, at, joined, *best, taken) if best is not None else None


def _facts(joined: _Joined, best: tuple[Wording, re.Match[str]] | None) -> int:
    """Return how much a message says, as far as the lines are joined rightly."""
    if best is None:
        return -1
    match = best[1]
    tail, _ = _tail(joined, match.end())
    is_instruction = _CALL.search(match[0]) is not None
    return sum(map(bool, match.groups())) + _names_program(tail) + is_instruction


def _names_program(text: str) -> bool:
    return any(program.search(text) for program in PROGRAMS)


def text_of(lines: Sequence[LogLine], at: int) -> str:
    """Return a line as it is quoted, with the next one where it ends in a colon."""
    said = lines[at].said
    following = lines[at + 1].said if at + 1 < len(lines) else ""
    return f"{said} {following}" if said.endswith(":") and following else said


def _may_begin(lines: Sequence[LogLine], at: int) -> bool:
    if _HINT.search(lines[at].said):
        return True
    following = lines[at + 1] if at + 1 < len(lines) else None
    return following is not None and _HINT.search(following.said) is not None


def _joined(lines: Sequence[LogLine], at: int) -> _Joined:
    """Return the lines of a paragraph as one text."""
    first = lines[at]
    text, ends = first.said, [len(first.said)]
    is_open = first.is_open
    for line in lines[at + 1 : at + _MOST_LINES]:
        if not line.said or (line.is_headed and not first.is_headed):
            break
        if len(text) + len(line.said) > _MOST_CHARACTERS:
            break
        is_broken = is_open or _HYPHEN.search(text) is not None
        text = f"{text}{'' if is_broken else ' '}{line.said}"
        ends.append(len(text))
        is_open = line.is_open
    return _Joined(text, ends)


def _joined_without_blanks(lines: Sequence[LogLine], at: int) -> _Joined | None:
    """Return lines that a terminal broke at its width; None where it did not."""
    width = len(lines[at].raw)
    if width < _LEAST_WIDTH:
        return None
    text, ends = lines[at].raw, [width]
    for line in lines[at + 1 : at + _MOST_LINES]:
        if not line.raw.strip() or len(line.raw) > width:
            break
        if len(text) + len(line.raw) > _MOST_CHARACTERS:
            break
        text += line.raw
        ends.append(len(text))
        if len(line.raw) < width:
            break
    return _Joined(text, ends) if len(ends) > 1 else None


def _best(joined: _Joined) -> tuple[Wording, re.Match[str]] | None:
    """Return the wording that begins first, in the first of the lines."""
    lower = joined.text.lower()
    first = joined.ends[0]
    best: tuple[Wording, re.Match[str]] | None = None
    for wording in WORDINGS:
        if wording.key not in lower:
            continue
        match = _match(wording, joined)
        if match is None or match.start() >= first:
            continue
        if best is None or match.start() < best[1].start():
            best = wording, match
    return best


def _match(wording: Wording, joined: _Joined) -> re.Match[str] | None:
    if not wording.is_of_one_line:
        return wording.pattern.search(joined.text)
    for end in joined.ends:
        if not _is_open(joined.text[:end]):
            match = wording.pattern.search(joined.text, 0, end)
            if match is not None or wording.key in joined.text[:end].lower():
                return match
    return None


def _is_open(text: str) -> bool:
    """Return whether an instruction goes on in the next line."""
    return not is_balanced(text) or _OPEN.search(text) is not None


def _found(
    lines: Sequence[LogLine],
    at: int,
    joined: _Joined,
    wording: Wording,
    match: re.Match[str],
    taken: Collection[int],
) -> Found:
    count = next(n for n, end in enumerate(joined.ends, 1) if match.end() <= end)
    rest = joined.text[match.end() : joined.ends[count - 1]]
    said = {**wording.facts, **{k: v for k, v in match.groupdict().items() if v}}
    sizes, is_exact = _sizes(said)
    texts = {name: said[name] for name in _TEXTS if said.get(name)}
    headings = _headings(lines, at, taken)
    heads = [lines[number].said for number in headings]
    tail, more = _tail(joined, match.end())
    before = " ".join([*heads, joined.text[: match.start()]])
    space = _space(wording, said, f"{before} {match[0]}")
    _name(texts, before, match[0], tail)
    excess = said.get("excess_bytes")
    if excess:
        texts["excess_text"] = excess
    numbers = [line.number for line in lines[at : at + count + more]]
    numbers += [lines[number].number for number in headings]
    return Found(
        wording.form,
        space.lower() if space else None,
        sizes,
        texts,
        [*_buffers(said), *_parts(said)],
        count,
        rest,
        numbers,
        is_exact,
        wording.form == "program_memory" and _CUT.match(rest) is not None,
    )


def _space(wording: Wording, said: Mapping[str, str], text: str) -> str | None:
    """Return the memory space that a message names, or the name of its error."""
    if "space_number" in said:
        return _SPACES.get(int(said["space_number"]), said.get("space_name"))
    if "space_name" in said or wording.form != "program_memory":
        return said.get("space_name")
    error = ERROR_SPACE.search(text)
    return error[1] if error else None


_TEXTS = (
    *("program_name", "allocator_name", "device_name", "operation"),
    *("parameter_number",),
)


def _sizes(said: Mapping[str, str]) -> tuple[dict[str, int], bool]:
    """Return the sizes of a message, and whether the request is exact."""
    sizes: dict[str, int] = {}
    for name, text in said.items():
        column, _, kind = name.rpartition("_")
        if name in _OTHER_SIZES or name.startswith(("buffer_", "part_")):
            continue
        if kind == "words":
            sizes[f"{column}_bytes"] = int(text) * _WORD_BYTES
        elif kind == "decimal":
            sizes[f"{column}_bytes"] = size_bytes(text, 1000)
        elif kind in ("exact", "rounded"):
            sizes[f"{column}_bytes"] = int(text)
        elif kind == "bytes" and said.keys().isdisjoint(
            (f"{column}_exact", f"{column}_rounded")
        ):
            sizes[name] = size_bytes(text)
    parts = [size_bytes(said[name]) for name in _PARTS if name in said]
    if parts:
        sizes["used_bytes"] = sum(parts)
    if "given_bytes" in said:
        sizes["requested_bytes"] = int(said["expected_bytes"])
    if "tensor_shape" in said and said.get("tensor_type") in _TYPES:
        dimensions = map(int, re.findall(r"[0-9]+", said["tensor_shape"]))
        size = prod(dimensions) * _TYPES[said["tensor_type"]][1]
        if size < 1 << 62:
            sizes["requested_bytes"] = size
    asked = said.get("requested_exact") or said.get("requested_bytes") or ""
    is_exact = "." not in asked and "requested_rounded" not in said
    return sizes, "tensor_shape" in said or is_exact


_PARTS = {
    "part_tensor_core_bytes": "TensorCore",
    "part_sparse_core_bytes": "SparseCore",
    "part_fixed_bytes": "of a fixed size",
    "part_by_row_bytes": "that grows with the rows",
}
"""Parts of what a program needs, and how they are called."""

_OTHER_SIZES = frozenset({"expected_bytes", "given_bytes"})


def _buffers(said: Mapping[str, str]) -> list[OomBuffer]:
    """Return the buffer that a message is about, if it is about one."""
    named = {
        k.removeprefix("buffer_"): v for k, v in said.items() if k[:7] == "buffer_"
    }
    if "tensor_shape" in said:
        kind = _TYPES.get(said.get("tensor_type", ""), ("", 0))[0]
        tensor = kind + said["tensor_shape"].replace(" ", "")
        return [OomBuffer(1, _sizes(said)[0].get("requested_bytes"), shape=tensor)]
    if not named.keys() - {"allocation_type"}:
        return []
    label: str | None = named.get("label")
    text = label.strip().removesuffix("...").rstrip(" .…") if label else None
    shape: str | None = named.get("shape", "").replace(" ", "") or None
    instruction: str | None = named.get("instruction")
    if instruction and instruction.startswith("<"):
        instruction = None
    found = _INSTRUCTION.match(text or "")
    metadata = {k: v or n for k, v, n in _METADATA.findall(text or "")}
    if found is not None:
        instruction = instruction or found["name"]
        shape = shape or found["shape"]
    elif text and (of := _OUTPUT_OF.match(text)):
        instruction = instruction or of[1]
    size = said.get("used_bytes") or said.get("requested_bytes")
    if "size_words" in named:
        size = str(int(named["size_words"]) * _WORD_BYTES)
    return [
        OomBuffer(
            1,
            size_bytes(size) if size else None,
            shape=shape,
            label=text,
            op_name=metadata.get("op_name"),
            source_file=metadata.get("source_file"),
            source_line=line_number(metadata.get("source_line")),
            allocation_type=named.get("allocation_type"),
            instruction=instruction.lstrip("%") if instruction else None,
        )
    ]


def _parts(said: Mapping[str, str]) -> list[OomBuffer]:
    """Return what a message names of which the whole consists."""
    parts: list[OomBuffer] = []
    for name, label in _PARTS.items():
        if name in said:
            size = size_bytes(said[name])
            parts.append(OomBuffer(len(parts) + 1, size, label=label))
    for name, label in (("expected", "expected"), ("given", "given")):
        if f"{name}_bytes" in said:
            size = int(said[f"{name}_bytes"])
            shape = said.get(f"{name}_shape")
            number = f"parameter {said['parameter_number']}, {label}"
            parts.append(
                OomBuffer(len(parts) + 1, size, None, shape, True, label=number)
            )
    return parts


def _headings(lines: Sequence[LogLine], at: int, taken: Collection[int]) -> list[int]:
    """Return the places of the lines before a message that begin it."""
    places = []
    for place in range(at - 1, max(at - 3, -1), -1):
        line = lines[place]
        is_heading = SUSPECT.search(line.said) or ERROR_CODE.search(line.said)
        if not is_heading or line.number in taken:
            break
        places.append(place)
    return places


def _tail(joined: _Joined, end: int) -> tuple[str, int]:
    """Return the text behind a message that may name its program, and its lines.

    It goes on for two lines at most, where one of them names a program.
    """
    last = next(n for n, at in enumerate(joined.ends) if end <= at)
    for more, at in enumerate(joined.ends[last : last + 3]):
        tail = joined.text[end:at]
        if more and SUSPECT.search(joined.text[joined.ends[last + more - 1] : at]):
            break
        if _names_program(tail):
            return tail, more
        if more and tail.endswith("."):
            break
    return joined.text[end : joined.ends[last]], 0


def _name(texts: dict[str, str], before: str, message: str, tail: str) -> None:
    """Add the program and the code of the error that stand around a message."""
    # What follows may be the next message.
    following = SUSPECT.search(tail)
    behind = tail[: following.start()] if following else tail
    for text in (message, behind, before):
        for program in PROGRAMS:
            if "program_name" not in texts and (named := program.search(text)):
                texts["program_name"] = named[1]
    codes = ERROR_CODE.findall(f"{before} {message}")
    if codes:
        texts["error_code"] = f"E{codes[-1]}"
