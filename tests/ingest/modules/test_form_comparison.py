"""Differences of a text from the proto beside it, by table."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hlodb.ingest.pipeline.ingest import ingest
from hlodb.schema.warehouse import connect
from tests.conftest import DATA

COMPACT = DATA / "compact" / "cpu-jaxlib-0.12.0.tar.xz"
PLAIN = DATA / "proto" / "cpu-jaxlib-0.10.2.tar.xz"
HLO = "cpu_after_optimizations.txt"
VALUES = "cpu_after_optimizations-buffer-assignment-values.txt"
RANGES = "cpu_after_optimizations-live-range.txt"

Edit = tuple[str, str, str | Callable[[re.Match[str]], str]]
"""The end of a file's name, and what in it is replaced by what."""


def differences(
    archive: Path, program: str, folder: Path, edit: Edit | None
) -> dict[str, int]:
    """Return the differences, by table, after a text of a program was changed."""
    with tarfile.open(archive) as packed:
        for member in packed:
            if f".{program}." in member.name and member.isfile():
                packed.extract(member, folder)
    if edit:
        name, pattern, replacement = edit
        [path] = folder.rglob(f"*.{program}.{name}")
        text, changed = re.subn(pattern, replacement, path.read_text(), count=1)
        assert changed, pattern
        path.write_text(text)
    ingest([str(folder)], folder / "w.duckdb", jobs=1)
    with connect(folder / "w.duckdb") as connection:
        found = connection.execute(
            "SELECT table_name, sum(difference_count) FROM proto_comparisons"
            " GROUP BY ALL HAVING sum(difference_count) > 0"
        ).fetchall()
    return {table: int(count) for table, count in found}


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "tables"),
    [
        (HLO, r"= f32\[512\]\{0\} ", "= f32[513]{0} ", ["instructions"]),
        (HLO, "ROOT %tuple", "ROOT %tuples", ["instructions", "operands", "locations"]),
        (HLO, r"(arg_tuple\.1)#2", r"\1#1", ["operands"]),
        (HLO, r"_dims=\{1\}", "_dims={0}", ["instructions"]),
        (HLO, "stack_frame_id=6}", "stack_frame_id=7}", ["locations"]),
        (HLO, r"(\nStackFrames\n1 \{\w+=)1", r"\g<1>2", ["stack_frames"]),
        (RANGES, r":(\d+)-(\d+)\n(?!.*:\d+-\1\n)", r":\1-9\2\n", ["live_ranges"]),
        (VALUES, r"operand 1\n", "operand 9\n", ["value_uses"]),
    ],
)
def test_compact_text(
    tmp_path: Path, name: str, pattern: str, replacement: str, tables: list[str]
) -> None:
    edit = (name, pattern, replacement)
    found = differences(COMPACT, "jit_cg", tmp_path, edit)
    assert found == dict.fromkeys(tables, 2)


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"op_name=\"", 'op_name="x'),
        # What no instruction says, flags have kept out; this one alone is missing.
        (r"op_name=\"[^\"]*\" ?", ""),
        (r"(constant\(\d+\.\d+)", r"\g<1>9"),
        (r"( get-tuple-element\(\S+\), index=)1", r"\g<1>0"),
    ],
)
def test_plain_text(tmp_path: Path, pattern: str, replacement: str) -> None:
    edit = (HLO, pattern, replacement)
    assert differences(PLAIN, "jit_misc", tmp_path, edit) == {"instructions": 2}


@pytest.mark.parametrize(
    ("archive", "program"), [(COMPACT, "jit_cg"), (PLAIN, "jit_misc")]
)
def test_what_is_the_same(tmp_path: Path, archive: Path, program: str) -> None:
    assert differences(archive, program, tmp_path, None) == {}


@pytest.mark.parametrize(
    "pattern",
    [
        # As --xla_dump_disable_metadata and --xla_dump_hlo_as_long_text=false print.
        r", metadata=\{[^{}]*\}",
        r", control-predecessors=\{[^{}]*\}",
    ],
)
def test_what_flags_keep_out_of_text_is_no_difference(
    tmp_path: Path, pattern: str
) -> None:
    edit = (HLO, r"(?s).*", lambda text: re.sub(pattern, "", text[0]))
    assert differences(PLAIN, "jit_misc", tmp_path, edit) == {}
