"""Reports of running out of memory, in the forms that logs hold."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlodb.ingest.formats.logs.oom_log import OomLog, parse_oom_log
from hlodb.ingest.formats.logs.oom_report import OomBuffer, OomReport
from hlodb.ingest.recognise.recognition import recognise

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
        "excess_bytes": 65 << 29,
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
    texts={"excess_text": "32.50G"},
)


GIB = 1 << 30


def asked(size: int, space: str | None = None, /, **texts: str) -> OomReport:
    sizes = {"requested_bytes": size}
    return OomReport(1, "allocation", space, sizes, texts=texts)


def of_space(
    space: str | None, form: str = "program_memory", /, **sizes: int
) -> OomReport:
    return OomReport(1, form, space, sizes)


KERNEL = "%gmm.1 = f32[16384,512]{1,0:T(8,128)} custom-call(%p.1)"
SCOPED = (
    "Scoped allocation with size 18.00M and limit 16.00M exceeded scoped vmem limit"
    " by 2.00M."
)
SCOPED_SIZES = {
    "used_bytes": 18 << 20,
    "capacity_bytes": 16 << 20,
    "excess_bytes": 2 << 20,
}
KERNEL_BUFFER = OomBuffer(
    1,
    18 << 20,
    shape="f32[16384,512]{1,0:T(8,128)}",
    label=KERNEL,
    allocation_type="stack",
    instruction="gmm.1",
)
ALONE = {
    "Ran out of memory on HBM, the total memory required for HLO temporaries (20.62G)"
    " exceeds available HBM (15.75G).": of_space(
        "hbm", temp_bytes=22140556411, capacity_bytes=63 * GIB // 4
    ),
    "Can't reduce memory use below 22.27GiB (23917347918 bytes) by rematerialization;"
    " only reduced to 37.90GiB (40693879420 bytes), down from 38.20GiB (41022266148"
    " bytes) originally": OomReport(
        1,
        "rematerialization",
        sizes={
            "capacity_bytes": 23917347918,
            "used_bytes": 40693879420,
            "total_bytes": 41022266148,
        },
    ),
    "Can't reduce memory use below 22.50GiB by rematerialization; only reduced to"
    " 41.75TiB": OomReport(
        1,
        "rematerialization",
        sizes={"capacity_bytes": 45 * GIB // 2, "used_bytes": 167 << 38},
    ),
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.50GiB with"
    " freed_by_count=0. The caller indicates that this is not a failure": replace(
        asked(33 * GIB // 2, allocator_name="GPU_0_bfc"), form="allocation_warning"
    ),
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 678216716288 bytes."
    " [tf-allocator-allocation-error='']": asked(678216716288),
    "Failed to allocate request for 154.06GiB (165425291480B) on device ordinal"
    " 0": asked(165425291480, device_name="0"),
    "failed to allocate 2.12G (2282521344 bytes) from device:"
    " CUDA_ERROR_OUT_OF_MEMORY: out of memory": asked(2282521344),
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.50G."
    " That was not possible. There are 1.25G free.; (0x0x0_HBM0)": OomReport(
        1,
        "allocation",
        "hbm",
        {"requested_bytes": 3 * GIB // 2, "free_bytes": 5 * GIB // 4},
        texts={"device_name": "0x0x0_HBM0"},
    ),
    "Error loading program 'jit_f': Attempting to reserve 5.50G at the bottom of"
    " memory. That was not possible.": asked(
        11 * GIB // 2, "hbm", program_name="jit_f"
    ),
    "XLA:TPU compile permanent error. Ran out of memory in memory space"
    " vmem.": of_space("vmem"),
    "Ran out of memory in memory space vmem. It should not be possible to run out of"
    " vmem - please file a bug against XLA.": of_space("vmem"),
    "Ran out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem"
    " capacity by 1.7K.": OomReport(
        1,
        "program_memory",
        "smem",
        {"used_bytes": 1 << 20, "capacity_bytes": 1 << 20, "excess_bytes": 1741},
        texts={"excess_text": "1.7K"},
    ),
    f"E1001: CompileTimeScopedVmemOom: Ran out of memory in memory space vmem while"
    f" allocating on stack for {KERNEL}. {SCOPED}": OomReport(
        1,
        "program_memory",
        "vmem",
        SCOPED_SIZES,
        [KERNEL_BUFFER],
        texts={"excess_text": "2.00M", "error_code": "E1001"},
    ),
    SCOPED: OomReport(
        1, "program_memory", "vmem", SCOPED_SIZES, texts={"excess_text": "2.00M"}
    ),
    "XLA::TPU program HBM usage: 19.50G / 30.75G": of_space(
        "hbm", "program_usage", used_bytes=39 * GIB // 2, capacity_bytes=123 * GIB // 4
    ),
    "Total hbm usage >= 260.25M: [repeated 5x across cluster]": of_space(
        "hbm", used_bytes=1041 << 18
    ),
}
"""Lines that say it alone, and what each gives."""


def unread(text: str) -> list[str]:
    """Return the lines that no report takes."""
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
    ("prefix", "rank"),
    [
        ("2020-05-04 09:05:40.719408: E    1578 xla/xla_client/xla_util.cc:76] ", None),
        ("E0504 09:05:40.719408    1578 xla_util.cc:76] ", None),
        ("\x1b[2m\x1b[36m(Worker pid=489)\x1b[0m ", None),
        ("    ", None),
        ("(EngineCore pid=1289) ERROR 04-30 22:40:27 [core.py:1136] ", None),
        ("2026-04-30T22:40:27.123456Z ", None),
        ("2026-04-30 22:40:27,123 WARNING ", None),
        ("[rank3]: ", 3),
        ("[rank0]:E0504 09:05:40.719408    1578 xla_util.cc:76] ", 0),
        ("12: ", 12),
        ("Rank 7: I0504 09:05:40.719408    1578 xla_util.cc:76] ", 7),
        ("[1,5]<stderr>:", 5),
        ("(pid=, ip=10.68.3.4) ", None),
        ("2026-07-01T10:00:00.123456789Z stderr F ", None),
        ("2026-07-01T10:00:00.123456789+00:00 stdout F [rank3]: ", 3),
        ("Jul  1 10:00:00 host-1 trainer[123]: ", None),
        ("<34>1 2026-07-01T10:00:00.123Z host-1 trainer 123 - - ", None),
        ("2026-07-01 10:00:00.123 | ERROR    | train:main:88 - ", None),
        ("trainer-1  | ", None),
        ("[pod/trainer-0/main] ", None),
        ("> ", None),
    ],
)
def test_behind_the_prefix_of_a_log(prefix: str, rank: int | None) -> None:
    for text, report in ((GPU, GPU_REPORT), (TPU, TPU_REPORT)):
        prefixed = "".join(f"{prefix}{line}\n" for line in text.splitlines())
        log = parse_oom_log(prefixed)
        assert (log.reports, log.rejects) == ([replace(report, rank=rank)], [])
    for line, alone in ALONE.items():
        log = parse_oom_log(f"{prefix}{line}")
        assert (log.reports, log.rejects) == ([replace(alone, rank=rank)], [])


@pytest.mark.parametrize("text", [GPU, TPU])
def test_lines_of_json(text: str) -> None:
    """Each line of a log is an object, or all of a message is one."""
    report = GPU_REPORT if text is GPU else TPU_REPORT
    lines = [json.dumps({"log": f"{line}\n"}) for line in text.splitlines()]
    assert parse_oom_log("\n".join(lines)).reports == [report]
    whole = json.dumps({"severity": "ERROR", "jsonPayload": {"message": text}})
    [found] = parse_oom_log(f"step 1\n{whole}\n").reports
    assert found == replace(report, line=2)


def test_a_list_in_one_line() -> None:
    """Line breaks were lost, or are written as backslash and n."""
    for joined in (" ".join(TPU.split()), TPU.replace("\n", "\\n")):
        [report] = parse_oom_log(joined).reports
        assert report == replace(TPU_REPORT, line=1)


def test_a_list_without_numbers_and_rules() -> None:
    lines = [
        line.replace("1. Size", "Size").strip()
        for line in TPU.splitlines()
        if "====" not in line
    ]
    [report] = parse_oom_log("\n".join(lines)).reports
    assert report == TPU_REPORT


def test_a_list_whose_lines_are_wrapped() -> None:
    wrapped = "\n".join(
        piece
        for line in TPU.splitlines()
        for piece in textwrap.wrap(line, 50, break_on_hyphens=False) or [""]
    )
    [report] = parse_oom_log(wrapped).reports
    # Where a share is explained in brackets, its line goes on.
    assert report.buffers == TPU_REPORT.buffers


def test_ranks_that_write_at_the_same_time() -> None:
    """The prefix is that of `mpirun --tag-output`; each rank's lines are in order."""
    other = TPU.replace("64.00G", "65.00G")
    pairs = zip(TPU.splitlines(), other.splitlines(), strict=True)
    lines = [
        f"[1,{rank}]<stderr>:{line}" for pair in pairs for rank, line in enumerate(pair)
    ]
    log = parse_oom_log("\n".join(lines))
    assert log.rejects == []
    assert [report.rank for report in log.reports] == [0, 1]
    for report, text in zip(log.reports, (TPU, other), strict=True):
        [alone] = parse_oom_log(text).reports
        assert replace(report, line=alone.line, rank=None) == alone


def test_ranks_whose_lines_cannot_be_told_apart() -> None:
    lines = [line for line in TPU.splitlines() for _ in range(2)]
    log = parse_oom_log("\n".join(lines))
    assert [reject.code for reject in log.rejects] == ["mixed_reports"]
    assert [report.buffers for report in log.reports] == [[], []]


def test_a_report_that_is_cut() -> None:
    """Wherever it ends, nothing is read that the whole does not say."""
    for at, character in enumerate(TPU):
        if character != "\n":
            continue
        cut = parse_oom_log(TPU[:at])
        for report in cut.reports:
            for buffer in report.buffers:
                whole = asdict(TPU_REPORT.buffers[buffer.place - 1])
                said = {k: v for k, v in asdict(buffer).items() if v}
                assert said.items() <= whole.items()
        is_open = (
            bool(cut.reports and cut.reports[0].buffers)
            and "Allocation type" not in TPU[:at]
        )
        assert [r.code for r in cut.rejects] == ["cut_report"] * is_open
    used = "Ran out of memory in memory space hbm. Used 17.21G of 15.75G hbm. Exceeded"
    for message in (used, used[:-20], f"{used} hbm capacity by 1.4"):
        log = parse_oom_log(message)
        assert [reject.code for reject in log.rejects] == ["cut_report"], message
    assert parse_oom_log(f"{used} hbm capacity by 1.46G.").rejects == []


def test_a_list_whose_beginning_is_cut_off() -> None:
    """It begins at a number, in a text that has no other report."""
    _, mark, listed = TPU.partition("  1. Size:")
    assert mark
    log = parse_oom_log("     Allocation type: HLO temp\n\n  7. Size:" + listed)
    [report], [reject] = log.reports, log.rejects
    assert (report.form, report.space_name, report.sizes) == (
        "program_memory",
        None,
        {},
    )
    assert [buffer.place for buffer in report.buffers] == [7]
    assert (reject.line, reject.code) == (3, "cut_report")


@pytest.mark.parametrize("number", ["1.", "2."])
def test_numbers_that_are_missing_from_a_list(number: str) -> None:
    """The first one, or one in the middle."""
    second = TPU.partition("  1. Size:")[2]
    text = TPU.replace("  1. Size:", f"  {number} Size:") + f"  4. Size:{second}"
    [reject] = parse_oom_log(text).rejects
    assert (reject.code, reject.message) == (
        *("cut_report", "numbers of the list are missing before this one"),
    )


def test_a_numbered_list_of_other_things_is_none() -> None:
    text = "1. Size: 2.00G\n2. Size: 3.00G\n   Shape: round\n" * 3
    assert parse_oom_log(text).reports == []
    assert parse_oom_log(text).rejects == []


def test_one_after_the_other() -> None:
    again = GPU.replace("6.00MiB", "7.00MiB")
    log = parse_oom_log(f"{GPU}Traceback (most recent call last):\n{TPU}{again}")
    assert [report.line for report in log.reports] == [2, 26, 51]
    assert [len(report.buffers) for report in log.reports] == [2, 1, 2]


def test_a_report_that_is_repeated_is_counted() -> None:
    """What another rank says, or with other buffers, is a report of its own."""
    other = TPU.replace("Unpadded size: 64.00M", "Unpadded size: 32.00M")
    log = parse_oom_log(TPU + TPU + other + TPU)
    [first, second] = log.reports
    assert (first.line, first.sizes["repeat_count"]) == (1, 2)
    assert first.buffers != second.buffers
    assert "repeat_count" not in second.sizes
    ranks = "".join(
        f"[rank{rank}]: {line}\n"
        for rank in (1, 2)
        for line in (TPU + TPU).splitlines()
    )
    found = [
        (report.rank, report.sizes["repeat_count"])
        for report in parse_oom_log(ranks).reports
    ]
    assert found == [(1, 1), (2, 1)]


def test_lines_that_say_it_alone_are_logs() -> None:
    for line in ALONE:
        assert recognise("job.err", f"step 7\n{line}\n".encode()).kind == "log", line
        assert unread(line) == []


def test_the_request_before_a_report_belongs_to_it() -> None:
    """The allocator rounds, the exception is exact; said behind it again, it is one."""
    text = (
        "W bfc_allocator.cc:291] Allocator (GPU_0_bfc) ran out of memory trying to"
        " allocate 154.06GiB with freed_by_count=0.\n"
        "W bfc_allocator.cc:291] Allocator (GPU_0_bfc) ran out of memory trying to"
        " allocate 154.06GiB with freed_by_count=0.\n"
        "Failed to allocate request for 154.06GiB (165425291480B) on device ordinal 0\n"
        f"{GPU.partition(chr(10))[2]}"
        "Out of memory while trying to allocate 165425291480 bytes.\n"
    )
    sizes = GPU_REPORT.sizes | {"requested_bytes": 165425291480}
    texts = {"allocator_name": "GPU_0_bfc", "device_name": "0"}
    [report] = parse_oom_log(text).reports
    assert report == replace(GPU_REPORT, line=4, sizes=sizes, texts=texts)


def test_requests_of_other_sizes_are_others() -> None:
    text = (
        "Out of memory while trying to allocate 1.50GiB.\n"
        "Can't reduce memory use below 1.00MiB by rematerialization; only reduced to"
        " 2.00MiB\n"
        "Out of memory while trying to allocate 1048576 bytes.\n"
        "Out of memory while trying to allocate 2097152 bytes.\n"
    )
    assert parse_oom_log(text).reports == [
        asked(3 * GIB // 2),
        OomReport(
            2,
            "rematerialization",
            sizes={"capacity_bytes": 1 << 20, "used_bytes": 2 << 20},
        ),
        replace(asked(1 << 20), line=3),
        replace(asked(2 << 20), line=4),
    ]


def test_a_kernel_on_lines_of_its_own() -> None:
    text = (
        "E1001: CompileTimeScopedVmemOom:\n"
        "Ran out of memory in memory space vmem while allocating on stack for "
        f"{KERNEL}\n"
        f"{SCOPED}\n"
    )
    assert parse_oom_log(text).reports == [
        OomReport(
            2,
            "program_memory",
            "vmem",
            SCOPED_SIZES,
            [KERNEL_BUFFER],
            texts={"excess_text": "2.00M", "error_code": "E1001"},
        )
    ]


def test_a_usage_block_alone() -> None:
    text = TPU.partition("\n")[2].partition("Program hbm")[0]
    sizes = {
        "used_bytes": 261 << 28,
        "reserved_bytes": 5 << 28,
        "program_bytes": 64 << 30,
        "parameter_bytes": 0,
        "live_out_bytes": 1024,
        "shared_bytes": 512,
    }
    expected = OomReport(2, "program_memory", "hbm", sizes)
    assert parse_oom_log(text).reports == [expected]
    assert unread(text) == []


def test_a_second_list_of_arguments_and_outputs() -> None:
    """Places go on, so that each buffer has its own; arguments are parameters."""
    text = TPU + (
        "  Largest program arguments and outputs in hbm:\n\n"
        "  1. Size: 1.00G\n"
        "     Shape: bf16[4096,131072]{1,0:T(8,128)(2,1)}\n"
        "     Unpadded size: 1.00G\n"
        "     XLA label: Argument 250 index {}\n"
        "     ==========================\n\n"
        "  2. Size: 512.00M\n"
        "     Shape: f32[8192,16384]{1,0:T(8,128)}\n"
        "     Tag: Argument 3 index {0}\n"
        "     ==========================\n\n"
        "  3. Size: 256.00M\n"
        "     XLA label: copy.7 = copy(p.1)\n"
        "     Tag: output {1}\n"
        "     ==========================\n\n"
    )
    weights, moments = (
        "bf16[4096,131072]{1,0:T(8,128)(2,1)}",
        "f32[8192,16384]{1,0:T(8,128)}",
    )
    more = [
        OomBuffer(2, GIB, GIB, weights, True, "Argument 250 index {}"),
        OomBuffer(3, 512 << 20, None, moments, True, "Argument 3 index {0}"),
        OomBuffer(4, 256 << 20, label="copy.7 = copy(p.1) (output {1})"),
    ]
    expected = replace(TPU_REPORT, buffers=[*TPU_REPORT.buffers, *more])
    assert parse_oom_log(text).reports == [expected]
    assert unread(text) == []


def test_allocations_that_a_tpu_lists_by_space() -> None:
    """Those of other spaces than the one that was too small are left out."""
    head = "  cumulative_size;       size;       offset; used_by_n_values; shapes_list"
    rule = "  " + "-" * 60
    text = (
        "E1123 21:18:03.711340   17317 deepsea_compiler_base.cc:3781] XLA:TPU compile"
        " permanent error. Ran out of memory in memory space hbm. Used 128.00G of"
        " 94.75G hbm. Exceeded hbm capacity by 33.25G. Memory usage report: \n\n"
        "Memory Space: default (color=0)\n"
        "Total bytes: 137438955520 (128.00GiB)\n"
        f"{head}\n{rule}\n"
        "  128.00GiB(100%);  128.00GiB;            0;                1;"
        " f32[65536,524288]\n\n"
        f"{head}\n{rule}\n"
        "       512B(100%);       512B;            0;                1; f32[]\n\n\n"
        "Memory Space: vmem (color=1)\n"
        "Total bytes: 33554432 (32.00MiB)\n"
        f"{head}\n{rule}\n"
        "   32.00MiB(100%);   32.00MiB;            0;                1; u8[33554432]\n"
    )
    assert parse_oom_log(text).reports == [
        OomReport(
            1,
            "program_memory",
            "hbm",
            {
                "used_bytes": 128 << 30,
                "capacity_bytes": 379 << 28,
                "excess_bytes": 133 << 28,
            },
            [
                OomBuffer(1, 128 << 30, shape="f32[65536,524288]"),
                OomBuffer(2, 512, shape="f32[]"),
            ],
            texts={"excess_text": "33.25G"},
        )
    ]


def test_requirements_without_a_total() -> None:
    text = "Program hbm requirement 1.50G:\n    HLO temp   unknown size\n"
    assert parse_oom_log(text).reports == [
        OomReport(1, "program_memory", "hbm", {"program_bytes": 3 << 29})
    ]


@pytest.mark.parametrize("line", ["tpu_custom_call", "9" * 5000, "٣", ""])
@pytest.mark.parametrize("of_a_list", [True, False])
def test_a_source_line_that_is_no_number(line: str, *, of_a_list: bool) -> None:
    said = f'op_name="jit(f)/add" source_file="m.py" source_line="{line}"'
    operator = 'op_name="jit(f)/concatenate[dimension=0]" source_file="m.py"'
    listed = GPU.replace(f"{operator} source_line=9", said)
    assert listed != GPU
    alone = (
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem while allocating"
        f" on stack for %k = f32[8] custom-call(), metadata={{{said}}}."
        " Scoped allocation with size 37.22M and limit 32.00M exceeded scoped vmem"
        " limit by 5.22M."
    )
    [report] = parse_oom_log(listed if of_a_list else alone).reports
    first = report.buffers[0]
    told = first.op_name, first.source_file, first.source_line
    assert told == ("jit(f)/add", "m.py", None)


def test_a_log_of_something_else() -> None:
    text = "Shape: f32[2]\nSize: 4.0KiB\nBuffer 1:\ntotal allocation: 1.0KiB\n"
    assert parse_oom_log(text) == OomLog()


@given(st.lists(st.sampled_from([*GPU.splitlines(), *TPU.splitlines(), *ALONE])))
def test_any_order_of_lines(lines: list[str]) -> None:
    log = parse_oom_log("\n".join(lines))
    assert all(1 <= number <= len(lines) for number in log.lines)
    assert sorted(report.line for report in log.reports) == [
        report.line for report in log.reports
    ]


def test_lines_of_reports_are_read_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["E0605 a.cc:1] RESOURCE_EXHAUSTED: Out of memory allocating 4 bytes."] * 9
    monkeypatch.setattr("hlodb.ingest.formats.logs.oom_log._MOST_LINES", 5)
    log = parse_oom_log("\n".join(lines))
    assert max(report.line for report in log.reports) <= 5
    assert [(reject.line, reject.code) for reject in log.rejects] == [(6, "more")]
    assert log.rejects[0].message == (
        "a log is read up to 250,000 lines around such reports, of 100,000 ranks; those"
        " from here on are not"
    )
