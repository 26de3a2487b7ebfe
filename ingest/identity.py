"""Who is who across runs: program names and keys, content hashes of companions."""

from __future__ import annotations

import re
from hashlib import blake2b

from hlodb.ingest.formats.shapes import without_layout
from hlodb.ingest.hashing import hash64

# Of a name spelled backwards: `.12.3` at its end is found at once.
_UNIQUE = re.compile(r"(?:\d++\.)++")
_PREFIX = re.compile(r"^(?:\d{10,}\.)?module_\d{4,}\.")
_BUILD = re.compile(r"\.cl_\d+")
# TensorFlow compiles `__inference_NAME_NUMBER[_XlaMustCompile=true,config_proto=…]`, a
# gradient as `__inference___backward_NAME_NUMBER_NUMBER[…]`, a cluster that it found
# itself as `cluster_0[_XlaCompiledKernel=true,…]`: XLA puts `_` for what names can't
# have, and a letter first. The numbers count all functions, and all clusters, before it
# in the process.
_SETTINGS = re.compile(r"__Xla[A-Z].*+", re.DOTALL)
_FUNCTION = re.compile(
    r"a_(?:inference___(backward_.*)_\d+|((?:inference|forward|backward)_.*))_\d+",
    re.DOTALL,
)
_CLUSTER = re.compile(r"(cluster)_\d+__Xla[A-Z].*", re.DOTALL)

# Source locations and pointers: what may differ between dumps of one program. Each
# pattern begins with a literal, which the regex engine searches for at memory speed.
_FRAME_ID = re.compile(rb" stack_frame_id=\d+")
_FIRST_FRAME_ID = re.compile(rb"\{stack_frame_id=\d+ ?")
_SOURCE = re.compile(rb' source_\w+=(?:"(?:[^"\\]++|\\.)*+"|\d+)')
_FIRST_SOURCE = re.compile(rb'\{source_\w+=(?:"(?:[^"\\]++|\\.)*+"|\d+) ?')
_POINTER = re.compile(rb": 0x[0-9a-f]+, size")
_EMPTY = re.compile(rb", metadata=\{\}")


def program_name(module_name: str) -> str:
    """Give a module's name without number, build and unique suffixes.

    Of a TensorFlow function or cluster also without its number and how it is to be
    compiled.
    """
    name = _BUILD.sub("", _PREFIX.sub("", module_name))
    unique = _UNIQUE.match(name[::-1])
    stem = name[: len(name) - unique.end()] if unique else name
    if cluster := _CLUSTER.fullmatch(stem):
        return cluster[1]
    stem = _SETTINGS.sub("", stem).rstrip("_")
    function = _FUNCTION.fullmatch(stem)
    return (function and (function[1] or function[2])) or stem or module_name


def program_key(program: str, entry_layout: str, num_partitions: int) -> int:
    """Give a hash of program, entry shapes without layout, and partitions."""
    return hash64(f"{program}|{without_layout(entry_layout)}|{num_partitions}")


def companion_digest(data: bytes) -> bytes:
    """Give a digest of a text without source locations and pointers."""
    if b"source_" in data:
        data = _FIRST_SOURCE.sub(b"{", _SOURCE.sub(b"", data))
    if b"stack_frame_id" in data:
        data = _FIRST_FRAME_ID.sub(b"{", _FRAME_ID.sub(b"", data))
    if b", metadata={}" in data:
        data = _EMPTY.sub(b"", data)
    if b"0x" in data:
        data = _POINTER.sub(b": size", data)
    return blake2b(data, digest_size=16).digest()
