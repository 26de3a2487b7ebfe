"""Sizes that are sound one by one, and whose sums no 64 bits hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlodb.cli import main
from hlodb.ingest.formats.proto.hlo_pb2 import HloProto, MemoryUsageReportProto
from hlodb.schema.warehouse import connect
from tests.ingest.dumps import write
from tests.reliability.hostile_dump import AFTER, SOUND, assignment

MOST = 999_999_999_999_999
"""The largest size that a line may have."""

COUNT = 10_000
"""So many of them are more than 64 bits hold."""

HLO = SOUND.replace(b"jit_f,", b"jit_f, is_scheduled=true,")


def many(kind: str, values: str = "") -> str:
    return "".join(
        f"allocation {number}: size {MOST}, {kind}:\n{values.format(n=number)}"
        for number in range(COUNT)
    )


PEAK = "  Live ranges at 0 (peak):\n    v.0{}: 4 bytes\n"


def live(end: int) -> str:
    ranges = "".join(f"    v.{number}{{}}:0-{end}\n" for number in range(COUNT))
    return (
        "\nHloLiveRange (max 1):\n  InstructionSequence:\n    0:x.2\n"
        f"  BufferLiveRange:\n{ranges}{PEAK}"
    )


def proto() -> bytes:
    message = HloProto()
    message.hlo_module.name = b"jit_f"
    for number in range(COUNT):
        message.buffer_assignment.buffer_allocations.add(
            index=number, size=MOST, maybe_live_out=number % 2 == 0
        )
    return message.SerializeToString()


def report_proto() -> bytes:
    message = MemoryUsageReportProto()
    for color in range(3):
        space = message.memory_space_allocation_entries.add(
            memory_space_color=color, total_bytes=(1 << 63) - 1
        )
        for number in range(COUNT):
            space.allocation_entries.add(
                index=number, size=MOST, cumulative_size=MOST, hlo_text=b""
            )
    return message.SerializeToString()


VALUE = " value: <{n} v.{n} @0> (size=999999999999999,offset=0): f32[3]{{0}}\n"
LOG = "E0605 10:00:00.000001 9 a.cc:3000] RESOURCE_EXHAUSTED: "
DUMPS: dict[str, dict[str, bytes]] = {
    "temps": {"-buffer-assignment.txt": assignment(many("preallocated-temp"))},
    "live-outs": {"-buffer-assignment.txt": assignment(many("maybe-live-out"))},
    "values of temps": {
        "-buffer-assignment.txt": assignment(many("preallocated-temp", VALUE) + live(5))
    },
    "values of constants": {
        "-buffer-assignment.txt": assignment(
            many("constant", VALUE) + live(999_999_999)
        )
    },
    "values that overlap": {
        "-buffer-assignment.txt": assignment(
            many("preallocated-temp", VALUE).replace(f"size {MOST}", "size 1") + live(5)
        )
    },
    "proto": {".hlo.pb": proto()},
    "report": {
        "-memory-usage-report.txt": (
            b"Total bytes used: 999999999999999 (1 PiB)\n\n"
            b"Allocations sorted by size:\n\n"
            b"cumulative_size; total_size - cumulative_size; total_size\n---\n"
            b"  999999.99EiB( 50%);  1B; allocation 1: size 999999.99EiB, x:\n\n"
            b"Allocation 1: size 999999.99EiB, x:\n"
            b"allocation 1: size 999999.99EiB, x:\n"
            b" cumulative_size;  size;  offset;  used_by_n_values;  shapes_list\n"
            b"  999999.99EiB( 50%);  999999.99EiB;  0;  1;  f32[3]\n"
        )
    },
    "report as proto": {"-memory-usage-report.pb": report_proto()},
    "log": {
        "job.log": (
            f"{LOG}Out of memory while trying to allocate 99999999999999999999999"
            " bytes.\n"
            f"{LOG}Out of memory allocating 9223372036854775808 bytes.\n"
            f"{LOG}Ran out of memory in memory space hbm. Used 9999999999999999.99E of"
            " 999999999999.50E hbm. Exceeded hbm capacity by 999999999.50E.\n"
            "Stats:\nLimit:            99999999999999999999\n"
            "InUse:            9223372036854775808\n"
            "MaxInUse:         9223372036854775808\n"
        ).encode()
    },
    "shape": {".txt": HLO.replace(b"f32[3]{0}", b"u8[999999999999999999]{0:E(9999)}")},
}


SUM = "its sizes add up to 9,999,999,999,999,990,000 bytes, more than 64 bits hold"
Rejects = list[tuple[int | None, str, str]]
REFUSED: Rejects = [(None, "impossible_number", SUM)]
ROW = "expected a row of sizes, within its table"


def impossible(name: str, value: str) -> tuple[int | None, str, str]:
    return 3, "impossible_number", f"{name}: {value} is more than 64 bits hold"


EXPECTED: dict[str, Rejects] = {
    "temps": REFUSED,
    "live-outs": REFUSED,
    "values of temps": REFUSED,
    "values of constants": REFUSED,
    "values that overlap": REFUSED,
    "proto": REFUSED,
    "report": [(line, "malformed", ROW) for line in (5, 7, 12)],
    "report as proto": [
        (
            None,
            "impossible_number",
            SUM.replace("9,", "29,", 1).replace("990,000", "970,000"),
        )
    ],
    "log": [
        impossible("capacity_bytes", "1,152,921,504,606,270,515,247,696,576,512"),
        impossible("excess_bytes", "1,152,921,504,030,386,223,696,576,512"),
        impossible("used_bytes", "11,529,215,046,068,469,760,000,000,000,000,000"),
    ],
    "shape": [],
}


def rejects_of(kind: str, folder: Path) -> tuple[Path, Rejects]:
    """Ingest a dump; give it, and what is rejected of it."""
    files = {f"{AFTER}.txt": HLO} | {
        (end if end == "job.log" else f"{AFTER}{end}"): data
        for end, data in DUMPS[kind].items()
    }
    dump, db = write(folder / "dump", files), folder / "w.duckdb"
    assert main(["ingest", str(dump), "--db", str(db)]) == 0
    with connect(db) as connection:
        found = connection.execute(
            "SELECT line, code, message FROM rejects ORDER BY ALL"
        ).fetchall()
        [(modules,)] = connection.execute("SELECT count(*) FROM modules").fetchall()
        profiles = connection.execute("FROM memory_profile").fetchall()
    assert (modules, profiles) == (1, [])
    return dump, found


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_sum_that_64_bits_do_not_hold_is_a_reject(kind: str, tmp_path: Path) -> None:
    assert rejects_of(kind, tmp_path)[1] == EXPECTED[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXPECTED)
def test_a_dump_of_such_sizes_is_explained(kind: str, tmp_path: Path) -> None:
    dump, rejected = rejects_of(kind, tmp_path)
    # 3 where something was rejected, 4 where nothing tells of memory.
    assert main(["explain", str(dump)]) in (3, 4) if rejected else (0, 4)
