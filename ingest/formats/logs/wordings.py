r"""How runtimes and compilers say that memory did not suffice: one row a wording.

A row is a pattern with the facts that it names. Patterns are tried on a message whose
lines are joined by single blanks, so they know no line breaks. Named groups are facts:

    NAME_bytes       a size as printed: `41.22G`, `2.14GiB`, `16 GB`, `4096 bytes`, 4096
    NAME_exact       the same size again in bytes, which counts
    NAME_words       a size in words of four bytes
    NAME_decimal     a size whose unit is a power of 1000
    NAME_rounded     the size in bytes as an allocator rounds it up
    part_NAME_bytes  a part of used_bytes, which is their sum
    buffer_NAME      a fact of the buffer that the message is about
    others           texts, by the column of oom_reports

`U` stands for a size with its unit, which one that is cut lacks, `S` for one that may
have none, `N` for a whole number. Sources name the file that prints the
wording, or the page that documents it; of libtpu, whose sources are not public, public
logs of 2019 to 2026 were read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

Form: TypeAlias = Literal[
    "allocation",
    "allocation_warning",
    "buffer_assignment",
    "program_memory",
    "program_usage",
    "rematerialization",
    "argument_limit",
    "input_mismatch",
    "host_offload",
    "killed",
    "unknown",
]
"""What a report is about, see the column `form` of oom_reports."""

FAILURES: frozenset[str] = frozenset(
    {"allocation", "buffer_assignment", "program_memory", "killed"}
)
"""Forms that say that memory did not suffice; the others are warnings and kin."""

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,18})(?:\.[0-9]{1,6})?"
_UNIT = r"(?: ?(?:[KMGTPE](?:iB|B)?|k(?:iB|B)|[Bb]ytes?|B)(?![A-Za-z]))"
SIZE = f"(?:{_NUMBER}{_UNIT})"
"""A size with its unit of powers of 1024, in any spelling."""

_ANY_SIZE = f"(?:{_NUMBER}{_UNIT}?)"

_PARTS = re.compile(r"([0-9.]+) ?([A-Za-z]*)")


def line_number(text: str | None) -> int | None:
    """Return the number of a source line; None for what is no such number."""
    return int(text) if text and _LINE_NUMBER.fullmatch(text) else None


_LINE_NUMBER = re.compile(r"[0-9]{1,9}")


def size_bytes(text: str, base: int = 1024) -> int:
    """Return the bytes of a size as printed, rounded to whole ones.

    Units are powers of `base`: runtimes mean those of 1024, however they spell them.
    """
    found = _PARTS.match(text.replace(",", ""))
    if found is None:
        return 0
    number, unit = found.groups()
    power = "BKMGTPE".find(unit[:1].upper()) if unit else 0
    if power <= 0:
        return round(float(number))
    return round(float(number) * float(base) ** power)


@dataclass(frozen=True)
class Wording:
    """A wording; `key` is a piece in lower case without which it cannot match.

    One `is_of_one_line` ends where its line does, as nothing else says where it ends.
    """

    form: Form
    key: str
    text: str
    sample: str
    source: str
    facts: Mapping[str, str] = field(default_factory=dict)
    is_of_one_line: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, with the sizes written out."""
        return re.compile(_written_out(self.text))


def _written_out(text: str) -> str:
    """Return a pattern in which each U, S and N of its own is written out."""
    return _LETTER.sub(lambda found: _LETTERS[found[0]], text)


_LETTER = re.compile(r"(?<![A-Za-z\\])[USN](?![A-Za-z])")
_LETTERS = {"U": SIZE, "S": _ANY_SIZE, "N": "[0-9]{1,18}"}


_SPACE = r"(?P<space_name>\w{1,20})"
_EXCEEDED = r"(?:[.,;]? ?Exceeded \w{1,20} capacity by (?P<excess_bytes>U))?"
_SCOPED = (
    r"Scoped allocation with size (?P<used_bytes>U) and limit (?P<capacity_bytes>U)"
    r"(?: exceeded scoped \w{1,20} limit(?: by (?P<excess_bytes>U))?)?"
)
_TPU_SPACE = r"(?P<space_name>hbm|vmem|smem|cmem|tmem|sflag|spmem)"
_FREE = (
    r"(?:\.? ?That was not possible\.?)?(?: ?There are (?P<free_bytes>U) free"
    r"(?:, (?P<reserved_bytes>U) reserved,? and (?P<reservable_bytes>U) reservable)?"
    r"(?:\.? ?(?:Due to fragmentation, )?[Tt]he largest contiguous region of free"
    r" memory is (?P<largest_free_bytes>U))?)?"
    r"(?:[^()]{0,60};? ?\((?P<device_name>0x[0-9a-fx]{1,20}_HBM[0-9]{1,3})\))?"
)
_ALLOCATOR = (
    r"(?:Allocator \((?=(?:[^()]{0,80}?(?P<space_name>host))?)"
    r"(?P<allocator_name>[\w.\-]{1,80})\) (?:ran )?)?"
)
_LOADING = r"(?:Error loading program(?: '(?P<program_name>[^']{1,300})')?: ?)?"
_XLA = "XLA"
_LIBTPU = "libtpu, as public logs show it"

WORDINGS: tuple[Wording, ...] = (
    # --- Compilers: memory of one program ------------------------------------------
    Wording(
        "program_memory",
        "scoped allocation with size",
        rf"Ran out of memory in memory space {_SPACE}[.,]? ?(?:\.\.\.|…)?"
        r"(?: ?while allocating on stack)? ?for (?P<buffer_label>.{1,8000}?)\.?"
        rf" ?(?:\.\.\.|…)? {_SCOPED}",
        "Ran out of memory in memory space vmem while allocating on stack for"
        " %k.1 = f32[4096,512]{1,0:T(8,128)} custom-call(%p.1). Scoped allocation with"
        " size 18.00M and limit 16.00M exceeded scoped vmem limit by 2.00M.",
        "E1001, openxla.org/xla/errors/error_1001",
        {"buffer_allocation_type": "stack"},
    ),
    Wording(
        "program_memory",
        "memory space",
        rf"Ran out of memory in memory space {_SPACE}"
        r" while allocating on stack for"
        r" (?P<buffer_label>%?[\w.\-]{1,300} = .{1,8000}?)(?:\. |\.?$)",
        "Ran out of memory in memory space vmem while allocating on stack for"
        " %k.1 = f32[4096,512]{1,0:T(8,128)} custom-call(%p.1)",
        _LIBTPU,
        {"buffer_allocation_type": "stack"},
        is_of_one_line=True,
    ),
    Wording(
        "program_memory",
        "memory space",
        rf"Ran out of memory in memory space {_SPACE}\.? ?Estimated"
        r" (?P<used_decimal>U) exceeds (?P<capacity_decimal>U) \w{1,20} capacity",
        "Ran out of memory in memory space vmem. Estimated 268.96MB exceeds 67.11MB"
        " vmem capacity.",
        "helion runtime/__init__.py",
    ),
    Wording(
        "program_memory",
        "memory space",
        rf"Ran out of memory in memory space {_SPACE}(?:[.,:;]? ?Used"
        rf" (?P<used_bytes>U) of (?P<capacity_bytes>U)(?: \w{{1,20}})?{_EXCEEDED})?",
        "Ran out of memory in memory space hbm. Used 31.25G of 31.25G hbm."
        " Exceeded hbm capacity by 3.21M.",
        "E1000, openxla.org/xla/errors/error_1000",
    ),
    Wording(
        "program_memory",
        "used ",
        rf"Oom\W{{1,3}}Used (?P<used_bytes>U) of (?P<capacity_bytes>U) {_TPU_SPACE}\b"
        rf"{_EXCEEDED}",
        "CompileTimeHbmOom: Used 126.25G of 94.75G hbm. Exceeded hbm capacity by"
        " 31.50G.",
        "E1000, as people quote it",
    ),
    Wording(
        "program_memory",
        "capacity by",
        rf"(?:Used (?P<used_bytes>U) of (?P<capacity_bytes>U) \w{{1,20}}[.,;]? ?)?"
        rf"Exceeded {_TPU_SPACE} capacity by (?P<excess_bytes>U)",
        "Used 41.75G of 31.25G hbm. Exceeded hbm capacity by 10.50G.",
        "E1000, as people quote it",
    ),
    Wording(
        "program_memory",
        "scoped allocation",
        _SCOPED.replace(r"scoped \w{1,20}", rf"scoped {_SPACE}", 1),
        "Scoped allocation with size 18.00M and limit 16.00M exceeded scoped vmem"
        " limit by 2.00M.",
        "E1001, openxla.org/xla/errors/error_1001",
    ),
    Wording(
        "program_memory",
        "hlo temporaries",
        rf"Ran out of memory on {_SPACE}, the total memory required for HLO temporaries"
        r" \((?P<temp_bytes>U)\) exceeds available \w{1,20} \((?P<capacity_bytes>U)\)",
        "Ran out of memory on HBM, the total memory required for HLO temporaries"
        " (68.00G) exceeds available HBM (15.75G). HLO module: jit_f.",
        _LIBTPU,
    ),
    Wording(
        "program_memory",
        "would exceed memory",
        r"Allocation \(size ?= ?(?P<requested_bytes>N)\) would exceed memory"
        r" \(size ?= ?(?P<capacity_bytes>N)\)(?: ?:: ?#?\w{1,40} ?\[? ?shape ?= ?"
        r"'(?P<buffer_shape>[^']{1,400})'(?:, ?space ?= ?(?P<space_name>\w{1,20}))?"
        r"(?:, ?size ?= ?(?:0x)?[0-9a-fA-F]{1,20})?(?:, ?(?P<buffer_allocation_type>"
        r"scoped))?(?:, ?tag ?= ?'(?P<buffer_label>.{1,1000}?)')? ?\]"
        r"(?: ?:: ?(?P<buffer_instruction><[\w\-]{1,40}>|[\w.\-%]{1,300}))?)?",
        "Allocation (size=1179648) would exceed memory (size=1048576) :: #allocation4"
        " [shape = 'u8[1179648]{0}', space=smem, size = 0x120000, scoped, tag ="
        " 'prefetched SMEM operand 0'] :: k.5.cache_ref",
        "openxla.org/xla/errors/error_1001 (older edition)",
    ),
    Wording(
        "program_memory",
        "unlikely to have enough",
        r"unlikely to have enough (?:\w{1,20} )?memory\.? ?Requires (?P<used_bytes>U),?"
        r" has (?P<capacity_bytes>U)",
        "Aborting compilation early because it's unlikely to have enough device memory."
        " Requires 3.84T, has 90.96G available.",
        "libtpu, openxla.org/xla/errors/error_1000 (older edition)",
    ),
    Wording(
        "program_memory",
        "would use more than",
        r"[Ww]ould use more than (?P<capacity_bytes>U)"
        r"(?: of (?:the )?(?:\w{1,20} ){0,2}memory)?"
        r"(?:[,;:]? \(?(?:it )?(?:needs?|requires?|uses?|used|requested):?"
        r" (?P<used_bytes>U)\)?)?",
        "The program would use more than 16.00G of memory: needs 21.50G",
        "reports in the wild; no source",
    ),
    Wording(
        "program_memory",
        "exceeding available",
        r"TensorCore [Hh][Bb][Mm] usage:? (?P<part_tensor_core_bytes>U),? SparseCore"
        r" [Hh][Bb][Mm] usage:? (?P<part_sparse_core_bytes>U),? exceeding available"
        r" bytes:? (?P<capacity_bytes>U)",
        "TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding"
        " available bytes: 95.74G",
        "E1002 and E1000, openxla.org/xla/errors/error_1000",
        {"space_name": "hbm"},
    ),
    Wording(
        "program_memory",
        "upper bound",
        r"allocation offset upper bound \((?P<used_words>N) words\) exceeds the"
        r" legit\w{0,8}(?: user allocatable)?(?: offset)?(?: upper)? (?:bound|limit)"
        r"(?: \((?P<capacity_words>N) words\))?"
        r"(?: in memory space (?P<space_number>N))?"
        r"(?: when allocating (?P<buffer_size_words>N) words)?",
        "'memref.alloca' op current allocation offset upper bound (140704 words)"
        " exceeds the legitimate user allocatable offset upper bound (131071 words) in"
        " memory space 201 when allocating 23440 words",
        "E3000, openxla.org/xla/errors/error_3000",
        {"space_name": "sparsecore"},
    ),
    Wording(
        "program_memory",
        "replica count",
        r"No viable logical replica count\b.{1,600}?fixed_size_allocation_bytes ?= ?"
        r"(?P<part_fixed_bytes>N), ?row_dependent_size_allocation_bytes ?= ?"
        r"(?P<part_by_row_bytes>N), ?total_spmem_size_bytes ?= ?(?P<capacity_bytes>N)",
        "No viable logical replica count for the embedding table with metadata:"
        " max_nz_per_row = 141352 (last tried split factor for vector splitting = 1,"
        " fixed_size_allocation_bytes = 410880, row_dependent_size_allocation_bytes ="
        " 1696224, total_spmem_size_bytes = 524288)",
        "E3001, openxla.org/xla/errors/error_3001",
        {"space_name": "tile_spmem"},
    ),
    Wording(
        "program_memory",
        "available shared memory",
        r"exceeds available shared memory: (?:smem_bytes ?= ?)?(?P<requested_bytes>N)"
        r" > (?:max_smem_bytes ?= ?)?(?P<capacity_bytes>N)",
        "Mosaic GPU kernel exceeds available shared memory: smem_bytes=262144 >"
        " max_smem_bytes=232448",
        "jax experimental/mosaic/gpu/core.py",
        {"space_name": "shared"},
    ),
    Wording(
        "program_memory",
        "shared memory size limit",
        r"[Ss]hared memory size limit exceeded(?:[:.]? ?requested:?"
        r" (?P<requested_bytes>S),? available:? (?P<capacity_bytes>S))?",
        "Shared memory size limit exceeded: requested 1179648, available: 232448",
        f"{_XLA} backends/gpu/codegen/triton/compilation_pipeline, xtile_compiler.cc",
        {"space_name": "shared"},
    ),
    Wording(
        "program_memory",
        "shared memory",
        r"[Oo]ut of resources?: shared memory,? Required:? (?P<requested_bytes>S),?"
        r" Hardware limit(?:ation)?:? (?P<capacity_bytes>S)",
        "out of resource: shared memory, Required: 131072, Hardware limit: 101376",
        "triton/runtime/errors.py",
        {"space_name": "shared"},
    ),
    Wording(
        "rematerialization",
        "reduce memory use",
        r"Can't reduce memory use below (?P<capacity_bytes>U)"
        r"(?: \((?P<capacity_exact>N) bytes\))? by rematerialization;"
        r" only reduced to (?P<used_bytes>U)"
        r"(?: \((?P<used_exact>N) bytes\))?(?:, down from (?P<total_bytes>U)"
        r"(?: \((?P<total_exact>N) bytes\))?)?",
        "Can't reduce memory use below 22.27GiB (23917347918 bytes) by"
        " rematerialization; only reduced to 37.90GiB (40693879420 bytes), down from"
        " 38.20GiB (41022266148 bytes) originally",
        f"{_XLA} hlo/transforms/simplifiers/hlo_rematerialization.cc",
    ),
    Wording(
        "argument_limit",
        "base limit",
        r"byte size of input/output arguments \((?P<parameter_bytes>N)\) exceeds the"
        r" base limit \((?P<capacity_bytes>N)\)",
        "The byte size of input/output arguments (131344632216) exceeds the base limit"
        " (20236835225). This indicates an error in the calculation!",
        f"{_XLA} service/gpu/gpu_hlo_schedule.cc",
    ),
    Wording(
        "program_usage",
        "tpu program",
        rf"XLA::TPU program {_SPACE} usage:"
        r" (?P<used_bytes>U) ?/ ?(?P<capacity_bytes>U)",
        "XLA::TPU program HBM usage: 19.51G / 30.75G",
        _LIBTPU,
    ),
    # --- Allocators: one request at run time ---------------------------------------
    Wording(
        "allocation_warning",
        "not a failure",
        rf"{_ALLOCATOR}[Oo]ut of memory trying to allocate (?P<requested_bytes>U)"
        r"(?: from the (?:lower|upper) end)? with freed_by_count=N\.? ?The caller"
        r" indicates that this is not a failure",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB with"
        " freed_by_count=0. The caller indicates that this is not a failure, but this"
        " may mean that there could be performance gains if more memory were"
        " available.",
        f"{_XLA} tsl/framework/bfc_allocator.cc",
    ),
    Wording(
        "allocation",
        "resource_exhausted: out of memory",
        r"(?:(?:Could not get config for HLO: (?P<buffer_label>.{1,4000}?)"
        r"|^\}.{0,4000}?)\. Status: |EXECUTION FAILED: )RESOURCE_EXHAUSTED: Out of"
        r" memory while trying to allocate (?P<requested_bytes>U)"
        r"(?: with allocator (?P<allocator_name>[\w.\-]{1,80}))?",
        "Could not get config for HLO: %fusion.1 = f32[64,256] fusion(%x.1). Status:"
        " RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2.02GiB with"
        " allocator GPU_0_bfc on device 0.",
        f"{_XLA} backends/autotuner/config_assigner.cc",
        {"operation": "buffers to tune a kernel"},
    ),
    Wording(
        "allocation",
        "to allocate",
        rf"{_ALLOCATOR}[Oo]ut of (?:device )?memory (?:while )?trying to allocate"
        r" (?:(?P<requested_exact>N) bytes|(?P<requested_bytes>U))"
        r"(?: \(rounded to (?P<requested_rounded>N)\))?",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.00GiB (rounded"
        " to 17179869184)requested by op",
        f"{_XLA} tsl/framework/bfc_allocator.cc,"
        " stream_executor/integrations/tf_allocator_adapter.cc",
    ),
    Wording(
        "allocation",
        "out of host memory",
        r"[Oo]ut of host memory (?:while )?trying to allocate"
        r" (?:(?P<requested_exact>N) bytes|(?P<requested_bytes>U))",
        "Out of host memory while trying to allocate 73014444032 bytes. Please set the"
        " environment variable XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB",
        f"{_XLA} stream_executor/integrations/tf_allocator_adapter.cc",
        {"space_name": "host"},
    ),
    Wording(
        "allocation",
        "instantiate graph",
        r"ran out of memory trying to instantiate graph",
        "Underlying backend ran out of memory trying to instantiate graph with 212"
        " nodes and 0 conditionals (total of 41 alive graphs in the process).",
        f"{_XLA} stream_executor/gpu/gpu_command_buffer.cc",
        {"operation": "instantiating a graph of commands"},
    ),
    Wording(
        "allocation",
        "memory limit of",
        r"[Aa]llocating (?P<requested_bytes>N) bytes exceeds the memory limit of"
        r" (?P<limit_bytes>N) bytes",
        "Allocating 8589934592 bytes exceeds the memory limit of 4294967296 bytes.",
        f"{_XLA} stream_executor/gpu/redzone_allocator.cc,"
        " service/gpu/autotuning/conv_algorithm_picker.cc",
    ),
    Wording(
        "allocation",
        "pa budget",
        r"[Nn]ot enough PA budget for allocation: pa_allocated=(?P<in_use_bytes>N)B,"
        r" rounded_size=(?P<requested_bytes>N)B, pa_budget=(?P<limit_bytes>N)B",
        "Not enough PA budget for allocation: pa_allocated=61203283968B,"
        " rounded_size=8592031744B, pa_budget=68719476736B",
        f"{_XLA} stream_executor/vmm_device_address_allocator.cc",
    ),
    Wording(
        "allocation",
        "of size",
        r"[Ff]ailed to allocate (?:(?P<space_name>[Hh]ost) ?[Mm]emory|[^.:;]{1,80}?),?"
        r" of size:? (?P<requested_bytes>S)",
        "Failed to allocate HostMemory of size 4294967296",
        f"{_XLA} stream_executor/cuda/cuda_executor.cc, rocm/rocm_dnn.cc",
    ),
    Wording(
        "allocation",
        "memory: ",
        r"[Ff]ailed to alloc(?:ate)? \w{1,20} memory: (?P<requested_exact>N)\b",
        "Failed to alloc DEVICE memory: 180355072",
        "AWS Neuron's runtime, as public logs show it",
    ),
    Wording(
        "allocation",
        "enough space to allocate",
        r"[Nn]ot enough space to allocate (?P<requested_bytes>N) B"
        r" (?P<space_name>\w{1,20}) buffer",
        "Not enough space to allocate 204800000 B DRAM buffer across 12 banks, where"
        " each bank needs to store 17088000 B, but bank size is only 1073741792 B",
        "Tenstorrent's runtime, as public logs show it",
    ),
    Wording(
        "allocation",
        "memory allocating",
        r"[Oo]ut of memory allocating (?P<requested_exact>N) bytes",
        "Out of memory allocating 34359738368 bytes.",
        f"{_XLA} pjrt/cpu/cpu_client.cc, libtpu",
    ),
    Wording(
        "allocation",
        "failed to allocate",
        r"(?:(?P<allocator_name>[\w.\-]{1,80}) )?cuMemAllocAsync failed to allocate"
        r" (?P<requested_exact>N)(?: bytes)?",
        "gpu_async_0 cuMemAllocAsync failed to allocate 1225195446464 bytes:"
        " RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        f"{_XLA} stream_executor/gpu/gpu_cudamallocasync_allocator.cc",
    ),
    Wording(
        "allocation",
        "failed to allocate request",
        r"[Ff]ailed to allocate request for (?P<requested_bytes>U)"
        r" \((?P<requested_exact>N) ?B\)(?: on device ordinal (?P<device_name>N))?",
        "Failed to allocate request for 154.06GiB (165425291480B) on device ordinal 0",
        f"{_XLA} stream_executor/stream_executor_memory_allocator.cc",
    ),
    Wording(
        "allocation",
        "memory limit",
        r"[Ff]ailed to allocate (?:node \()?(?P<requested_exact>N) bytes\)?\. Memory"
        r" limit: (?P<limit_bytes>N)(?: \[?bytes\]?)?\. Used: (?P<in_use_bytes>N)",
        "Failed to allocate 4096 bytes. Memory limit: 8192 bytes. Used: 8000 bytes.)",
        _LIBTPU,
    ),
    Wording(
        "allocation",
        "failed to allocate",
        r"[Ff]ailed to allocate (?:device memory of )?(?P<requested_bytes>U)"
        r" \((?P<requested_exact>N) bytes\)(?: from device)?",
        "failed to allocate 2.12G (2282521344 bytes) from device:"
        " CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        f"{_XLA} stream_executor/cuda/cuda_executor.cc",
    ),
    Wording(
        "allocation",
        "failed to alloc",
        r"[Ff]ailed to alloc(?:ate)? (?P<requested_bytes>S) (?:on|of pinned|of) host",
        "failed to alloc 34359738368 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of"
        " memory",
        f"{_XLA} stream_executor/cuda/cuda_executor.cc",
        {"space_name": "host"},
    ),
    Wording(
        "allocation",
        "pinned host",
        r"[Cc]ould not allocate pinned host (?:memory )?of size:?"
        r" (?P<requested_bytes>S)",
        "could not allocate pinned host memory of size: 34359738368",
        f"{_XLA} stream_executor/integrations/device_host_allocator.h,"
        " stream_executor_allocator.cc",
        {"space_name": "host", "operation": "pinned host memory"},
    ),
    Wording(
        "allocation",
        "to allocate",
        r"[Ff]ailed to allocate (?P<requested_bytes>S)(?: bytes)? for new constant",
        "Failed to allocate 98697216 bytes for new constant",
        f"{_XLA} service/gpu/gpu_executable.cc",
        {"operation": "a constant of the program"},
    ),
    Wording(
        "allocation",
        "scratch allocation",
        r"(?:[Aa]utotuning failed for HLO: (?P<buffer_label>.{1,4000}?) with error:"
        r".{0,400}?)?[Ss]cratch allocation of (?P<requested_bytes>U) failed",
        "Autotuning failed for HLO: %cudnn-conv.7 = (f32[64,256]{1,0}, u8[0]{0})"
        " custom-call(%copy.1) with error: NOT_FOUND: No valid config found! Errors:"
        " RESOURCE_EXHAUSTED: Scratch allocation of 12.50GiB failed",
        "XLA:GPU autotuner, as public logs show it",
        {"operation": "scratch memory to tune a kernel"},
    ),
    Wording(
        "allocation",
        "attempting to",
        rf"{_LOADING}[Aa]ttempting to (?:allocate|reserve) (?P<requested_bytes>U)"
        rf"(?: at the (?:bottom|top) of memory)?{_FREE}",
        "Error loading program 'jit_prefill': Attempting to reserve 26.25G at the"
        " bottom of memory. That was not possible. There are 25.52G free, 0B reserved,"
        " and 25.52G reservable.",
        "E0100 and E0101, openxla.org/xla/errors/error_0100 and error_0101",
        {"space_name": "hbm"},
    ),
    Wording(
        "allocation",
        "oom when allocating",
        r"OOM when allocating tensor with shape ?(?P<tensor_shape>\[[0-9, ]{0,200}\])"
        r"(?: and type (?P<tensor_type>\w{1,20}))?"
        r"(?: on (?P<device_name>[/\w:.]{1,200}))?"
        r"(?: by allocator (?P<allocator_name>[\w.\-]{1,80}))?",
        "OOM when allocating tensor with shape[320000,512] and type float on"
        " /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Mul]",
        "tensorflow/core/framework/op_kernel.cc",
    ),
    Wording(
        "allocation",
        "tried to allocate",
        r"(?:CUDA|HIP|XPU|MPS)(?: error:?)? (?:backend )?out of memory\b.{0,400}?"
        r"Tried to allocate (?P<requested_bytes>U)(?:[. ]{1,2}\(?GPU [0-9]{1,4}"
        r"(?:;| has a total capacity of) (?P<device_bytes>U)(?: total capacity)?"
        r"(?:; (?P<in_use_bytes>U) already allocated; (?P<free_bytes>U) free| of which"
        r" (?P<device_free_bytes>U) is free)?)?",
        "CUDA out of memory. Tried to allocate 52.00 MiB (GPU 0; 79.20 GiB total"
        " capacity; 752.52 MiB already allocated; 27.25 MiB free; 886.00 MiB reserved"
        " in total by PyTorch)",
        "pytorch c10/cuda/CUDACachingAllocator.cpp",
        {"allocator_name": "PyTorch"},
    ),
    Wording(
        "allocation",
        "unable to allocate",
        r"Unable to allocate (?P<requested_bytes>U) for an array with shape"
        r" (?P<buffer_shape>\([0-9, ]{0,200}\))(?: and data type [\w<>=|]{1,40})?",
        "Unable to allocate 12.5 GiB for an array with shape (40960, 40960) and data"
        " type float64",
        "numpy/_core/_exceptions.py",
        {"space_name": "host", "operation": "an array of NumPy"},
    ),
    Wording(
        "allocation",
        "alloc",
        r"(?:[Ff]ailed to alloc(?:ate)?|[Uu]nable to allocate|[Cc](?:ould not|annot"
        r"|an't) allocate) (?:(?P<requested_exact>N) bytes\b|(?P<requested_bytes>U))",
        "Failed to allocate 172.000MB (usage: tensors) on ND 0:NC 0",
        "any allocator",
    ),
    Wording(
        "killed",
        "killed process",
        r"[Kk]illed process (?P<process>[0-9]{1,10}) ?\((?P<operation>[^)]{1,80})\)"
        r"(?:.{0,200}?anon-rss:(?P<used_bytes>[0-9]{1,15} ?kB))?",
        "Out of memory: Killed process 4242 (python3) total-vm:98765432kB,"
        " anon-rss:65432100kB, file-rss:0kB",
        "linux mm/oom_kill.c",
        {"space_name": "host"},
    ),
    Wording(
        "killed",
        "memory on the node",
        r"[Mm]emory on the node\b.{1,400}? was (?P<in_use_bytes>U)"
        r" / (?P<limit_bytes>U)"
        r"(?: \([0-9.]{1,9}\), which exceeds the memory usage threshold of"
        r" [0-9.]{1,9})?",
        "Memory on the node (IP: 10.0.0.1, ID: ab12) where the task (actor ID: cd34,"
        " memory used=41.50GB) was running was 60.75GB / 62.50GB (0.972), which"
        " exceeds the memory usage threshold of 0.95.",
        "ray/_private/memory_monitor.py",
        {"space_name": "host"},
    ),
    Wording(
        "killed",
        "oom",
        r"\b[Rr]eason\"?[:=]\s*\"?OOMKilled\b"
        r"|[Dd]etected [0-9]{1,9} oom[-_]kill event"
        r"(?:.{1,80}? have been OOM Killed)?",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0. Some of the"
        " step tasks have been OOM Killed.",
        "Kubernetes' container states; Slurm's slurmstepd",
        {"space_name": "host"},
    ),
    # --- Runtimes: calls that failed for want of memory -----------------------------
    Wording(
        "allocation",
        "cubin",
        r"[Ff]ailed to load in-memory CUBIN(?: \([^()]{1,80}\))?[.:]{0,2} ?:?"
        r" ?CUDA_ERROR_OUT_OF_MEMORY",
        "Failed to load in-memory CUBIN (compiled for a different GPU?).:"
        " CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        f"{_XLA} stream_executor/cuda/cuda_executor.cc",
        {"operation": "loading the code of a kernel (CUBIN)"},
    ),
    Wording(
        "allocation",
        "out of memory",
        r"(?:(?P<source_place>[\w./\-]{1,120}\.(?:cc|cpp|cu|h|py):[0-9]{1,6}): )?"
        r"operation (?P<operation>[\w:<>() ]{1,120}?) failed: out of memory",
        "solver_kernels_ffi.cc:452: operation hipGetLastError() failed: out of memory",
        "jax jaxlib/gpu/gpu_kernel_helpers.cc",
    ),
    Wording(
        "allocation",
        "_status_",
        r"\b(?P<operation>CU(?:BLAS|DNN|SOLVER|SPARSE|FFT)|MIOPEN|ROCBLAS|HIPBLAS)"
        r"_STATUS_(?:ALLOC_FAILED|NOT_ENOUGH_MEMORY)",
        "cuDNN launch failure: CUDNN_STATUS_ALLOC_FAILED",
        "the libraries' status codes",
    ),
    Wording(
        "allocation",
        "failed",
        r"(?P<operation>\b(?:cu|cuda|hip|nccl|rccl)[A-Z]\w{2,60}(?:\(\))?) (?:call )?"
        r"failed[: ].{0,200}?(?:CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation"
        r"|hipErrorOutOfMemory|out of memory)",
        "cuGraphInstantiate failed: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "CUDA and ROCm runtimes",
    ),
    Wording(
        "allocation",
        "failed call to",
        r"failed call to (?P<operation>\w{2,60})(?:\(\))?: ?(?:CUDA_ERROR_OUT_OF_MEMORY"
        r"|hipErrorOutOfMemory|out of memory)(?:[^;]{0,80}; total memory reported:"
        r" (?P<device_bytes>N))?",
        "failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of"
        " memory; total memory reported: 34089730048",
        f"{_XLA} stream_executor/cuda/cuda_context.cc",
    ),
    Wording(
        "allocation",
        "nccl operation",
        r"NCCL operation (?P<operation>\w{2,60}).{0,200}? failed: .{0,400}?out of"
        r" memory(?:.{0,200}?\bhlo_module ?=(?P<program_name>[\w.<>\-]{1,300}))?",
        "NCCL operation ncclCommInitRank(&comm, nranks, id, rank) failed: unhandled"
        " cuda error (run with NCCL_DEBUG=INFO for details). Last NCCL warning(error)"
        " log entry (may be unrelated) 'Cuda failure 2 'out of memory''.; current"
        " tracing scope: all-reduce-start.285; current profiling annotation:"
        " XlaModule:#hlo_module=pjit_step_fn,program_id=25#.",
        f"{_XLA} backends/gpu/collectives/nccl_errors.h",
    ),
    Wording(
        "allocation",
        "alloc",
        r"(?:\b(?=\w{4,24} allocation failed)"
        r"|[Uu]nable to allocate (?=.{0,8}workspace))"
        r"(?P<operation>(?:cu|hip|roc)[A-Za-z]{2,20}(?= allocation failed)"
        r"|(?:device |host )?workspace for \w{1,80})",
        "RESOURCE_EXHAUSTED: cuSolver allocation failed",
        f"{_XLA} stream_executor/cuda/cuda_solver_context.cc, jax"
        " jaxlib/gpu/solver_kernels_ffi.cc",
    ),
    # --- Failures that look like it --------------------------------------------------
    Wording(
        "input_mismatch",
        "incompatible size",
        r"Executable\((?P<program_name>[^()]{1,300})\) expected parameter"
        r" (?P<parameter_number>N) of size (?P<expected_bytes>N)"
        r" \((?P<expected_shape>.{1,400}?)\) but got buffer with incompatible size"
        r" (?P<given_bytes>N)(?: \((?P<given_shape>.{1,400}?)\)(?=[:.,;]|$| while))?",
        "Executable(jit_step) expected parameter 2482 of size 5242880"
        " (bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}) but got buffer with incompatible size"
        " 1638400 (bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}): while running replica 0",
        "E0102, openxla.org/xla/errors/error_0102",
    ),
    Wording(
        "host_offload",
        "moved to host",
        r"Tensor which is moved to host \(starting from"
        r" (?P<buffer_label>[^()]{1,300})\) is returned from the entry computation"
        r" but the layout for this output is not set to host memory",
        "Tensor which is moved to host (starting from tuple.64) is returned from the"
        " entry computation but the layout for this output is not set to host memory.",
        "E1200, openxla.org/xla/errors/error_1200",
        {"space_name": "host"},
    ),
)
"""In a message the wording that begins first counts; of two, the one listed first."""

PROGRAMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"executable_name ?= ?\\?['\"]([^'\"\\\s]{1,300})\\?['\"]",
        r"[Ee]rror loading program '([^']{1,300})'",
        r"\bExecutable\(([\w.<>\-]{1,300})\)",
        r"HLO module:? ?'?([\w<>\-]{1,300}(?:\.[\w<>\-]{1,300}){0,20})",
        r"(?:running|executing|compiling|loading)(?: the)?"
        r" (?:program|module|executable) '([^']{1,300})'",
    )
)
"""How messages name the program that failed."""

ERROR_CODE = re.compile(r"\bE([0-9]{4}): ")
"""XLA's own number of an error, `xla/error/error_codes.h`."""

KNOWN_ADVICE = re.compile(
    r"^Hint: |report_tensor_allocations_upon_oom|exceeds 10% of (?:free )?system memory"
    r"|TF_GPU_ALLOCATOR=|^See https?://|openxla\.org/xla/errors|PYTORCH_CUDA_ALLOC_CONF"
    r"|PYTORCH_ALLOC_CONF|XLA_PYTHON_CLIENT_|^BFCAllocator dump|garbage collection"
    r"|[Ii]t should not be possible to run out of|oom_score_adj|report_oom"
    r"|xla_tpu_impure_oom_fast_exit_threshold"
    r"|[Ii]f you (?:are running|run) out of memory"
)
"""What messages add and users say of it; it tells of no failure."""

ERROR_SPACE = re.compile(r"CompileTime(?:Scoped)?(Hbm|Vmem|Smem)Oom\b")
"""Names of errors that name a memory space."""

_MEMORY = r"(?:memory|ram|hbm|vmem|smem|tmem|spmem|sram|dram)"
SUSPECT = re.compile(
    r"RESOURCE_EXHAUSTED|[Rr]esource ?[Ee]xhausted|OUT_OF_MEMORY|OutOfMemory"
    r"|\bOOM(?:s|ed|ing)?\b|\b[A-Za-z]*(?:Hbm|Vmem|Smem|Host)O[Oo][Mm]\b"
    r"|\b[A-Za-z]*O[Oo][Mm]\b:|bad_alloc|MemoryError|MemoryAllocation|ALLOC_FAILED"
    rf"|(?i:out of (?:resources?: )?(?:\w{{1,20}} ){{0,2}}{_MEMORY}\b|oom[-_ ]?kill"
    # What failed is an allocation, or it failed to allocate.
    r"|\bfail(?:s|ed|ure|ing)?\b.{0,120}alloc|alloc.{0,40}\bfail"
    r"|alloc\w{0,20}fail(?:ed|ure)|failed to pin\b"
    r"|(?:can ?not|could not|can't|unable to|not able to) (?:re)?alloc"
    # There is too little of it.
    rf"|(?:not enough|insufficient|low on|short of|lack of) (?:\w{{1,20}} ){{0,2}}"
    rf"{_MEMORY}\b|\bno (?:available|free|more|remaining) (?:\w{{1,20}} )?{_MEMORY}"
    rf"|\bus(?:es|ed|ing) (?:up )?all (?:the )?(?:available )?{_MEMORY}\b"
    rf"|\bkill(?:s|ed|ing)?\b.{{0,60}}\b(?:mem|{_MEMORY})\b"
    rf"|\b(?:mem|{_MEMORY})\b.{{0,60}}\bkill(?:s|ed|ing)?\b"
    rf"|low on resource: memory|{_MEMORY} pressure|{_MEMORY} out of bound"
    rf"|(?:exceed(?:s|ed|ing)?|(?:larger|more|greater) than) .{{0,40}}\b{_MEMORY}\b"
    rf"|\bagainst .{{0,40}}\b{_MEMORY} limit|exceed(?:s|ed|ing)? \w{{1,20}} capacity"
    rf"|\b{_MEMORY}\b.{{0,60}}\bexceed(?:s|ed|ing)?\b)"
)
"""Words of lines that tell of a shortage of memory, in whatever wording."""

MARKS: tuple[str, ...] = (
    *("EXHAUSTED", "xhausted", "OUT_OF_MEMORY", "OfMemory", "ut of memory"),
    *("memory space", "OOM", "Oom", "BufferAssignment", "iled to alloc", "o allocate"),
    *("to reserve", "xceed", " usage >= ", "requirement ", "reduce memory use"),
    *("ize_in_bytes", "emory size: ", "ALLOC_FAILED", "bad_alloc", "MemoryError"),
    *("MemoryAllocation", "hared memory", "TPU program", "cate memory", "not allocate"),
    *(
        "e to allocate",
        "host memory",
        "incompatible size",
        "moved to host",
        "to realloc",
    ),
    *("ough memory", "ufficient memory", "HLO temporaries", "ut of host memory"),
    *("use more than", "illed process", "cratch allocation", "AllocationFailure"),
    *("ut of device memory", "ut of Memory", "UT OF MEMORY", "Peak buffers:"),
    *("Largest program ", "ttempting to", "llocation fail", "llocation Fail"),
    *("lloc fail", "oom-kill", "oom_kill", "emory pressure", "resource: memory"),
    *("emory out of bound", "ed to pin ", "to have enough", "XLA::TPU"),
    *("ut of\n", "\nof memory", "memory allocating", "il to alloc", "suballocation"),
    *("ed memory alloc", "allocation_size_words", "allocation_bytes", "emory exceed"),
    *("vailable memory", "cache memory", "evice resources", "esource: ", "esources: "),
    *(" capacity by ", "emory limit", "VMEM limit", "emory on the node", "PA budget"),
    *("emory requested exceeds", "ace to allocate", "emory: smem_bytes", "ned host of"),
    *("able RAM", "ob killed", "emory usage limit", "all memory"),
)
"""Pieces of which a text holds one where it tells anything of a shortage of memory."""

FIRST_MARKS: tuple[str, ...] = (
    *("emory", "EMORY", "lloc", "LLOC", "xhaust", "XHAUST", "OOM", "oom", "Oom"),
    *("xceed", " usage >= ", "m requirement ", "ize_in_bytes", "XLA::TPU"),
    *("incompatible size", "moved to host", "use more than", "Peak buffers:"),
    *("Largest program ", "ttempting to", " RAM", "ob killed", "ned host of"),
)
"""Shorter pieces, which are looked for first: each of MARKS stands beside one."""
