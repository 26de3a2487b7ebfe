"""File names of a dump directory, taken apart from their right end.

    file ::= (prefix '.')? 'module_' ID ('.' NAME)? ('.cl_' DIGITS)? ('.' STAGE)? SUFFIX

NAME may hold dots and even stage words, so only the right end is certain.
`.gz`, `.xz`, `.zst` and `.bz2` behind a name say nothing and are taken off first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hlodb.ingest.recognise.file_kinds import (
    ARTEFACTS,
    CACHE_KINDS,
    CACHE_NAME,
    COMPRESSION_SUFFIXES,
    NUMBERED,
    SNAPSHOT_STAGES,
    STAGE_TOKENS,
    STAGELESS,
    WHOLE_NAMES,
    Kind,
    Stage,
)

_HEAD = re.compile(r"(?:(?P<prefix>[^.]+)\.)?module_(?P<number>\d{4,9})(?=\.|$)")
_CACHE = re.compile(CACHE_NAME)
_TIMESTAMP = re.compile(r"\d{10,}")
_CL = re.compile(r"(?:^|\.)cl_(\d+)$")
# Literal alternatives: a wildcard would swallow the tail of a dotted module name.
_STAGE = re.compile(
    r"(?:^|\.)"
    r"(?P<platform>cpu_|sm_\d+(?:\.\d+)?[a-z]?_gpu_|gfx[0-9a-z]+_gpu_|_gpu_)?"
    rf"(?P<stage>{'|'.join(sorted(STAGE_TOKENS, key=len, reverse=True))})$"
)
_STEP = re.compile(r"(?:^|(?<=\.))(\d{4,9})\.")
_STAGELESS = tuple(
    (re.compile(rf"(?:^|\.)(?:{pattern})$", re.DOTALL), kind, description)
    for pattern, kind, description in STAGELESS
)


class NameParts(NamedTuple):
    """What a file's name says; fields it doesn't speak of are None.

    `kind` is None where the name leaves it open (`notes.txt`, `000_04aa.txt`).
    `artefact` is the suffix that set this file apart from its companions, `prefix` what
    stands before the module's number: a timestamp, or a process.
    """

    kind: Kind | None = None
    description: str = ""
    artefact: str = ""
    prefix: str = ""
    timestamp: str | None = None
    module_number: int | None = None
    module_name: str | None = None
    cl: str | None = None
    platform_prefix: str | None = None
    stage: Stage | None = None
    pipeline: str | None = None
    pass_after: str | None = None
    pass_before: str | None = None
    pass_step: int | None = None
    pass_text: str | None = None


def without_compression(name: str) -> str:
    """Return the name without one ending such as `.gz`."""
    for suffix in COMPRESSION_SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


# Files are put in the order of their units by their names, and read thereafter.
@lru_cache(maxsize=1 << 15)
def split_name(path: str) -> NameParts:
    """Take the name of a dump file apart; never fails.

    A snapshot from inside a pass (`0054.copy-insertion.after_adding_copies`) has the
    pass in `pass_after`, the rest in `pass_text`, and no pipeline.
    """
    folder, _, name = path.rpartition("/")
    name = without_compression(name)
    if name in WHOLE_NAMES:
        kind, description = WHOLE_NAMES[name]
        parts = NameParts(kind, description, artefact=name)
        return _with_module(parts, folder.rpartition("/")[2])
    cached = _CACHE.fullmatch(name)
    if cached is not None:
        kind, description = CACHE_KINDS[cached["ending"] or ""]
        return NameParts(
            kind, description, cached["ending"] or "", module_name=cached["module"]
        )
    head = _HEAD.match(name)
    if head is None:
        return _split_tail(name)
    prefix = head["prefix"] or ""
    tail = _split_tail(name[head.end() :])
    if tail.artefact in NUMBERED and tail.stage is None:
        kind, description = NUMBERED[tail.artefact]
        tail = tail._replace(kind=kind, description=description)
    return tail._replace(
        prefix=prefix,
        timestamp=prefix if _TIMESTAMP.fullmatch(prefix) else None,
        module_number=int(head["number"]),
    )


def _with_module(parts: NameParts, folder: str) -> NameParts:
    """Add the module that a folder is named after: `module_0001.f.cl_7`."""
    head = _HEAD.match(folder)
    if head is None:
        return parts
    owned = _owner(parts, folder[head.end() :])
    return owned._replace(module_number=int(head["number"]))


def _split_tail(tail: str) -> NameParts:
    for suffix, kind, description in ARTEFACTS:
        if tail.endswith(suffix):
            stem = tail[: -len(suffix)]
            staged = _split_stage(stem) or _split_pass(stem)
            if staged is not None:
                return staged._replace(
                    kind=kind, description=description, artefact=suffix
                )
            break
    return _split_stageless(tail) or _split_artefact(tail)


def _split_stage(stem: str) -> NameParts | None:
    match = _STAGE.search(stem)
    if match is None:
        return None
    platform = match["platform"]
    return _owner(
        NameParts(
            stage=STAGE_TOKENS[match["stage"]],
            platform_prefix=platform and _platform(platform),
        ),
        stem[: match.start()],
    )


def _platform(prefix: str) -> str:
    return prefix.removesuffix("_").removesuffix("_gpu") or "gpu"


def _split_pass(stem: str) -> NameParts | None:
    front, before_mark, before = stem.rpartition(".before_")
    front, after_mark, after = front.rpartition(".after_")
    if before_mark and after_mark:
        step = _last_step(front)
        if step is not None and step.end() < len(front):
            return _owner(
                NameParts(
                    stage="pass",
                    pass_step=int(step[1]),
                    pipeline=front[step.end() :],
                    pass_after=after,
                    pass_before=before,
                ),
                front[: step.start()],
            )
    return _split_inside_pass(stem)


def _split_inside_pass(stem: str) -> NameParts | None:
    step = _last_step(stem)
    if step is None:
        return None
    pass_name, _, text = stem[step.end() :].partition(".")
    if not pass_name or not text or _CL.match(pass_name):
        return None
    return _owner(
        NameParts(
            stage="pass",
            pass_step=int(step[1]),
            pass_after=pass_name,
            pass_text=text,
        ),
        stem[: step.start()],
    )


def _last_step(text: str) -> re.Match[str] | None:
    # The last number: a module's own name may hold one too (`main.1234`).
    last = None
    for match in _STEP.finditer(text):
        last = match
    return last


def _split_stageless(tail: str) -> NameParts | None:
    for pattern, kind, description in _STAGELESS:
        match = pattern.search(tail)
        if match is not None:
            stage = SNAPSHOT_STAGES.get(description)
            parts = NameParts(kind, description, artefact=match[0], stage=stage)
            return _owner(parts, tail[: match.start()])
    return None


def _split_artefact(tail: str) -> NameParts:
    """Split a name that has neither stage nor known tail: `foo-live-range.txt`."""
    for suffix, kind, description in ARTEFACTS:
        if tail.endswith(suffix) and suffix != ".txt":
            parts = NameParts(kind, description, suffix)
            return _owner(parts, tail[: -len(suffix)])
    stem, dot, extension = tail.rpartition(".")
    return _owner(NameParts(artefact=dot + extension if dot else ""), stem or tail)


def _owner(parts: NameParts, owner: str) -> NameParts:
    """Add whose file it is: module name and change list, out of the rest of a name."""
    owner = owner.strip(".")
    cl = _CL.search(owner)
    if cl is not None:
        owner = owner[: cl.start()]
    return parts._replace(module_name=owner or None, cl=cl and cl[1])
