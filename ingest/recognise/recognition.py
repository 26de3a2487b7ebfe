"""What a file of a dump is, from its name and its content.

    name (file_names) + content (sniff) → kind, stage, module, pass

The name decides; content that certainly is something else outweighs it, but for a part
of a numbered module, such as the fusion that a code generator is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from hlodb.ingest.recognise.file_kinds import (
    COMPANION_KINDS,
    COMPRESSION_SUFFIXES,
    HEAD_BYTES,
    PAGE_SUFFIXES,
    PROTO_KINDS,
    READ_KINDS,
    STAGES,
    TEXT_KINDS,
    Kind,
    Stage,
)
from hlodb.ingest.recognise.file_names import NameParts, split_name
from hlodb.ingest.recognise.sniff import Sniffed, looks_like_text, sniff


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is; `description` says it in words, for `unknown` also why.

    `stage` is None where the name tells none. `timestamp`, `cl` are digits.
    `platform_prefix` is `cpu`, `sm_9.0`, `gfx90a`, `gpu`, or None (TPU, old dumps).
    `module_name` is what stands between number and stage; of a renamed file, its stem.
    `pass_text` is set for snapshots from inside the pass that `pass_after` names.
    """

    kind: Kind
    description: str
    stage: Stage | None = None
    module_number: int | None = None
    module_name: str | None = None
    timestamp: str | None = None
    cl: str | None = None
    platform_prefix: str | None = None
    pipeline: str | None = None
    pass_after: str | None = None
    pass_before: str | None = None
    pass_step: int | None = None
    pass_text: str | None = None


class UnitKey(NamedTuple):
    """What the files of one unit share; absent numbers are -1, absent words empty.

    Keys sort into folders, modules, stages of the compilation, and steps.
    `file` is the path of a file that stands alone, else empty.
    """

    folder: str
    prefix: str
    module_number: int
    module_name: str
    cl: str
    stage_order: int
    pass_step: int
    pass_name: str
    file: str


def recognise(path: str, data: bytes = b"", *, is_named: bool = False) -> Recognised:
    """Return the kind of the file at `path`; `data` is its beginning, or all of it.

    A page or a source file with an excerpt of a log is a log only if the user named it
    (`is_named`). Compression endings (`.gz`, …) are looked through; `data` is
    uncompressed. Without data the name alone decides, and may leave `unknown`. Never
    fails.
    """
    name = split_name(path)
    # Whether a text is a log is looked for at length, and no name is overruled by it.
    is_open = name.kind in (None, "log")
    sniffed = sniff(data, for_logs=is_open) if data else None
    kind, description = _decide(name, sniffed, data[:HEAD_BYTES])
    if kind == "log" and not is_named and _is_page(path):
        kind, description = "ignored", f"page with a {description}"
    return Recognised(
        kind,
        description,
        stage=name.stage,
        module_number=name.module_number,
        module_name=name.module_name,
        timestamp=name.timestamp,
        cl=name.cl,
        platform_prefix=name.platform_prefix,
        pipeline=name.pipeline,
        pass_after=name.pass_after,
        pass_before=name.pass_before,
        pass_step=name.pass_step,
        pass_text=name.pass_text,
    )


def _is_page(path: str) -> bool:
    """Return whether a file is a page or a source file, by its ending."""
    name = path.rpartition("/")[2].lower()
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.rpartition(".")[2] in PAGE_SUFFIXES


def _decide(name: NameParts, sniffed: Sniffed | None, head: bytes) -> tuple[Kind, str]:
    if name.kind is None:
        return _decide_by_content(sniffed, head)
    if sniffed is None or sniffed.kind == name.kind:
        return _check_form(name.kind, sniffed, name.description, head)
    if _is_part(name, sniffed, head) or _is_snapshot(name, sniffed):
        return name.kind, name.description
    if sniffed.certain and (sniffed.kind in READ_KINDS or name.kind == "ignored"):
        return sniffed.kind, sniffed.description
    if sniffed.certain:
        return "unknown", f"{sniffed.description} under a name for {name.description}"
    return _check_form(name.kind, sniffed, name.description, head)


def _is_part(name: NameParts, sniffed: Sniffed, head: bytes) -> bool:
    """Return whether HLO is of a numbered module that is dumped as a whole as well.

    What has a schedule is no part: code generators are given computations without.
    """
    is_numbered = name.module_number is not None
    is_part = sniffed.kind == "hlo_text" and is_numbered and name.kind == "ignored"
    return is_part and not _SCHEDULED.search(head)


def _is_snapshot(name: NameParts, sniffed: Sniffed) -> bool:
    """Return whether a message is one of an execution, which begins as any HloProto."""
    return name.kind == "hlo_snapshot" and sniffed.kind == "hlo_proto"


def _decide_by_content(sniffed: Sniffed | None, head: bytes) -> tuple[Kind, str]:
    if sniffed is not None:
        return sniffed.kind, sniffed.description
    if head:
        return "unknown", "text that is no XLA dump"
    return "unknown", "the name says nothing and there is no content"


def _check_form(
    kind: Kind, sniffed: Sniffed | None, description: str, head: bytes
) -> tuple[Kind, str]:
    if sniffed is not None and sniffed.kind == kind:
        return kind, sniffed.description
    if not head:
        return kind, description
    if kind in TEXT_KINDS and not looks_like_text(head):
        return "unknown", f"binary data under a name for {description}"
    # A message may begin with a line feed: the tag of its first field.
    if kind in PROTO_KINDS and head[:1] != b"\n" and looks_like_text(head):
        return "unknown", f"text under a name for {description}"
    return kind, description


def unit_key(path: str, recognised: Recognised) -> UnitKey:
    """Return the unit of a file: all files that describe one module at one stage.

    Only the name counts, so the key is the same before and after reading the content.
    """
    name = split_name(path)
    passed = recognised.stage == "pass"
    pass_names = (name.pipeline, name.pass_after, name.pass_before, name.pass_text)
    return UnitKey(
        folder=path.rpartition("/")[0],
        prefix=name.prefix,
        module_number=-1
        if recognised.module_number is None
        else recognised.module_number,
        module_name=recognised.module_name or "",
        cl=recognised.cl or "",
        stage_order=STAGES.index(recognised.stage) if recognised.stage else -1,
        pass_step=-1 if recognised.pass_step is None else recognised.pass_step,
        pass_name="\t".join(part or "" for part in pass_names) if passed else "",
        file="" if _has_companions(name) else path,
    )


def _has_companions(name: NameParts) -> bool:
    if name.stage is not None:
        return name.kind in COMPANION_KINDS
    # A renamed set keeps its suffixes: `run.txt`, `run-buffer-assignment.txt`.
    return name.kind in COMPANION_KINDS or name.artefact == ".txt"


_SCHEDULED = re.compile(rb"HloModule [^\n]{0,300}?, is_scheduled=true\b")
_RANK_WORD = re.compile(
    r"(?:^|[._\-])(?:rank|host|process|proc|worker)[_\-]?(\d{1,9})(?=$|[._\-])",
    re.IGNORECASE,
)
_RANK_FOLDER = re.compile(
    r"(?:rank|host|process|proc|worker)[_\-]?\d{1,9}", re.IGNORECASE
)
_HOST_AND_PID = re.compile(r"(?P<host>.+)_\d+")
_NUMBERED_HOST = re.compile(r"[A-Za-z]-(\d{1,9})$")
_MODULE = re.compile(r"(?:^|[._\-])module_\d{4,}")


def rank(path: str) -> int | None:
    """Return the process that wrote a file, by its path in the run; None if unknown.

    The innermost part of the path that speaks wins:
    1. a part with `rank`, `host`, `process`, `proc` or `worker` and a number, between
       dots, dashes or underscores (`rank_3`, `dump-worker-0`, `host2`);
    2. a folder `<host>_<pid>` (--xla_dump_hlo_to_subfolder) whose host ends in a dash
       and a number (`trainer-7_4711`).
    What follows `module_0001` is the program's own name and never counts.
    """
    *folders, file = PurePosixPath(path).parts or ("",)
    number = _rank_word(file)
    for folder in reversed(folders):
        if number is not None:
            break
        number = _rank_word(folder)
        if number is None:
            number = _rank_of_host(folder)
    return number


def is_rank_folder(name: str) -> bool:
    """Return whether a folder is named after its process alone: `rank_3`."""
    return _RANK_FOLDER.fullmatch(name) is not None


def _rank_word(part: str) -> int | None:
    module = _MODULE.search(part)
    found = _RANK_WORD.findall(part[: module.start()] if module else part)
    return int(found[-1]) if found else None


def _rank_of_host(folder: str) -> int | None:
    host_and_pid = _HOST_AND_PID.fullmatch(folder)
    if host_and_pid is None or _MODULE.match(folder):
        return None
    # Dots part a host's name from its domain.
    host = _NUMBERED_HOST.search(host_and_pid["host"].split(".")[0])
    return int(host[1]) if host else None
