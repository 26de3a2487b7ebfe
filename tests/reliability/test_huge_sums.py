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


def live(end: int) -> str:
    ranges = "".join(f"    v.{number}{{}}:0-{end}\n" for number in range(COUNT))
    return f"\nHloLiveRange (max 3):\n  InstructionSequence:\n    0:x.2\n  BufferLiveRange:\n{ranges}"


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
        "-buffer-assignment.txt": assignment(
            many("preallocated-temp", VALUE) + live(5)
        )
    },
    "values of constants": {
        "-buffer-assignment.txt": assignment(many("constant", VALUE) + live(999_999_999))
    },
    "proto": {".hlo.pb": proto()},
    "report": {
        "-memory-usage-report.txt": (
            "Total bytes used: 999999999999999 (1 PiB)\n\nAllocations sorted by size:\n\n"
            "cumulative_size; total_size - cumulative_size; total_size\n---\n"
            "  999999.99EiB( 50%);  1B; allocation 1: size 999999.99EiB, x:\n\n"
            "Allocation 1: size 999999.99EiB, x:\n"
            "allocation 1: size 999999.99EiB, x:\n"
            " cumulative_size;  size;  offset;  used_by_n_values;  shapes_list\n"
            "  999999.99EiB( 50%);  999999.99EiB;  0;  1;  f32[3]\n"
        ).encode()
    },
    "report as proto": {"-memory-usage-report.pb": report_proto()},
    "log": {
        "job.log": (
            f"{LOG}Out of memory while trying to allocate 99999999999999999999999 bytes.\n"
            f"{LOG}Out of memory allocating 9223372036854775808 bytes.\n"
            f"{LOG}Ran out of memory in memory space hbm. Used 9999999999999999.99E of"
            " 999999999999.50E hbm. Exceeded hbm capacity by 999999999.50E.\n"
            "Stats:\nLimit:            99999999999999999999\n"
            "InUse:            9223372036854775808\n"
            "MaxInUse:         9223372036854775808\n"
        ).encode()
    },
    "shape": {
        ".txt": HLO.replace(b"f32[3]{0}", b"u8[1152921504606846976]{0:E(9999)}")
    },
}


@pytest.mark.parametrize("kind", DUMPS)
def test_a_sum_that_is_too_large_is_a_reject(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {f"{AFTER}.txt": HLO} | {
        (end if end == "job.log" else f"{AFTER}{end}"): data
        for end, data in DUMPS[kind].items()
    }
    dump = write(tmp_path / "dump", files)
    db = tmp_path / "w.duckdb"
    code = main(["ingest", str(dump), "--db", str(db), "--run", "r"])
    print(kind, code, capsys.readouterr().err[-600:])
    assert code == 0
    with connect(db) as connection:
        print(connection.execute("select path, line, code, message from rejects").fetchall()[:5])
        print(connection.execute("select name, has_assignment from modules").fetchall())
        print(connection.execute("select * from memory_profile").fetchall())
    code = main(["explain", str(dump)])
    out = capsys.readouterr()
    print(out.err[-400:])
    assert code in (0, 4)
