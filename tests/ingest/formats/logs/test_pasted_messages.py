"""Messages as people paste them: what each says, figure by figure.

The examples are rebuilt in neutral words after public reports of 2025 and 2026.
"""

from __future__ import annotations

import pytest

from hlodb.ingest.formats.logs.oom_log import parse_oom_log
from hlodb.ingest.formats.logs.oom_report import (
    MemoryStats,
    OomBuffer,
    OomChunk,
    OomReport,
)
from hlodb.ingest.recognise.recognition import recognise
from tests.conftest import DATA

MESSAGES = DATA / "oom_messages"

EXPECTED: dict[str, list[OomReport]] = {
    "amd_solver.log": [
        OomReport(line=1, form="allocation", texts={"operation": "hipGetLastError()"})
    ],
    "argument_limit.log": [
        OomReport(
            line=1,
            form="argument_limit",
            sizes={"parameter_bytes": 131344632216, "capacity_bytes": 20236835225},
        ),
        OomReport(
            line=2,
            form="argument_limit",
            sizes={"parameter_bytes": 131344632216, "capacity_bytes": 20236835225},
        ),
    ],
    "autotune.log": [
        OomReport(
            line=1,
            form="allocation",
            sizes={"requested_bytes": 13421772800},
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=13421772800,
                    shape="(f32[64,256,129,129]{3,2,1,0}, u8[0]{0})",
                    label=(
                        "%cudnn-conv.7 = (f32[64,256,129,129]{3,2,1,0}, u8[0]{0}) cus"
                        "tom-call(%copy.1, %copy.2), window={size=3x3 pad=1_1x1_1}, d"
                        'im_labels=bf01_oi01->bf01, custom_call_target="__cudnn$convF'
                        'orward"'
                    ),
                    instruction="cudnn-conv.7",
                )
            ],
            texts={"operation": "scratch memory to tune a kernel"},
        )
    ],
    "bfc_annotated.log": [
        OomReport(
            line=1,
            form="allocation",
            sizes={
                "requested_bytes": 6442450944,
                "limit_bytes": 12884901888,
                "in_use_bytes": 9663676416,
                "peak_in_use_bytes": 9663676416,
                "largest_free_bytes": 3221225472,
            },
            texts={"allocator_name": "GPU_0_bfc", "program_name": "jit_train_step"},
            chunks={
                OomChunk(
                    size_bytes=4294967296,
                    program_name="jit_train_step",
                    kind="temp",
                    allocation_id=3,
                ): 1,
                OomChunk(
                    size_bytes=5368709120,
                    program_name="jit_eval_step",
                    kind="live_out",
                    allocation_id=0,
                ): 1,
            },
        )
    ],
    "bfc_stats.log": [
        OomReport(
            line=1,
            form="argument_limit",
            sizes={"parameter_bytes": 86973087744, "capacity_bytes": 81174881894},
        ),
        OomReport(
            line=2,
            form="allocation",
            sizes={
                "requested_bytes": 28991029248,
                "largest_free_bytes": 9416932096,
                "pool_bytes": 96389803540,
                "limit_bytes": 96389803540,
                "in_use_bytes": 86973087744,
                "peak_in_use_bytes": 86973087744,
            },
            texts={"allocator_name": "GPU_0_bfc"},
            chunks={
                OomChunk(size_bytes=28991029248): 3,
                OomChunk(size_bytes=9416932096, is_free=True): 1,
            },
        ),
    ],
    "cubin.log": [
        OomReport(
            line=1,
            form="allocation",
            texts={"operation": "loading the code of a kernel (CUBIN)"},
        )
    ],
    "cuda_async.log": [
        OomReport(
            line=1,
            form="allocation",
            sizes={
                "requested_bytes": 1225195446464,
                "device_free_bytes": 22635544576,
                "device_bytes": 85095874560,
                "in_use_bytes": 61982909300,
                "peak_in_use_bytes": 61982909300,
            },
            texts={"allocator_name": "gpu_async_1"},
            chunks={OomChunk(size_bytes=2): 6, OomChunk(size_bytes=59743666176): 1},
        )
    ],
    "e0100.log": [
        OomReport(
            line=1,
            form="allocation",
            space_name="hbm",
            sizes={"requested_bytes": 8388608, "free_bytes": 6742344},
            texts={"device_name": "0x0x1_HBM0", "error_code": "E0100"},
        )
    ],
    "e0102.log": [
        OomReport(
            line=1,
            form="input_mismatch",
            sizes={"requested_bytes": 5242880},
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=5242880,
                    shape="bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}",
                    is_parameter=True,
                    label="parameter 2482, expected",
                ),
                OomBuffer(
                    place=2,
                    size_bytes=1638400,
                    shape="bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}",
                    is_parameter=True,
                    label="parameter 2482, given",
                ),
            ],
            texts={"program_name": "jit_embedding_step", "parameter_number": "2482"},
        )
    ],
    "e1001.log": [
        OomReport(
            line=3,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 33554432,
                "capacity_bytes": 16777216,
                "excess_bytes": 16777216,
            },
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=33554432,
                    shape="f32[4096,2048]{1,0:T(8,128)}",
                    label=(
                        "%_lambda_.1 = f32[4096,2048]{1,0:T(8,128)} custom-call(%x.2)"
                        ', custom_call_target="tpu_custom_call", operand_layout_const'
                        "raints={f32[4096,2048]{1,0}}, frontend_attributes={kernel_me"
                        'tadata={}}, metadata={op_name="jit(<lambda>)/pallas_call" st'
                        "ack_frame_id=2}"
                    ),
                    op_name="jit(<lambda>)/pallas_call",
                    allocation_type="stack",
                    instruction="_lambda_.1",
                )
            ],
            texts={"error_code": "E1001", "excess_text": "16.00M"},
        )
    ],
    "e1002.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="hbm",
            sizes={"capacity_bytes": 102800042230, "used_bytes": 224326141870},
            buffers=[
                OomBuffer(place=1, size_bytes=37387690312, label="TensorCore"),
                OomBuffer(place=2, size_bytes=186938451558, label="SparseCore"),
            ],
        )
    ],
    "early_abort.log": [
        OomReport(
            line=1,
            form="program_memory",
            sizes={"used_bytes": 4222124650660, "capacity_bytes": 97667556311},
        )
    ],
    "executable_name.log": [
        OomReport(
            line=1,
            form="allocation",
            sizes={"requested_bytes": 2297807503},
            texts={"program_name": "jit_subtract"},
        )
    ],
    "executable_name_twice.log": [
        OomReport(
            line=1,
            form="allocation",
            sizes={"requested_bytes": 765258926192},
            texts={"program_name": "jit_grads_fn"},
        )
    ],
    "near_limit_hbm.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="hbm",
            sizes={
                "used_bytes": 33554432000,
                "capacity_bytes": 33554432000,
                "excess_bytes": 3365929,
                "reserved_bytes": 272629760,
                "program_bytes": 27412628767,
                "parameter_bytes": 6141803233,
            },
            texts={"excess_text": "3.21M"},
        )
    ],
    "near_limit_smem.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="smem",
            sizes={
                "used_bytes": 1048576,
                "capacity_bytes": 1048576,
                "excess_bytes": 1741,
            },
            texts={"excess_text": "1.7K"},
        )
    ],
    "scoped_vmem.log": [
        OomReport(
            line=2,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 39027999,
                "capacity_bytes": 33554432,
                "excess_bytes": 5473567,
            },
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=39027999,
                    shape="bf16[1,16,25344,80]{3,2,1,0:T(8,128)(2,1)}",
                    label=(
                        "%vit_attention.1 = bf16[1,16,25344,80]{3,2,1,0:T(8,128)(2,1)"
                        "} custom-call(%fusion.3, %fusion.4, %fusion.5), custom_call_"
                        'target="tpu_custom_call"'
                    ),
                    allocation_type="stack",
                    instruction="vit_attention.1",
                )
            ],
            texts={"excess_text": "5.22M"},
        )
    ],
    "scoped_vmem_pasted.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 39027999,
                "capacity_bytes": 33554432,
                "excess_bytes": 5473567,
            },
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=39027999,
                    shape="bf16[1,16,25344,80]",
                    label="%vit_attention.1 = bf16[1,16,25344,80]",
                    allocation_type="stack",
                    instruction="vit_attention.1",
                )
            ],
            texts={"excess_text": "5.22M"},
        )
    ],
    "shared_memory.log": [
        OomReport(
            line=2,
            form="program_memory",
            space_name="shared",
            sizes={"requested_bytes": 1179648, "capacity_bytes": 232448},
        )
    ],
    "smem_allocation.log": [
        OomReport(
            line=3,
            form="program_memory",
            space_name="smem",
            sizes={"requested_bytes": 1179648, "capacity_bytes": 1048576},
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=1179648,
                    shape="u8[1179648]{0}",
                    label="prefetched SMEM operand 0",
                    allocation_type="scoped",
                    instruction="window_store.5.cache_ref",
                )
            ],
        )
    ],
    "spill_slots.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 58300826,
                "capacity_bytes": 33554432,
                "excess_bytes": 24746394,
                "program_bytes": 58300826,
            },
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=52669972,
                    label="register allocator spill slots call depth 2",
                    allocation_type="scoped",
                ),
                OomBuffer(
                    place=2,
                    size_bytes=1048576,
                    unpadded_bytes=1048576,
                    shape="bf16[2,32,32,1,2,128]{5,4,3,2,1,0:T(2,128)(2,1)}",
                    label=(
                        "paged.32 = custom-call(bitcast, copy-done.70), custom_call_t"
                        'arget="tpu_custom_call"'
                    ),
                    op_name="jit(run)/jit(main)/paged_attention/pallas_call",
                    source_file="/srv/kernels/attention.py",
                    source_line=1335,
                    allocation_type="scoped",
                ),
            ],
            texts={"excess_text": "23.60M"},
        )
    ],
    "spill_slots_without_numbers.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 58300826,
                "capacity_bytes": 33554432,
                "excess_bytes": 24746394,
                "program_bytes": 58300826,
            },
            buffers=[
                OomBuffer(
                    place=1,
                    size_bytes=52669972,
                    label="register allocator spill slots call depth 2",
                    allocation_type="scoped",
                ),
                OomBuffer(
                    place=2,
                    size_bytes=1048576,
                    unpadded_bytes=1048576,
                    shape="bf16[2,32,32,1,2,128]{5,4,3,2,1,0:T(2,128)(2,1)}",
                    label=(
                        "paged.32 = custom-call(bitcast, copy-done.70), custom_call_t"
                        'arget="tpu_custom_call"'
                    ),
                    op_name="jit(run)/jit(main)/paged_attention/pallas_call",
                    source_file="/srv/kernels/attention.py",
                    source_line=1335,
                    allocation_type="scoped",
                ),
            ],
            texts={"excess_text": "23.60M"},
        )
    ],
    "temporaries.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="hbm",
            sizes={"temp_bytes": 73014444032, "capacity_bytes": 16911433728},
            texts={"program_name": "jit_f", "error_code": "E1000"},
        )
    ],
    "two_failures.log": [
        OomReport(
            line=1,
            form="allocation",
            space_name="hbm",
            sizes={
                "requested_bytes": 28185722880,
                "free_bytes": 27401891348,
                "reserved_bytes": 0,
                "reservable_bytes": 27401891348,
            },
            texts={"program_name": "jit_prefill"},
        ),
        OomReport(
            line=6,
            form="program_memory",
            space_name="hbm",
            sizes={
                "used_bytes": 33597381673,
                "capacity_bytes": 33554432000,
                "excess_bytes": 46881833,
            },
            texts={"excess_text": "44.71M"},
        ),
    ],
    "vmem_without_stop.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 68209869,
                "capacity_bytes": 67108864,
                "excess_bytes": 1101005,
            },
            texts={"excess_text": "1.05M"},
        )
    ],
    "vmem_wrapped.log": [
        OomReport(
            line=1,
            form="program_memory",
            space_name="vmem",
            sizes={
                "used_bytes": 68209869,
                "capacity_bytes": 67108864,
                "excess_bytes": 1101005,
            },
            texts={"excess_text": "1.05M"},
        )
    ],
}

STATS: dict[str, list[MemoryStats]] = {
    "maxtext_new.log": [
        MemoryStats(
            line=1,
            form="maxtext",
            sizes={
                "total_bytes": 126916283597,
                "output_bytes": 41446434406,
                "temp_bytes": 85362475008,
                "argument_bytes": 41553808589,
                "host_temp_bytes": 0,
            },
        )
    ],
    "maxtext_old.log": [
        MemoryStats(
            line=1,
            form="maxtext",
            sizes={
                "total_bytes": 126916283597,
                "output_bytes": 41446434406,
                "temp_bytes": 85362475008,
                "argument_bytes": 41553808589,
                "host_temp_bytes": 0,
            },
        )
    ],
    "memory_stats.txt": [
        MemoryStats(
            line=2,
            form="memory_analysis",
            sizes={
                "generated_code_bytes": 34816,
                "argument_bytes": 6656,
                "output_bytes": 2048,
                "alias_bytes": 0,
                "temp_bytes": 0,
                "host_generated_code_bytes": 0,
                "host_argument_bytes": 0,
                "host_output_bytes": 0,
                "host_alias_bytes": 0,
                "host_temp_bytes": 0,
            },
        )
    ],
}


@pytest.mark.parametrize("name", sorted({*EXPECTED, *STATS}))
def test_what_a_message_says(name: str) -> None:
    text = (MESSAGES / name).read_text()
    log = parse_oom_log(text)
    assert log.reports == EXPECTED.get(name, [])
    assert log.stats == STATS.get(name, [])
    assert log.rejects == []
    assert recognise(name, text.encode()).kind == "log"


def test_every_example_is_expected() -> None:
    names = {path.name for path in MESSAGES.iterdir()}
    assert names == {*EXPECTED, *STATS}
