"""One large file of each kind, made line by line: what memory an ingest needs for it.

The lines are as XLA prints them; names are new in each, so that nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

_NAME = "module_0001.jit_large.cpu_after_optimizations"


def _computation(size: int) -> Iterator[str]:
    """Yield a module whose entry has all instructions."""
    yield "HloModule jit_large, is_scheduled=true\n\nENTRY %main {\n"
    yield "  %add.0 = f32[128]{0} parameter(0)\n"
    for number in count(1):
        line = (
            f"  %add.{number} = f32[128]{{0}} add(%add.{number - 1}, %add.0), metadata="
            f'{{op_name="jit(large)/layer_{number % 50}/add"'
            f' source_file="/home/user/train.py" source_line={number % 5000}}}\n'
        )
        size -= len(line)
        if size < 0:
            break
        yield line
    yield f"  ROOT %last = f32[128]{{0}} negate(%add.{number - 1})\n}}\n"


def _computations(size: int) -> Iterator[str]:
    """Yield a module of many fused computations, each called once."""
    yield "HloModule jit_large, is_scheduled=true\n\n"
    called = 0
    while size > 0:
        text = (
            f"%fused.{called} (p.{called}: f32[128]) -> f32[128] {{\n"
            f"  %p.{called} = f32[128]{{0}} parameter(0)\n"
            f"  %m.{called} = f32[128]{{0}} multiply(%p.{called}, %p.{called})\n"
            f"  ROOT %a.{called} = f32[128]{{0}} add(%m.{called}, %p.{called})\n}}\n\n"
        )
        called += 1
        size -= len(text) + 100
        yield text
    yield "ENTRY %main {\n  %fusion = f32[128]{0} parameter(0)\n"
    before = "fusion"
    for number in range(called):
        yield (
            f"  %f.{number} = f32[128]{{0}} fusion(%{before}), kind=kLoop,"
            f" calls=%fused.{number}\n"
        )
        before = f"f.{number}"
    yield f"  ROOT %last = f32[128]{{0}} negate(%{before})\n}}\n"


def _assignment(size: int) -> Iterator[str]:
    """Yield a buffer assignment whose one arena holds all values, live for 20 steps."""
    values = size // 133
    yield "BufferAssignment:\n"
    yield f"allocation 0: size {values * 512}, preallocated-temp:\n"
    for number in range(values):
        yield (
            f" value: <{number} fusion.{number} @0> (size=512,offset={number * 512}):"
            " f32[128]{0}\n"
        )
    yield f"\nTotal bytes used: {values * 512} (1GiB)\n"
    yield from _live_ranges(values)


def _used_values(size: int) -> Iterator[str]:
    """Yield a buffer assignment as above whose values have positions and uses, too.

    No HLO text is beside it: its instructions are read of it.
    """
    values = size // 570
    yield "BufferAssignment:\n"
    for number in range(values):
        if number % 4 == 0:
            yield f"allocation {number // 4}: size 2048, preallocated-temp:\n"
        yield (
            f" value: <{number} fusion.{number} @0>"
            f" (size=512,offset={number % 4 * 512}): f32[128]{{0}}\n"
        )
    yield f"\nTotal bytes used: {-(-values // 4) * 2048} (1GiB)\n\nUsed values:\n"
    for number in range(values):
        yield (
            f"<{number} fusion.{number} @0>\n positions:\n  fusion.{number}\n"
            f"  bitcast.{number}\n uses:\n  fusion.{number + 1}, operand 0\n"
            f"  fusion.{number + 2}, operand 1\n from instruction: %fusion.{number} ="
            f" f32[128]{{0}} fusion(%p.0), kind=kLoop, calls=%fused.{number}, metadata="
            f'{{op_name="jit(large)/layer_{number % 50}/add"'
            f' source_file="/home/user/train.py" source_line={number % 5000}}}\n'
        )
    yield from _live_ranges(values)


def _live_ranges(values: int) -> Iterator[str]:
    yield f"\nHloLiveRange (max {values}):\n  InstructionSequence:\n"
    for number in range(values):
        yield f"    {number}:fusion.{number}\n"
    yield "  BufferLiveRange:\n"
    for number in range(values):
        end = min(number + 20, values)
        yield f"    fusion.{number}{{}}:{number}-{end}\n"
    yield f"  Live ranges at {values - 1} (peak):\n"
    yield f"    fusion.{values - 1}{{}}: 512 bytes (cumulative: 512 bytes)\n"


LARGE: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "one computation": (f"{_NAME}.txt", _computation),
    "many computations": (f"{_NAME}.txt", _computations),
    "buffer assignment": (f"{_NAME}-buffer-assignment.txt", _assignment),
    "used values": (f"{_NAME}-buffer-assignment.txt", _used_values),
}
"""The name of each file, and its lines up to about so many bytes."""


def write_large(kind: str, folder: Path, size: int) -> Path:
    """Write a dump of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    name, lines = LARGE[kind]
    with (folder / name).open("w", encoding="ascii") as file:
        file.writelines(lines(size))
    return folder
