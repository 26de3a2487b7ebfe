"""Reports of running out of memory, in the forms that logs hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.logs.oom_log import (
    OomBuffer,
    OomLog,
    OomReport,
    parse_oom_log,
)

GPU = """RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    6.00MiB
              constant allocation:         0B
        maybe_live_out allocation:    6.00MiB
     preallocated temp allocation:    2.0KiB
  preallocated temp fragmentation:      512B (25.00%)
                 total allocation:   12.00MiB
              total fragmentation:         0B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 6.00MiB
\t\tOperator: op_name="jit(f)/concatenate[dimension=0]" source_file="m.py" source_line=9
\t\tXLA Label: concatenate
\t\tShape: f32[4096,128,3]
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
\t\t==========================

Size: 3.0KiB
"""
GPU_REPORT = OomReport(
    2,
    "buffer_assignment",
    sizes={
        "requested_bytes": 6291456,
        "parameter_bytes": 6291456,
        "constant_bytes": 0,
        "live_out_bytes": 6291456,
        "temp_bytes": 2048,
        "temp_fragmentation_bytes": 512,
        "total_bytes": 12582912,
        "total_fragmentation_bytes": 0,
    },
    buffers=[
        OomBuffer(
            1,
            6291456,
            shape="f32[4096,128,3]",
            label="concatenate",
            op_name="jit(f)/concatenate[dimension=0]",
            source_file="m.py",
            source_line=9,
        ),
        OomBuffer(2, 393216, shape="f32[256,128,3]", is_parameter=True),
    ],
)
TPU = """XLA:TPU compile permanent error. Ran out of memory in memory space hbm. \
Used 64.00G of 31.50G hbm. Exceeded hbm capacity by 32.50G.

Total hbm usage >= 65.25G:
    reserved          1.25G
    program          64.00G
    arguments            0B

Output size 1.0K; shares 512B with arguments.

Program hbm requirement 64.00G:
    reserved           4.0K
    scoped            4.56M
    HLO temp         63.50G (100.0% utilization: Unpadded (63.5G) Padded (63.5G), \
0.5% fragmentation (256.00M))

  Largest program allocations in hbm:

  1. Size: 2.00G
     Operator: op_type="FloorMod" op_name="slicewise/FloorMod"
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 64.00M
     Extra memory due to padding: 1.94G (32.0x expansion)
     XLA label: %copy.4 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%p)
     Allocation type: HLO temp
     ==========================
"""
TPU_REPORT = OomReport(
    1,
    "program_memory",
    "hbm",
    {
        "used_bytes": 64 << 30,
        "capacity_bytes": 63 << 29,
        "reserved_bytes": 5 << 28,
        "program_bytes": 64 << 30,
        "parameter_bytes": 0,
        "live_out_bytes": 1024,
        "shared_bytes": 512,
        "temp_bytes": 127 << 29,
        "temp_fragmentation_bytes": 256 << 20,
    },
    [
        OomBuffer(
            1,
            2 << 30,
            64 << 20,
            "s32[8388608,8,4]{2,1,0:T(8,128)}",
            label="%copy.4 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(%p)",
            op_name="slicewise/FloorMod",
            allocation_type="HLO temp",
        )
    ],
)


def unread(text: str) -> list[str]:
    """Give the lines that no report takes."""
    taken = parse_oom_log(text).lines
    lines = enumerate(text.split("\n"), 1)
    return [line for number, line in lines if line and number not in taken]


def test_of_a_gpu() -> None:
    assert parse_oom_log(GPU).reports == [GPU_REPORT]
    assert unread(GPU) == ["Size: 3.0KiB"]


def test_of_a_tpu() -> None:
    assert parse_oom_log(TPU).reports == [TPU_REPORT]
    assert unread(TPU) == []


@pytest.mark.parametrize(
    "prefix",
    [
        "2020-05-04 09:05:40.719408: E    1578 xla/xla_client/xla_util.cc:76] ",
        "E0504 09:05:40.719408    1578 xla_util.cc:76] ",
        "\x1b[2m\x1b[36m(Worker pid=489)\x1b[0m ",
        "    ",
    ],
)
def test_behind_the_prefix_of_a_log(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in GPU.splitlines())
    assert parse_oom_log(text).reports == [GPU_REPORT]


def test_one_after_the_other() -> None:
    log = parse_oom_log(f"{GPU}Traceback (most recent call last):\n{TPU}{GPU}")
    assert [report.line for report in log.reports] == [2, 26, 51]
    assert [len(report.buffers) for report in log.reports] == [2, 1, 2]


def test_requirements_without_a_total() -> None:
    text = "Program hbm requirement 1.50G:\n    HLO temp   unknown size\n"
    assert parse_oom_log(text).reports == [
        OomReport(1, "program_memory", "hbm", {"program_bytes": 3 << 29})
    ]


def test_a_log_of_something_else() -> None:
    text = "Shape: f32[2]\nSize: 4.0KiB\nBuffer 1:\ntotal allocation: 1.0KiB\n"
    assert parse_oom_log(text) == OomLog()


@given(st.lists(st.sampled_from([*GPU.splitlines(), *TPU.splitlines()])))
def test_any_order_of_lines(lines: list[str]) -> None:
    log = parse_oom_log("\n".join(lines))
    assert all(1 <= number <= len(lines) for number in log.lines)
    assert sorted(report.line for report in log.reports) == [
        report.line for report in log.reports
    ]
