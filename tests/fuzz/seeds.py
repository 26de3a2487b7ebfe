"""What fuzzing begins with: real files of every kind, small ones."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path

from hlodb.ingest.formats.logs.wordings import WORDINGS
from hlodb.ingest.sources.discover import discover
from tests.conftest import DATA, DUMPS
from tests.ingest.dumps import COMPRESSIONS, packed_tar, packed_zip

LARGEST_BYTES = 40_000
_MOST_OF_A_KIND = 12
COMPACT = DATA / "compact" / "cpu-jaxlib-0.12.0.tar.xz"
_SOURCES = (
    DATA / "seeds",
    COMPACT,
    DATA / "newest" / "cpu-jaxlib-0.12.0.1.tar.xz",
    DATA / "newest" / "opcodes-jaxlib-0.12.0.1.tar.xz",
    DATA / "newest" / "plain-cpu-jaxlib-0.12.0.1.tar.xz",
    DATA / "moved_lines" / "before",
    *sorted((DATA / "proto").glob("*.tar.xz")),
    DUMPS / "cpu" / "jaxlib-0.4.13.tar.xz",
    DUMPS / "cpu" / "jaxlib-0.10.2.tar.xz",
    DUMPS / "tpu" / "v5e-jax-0.10.2.tar.xz",
    DATA / "cache" / "jaxlib-0.10.2.tar.xz",
    DATA / "cache" / "h100-jaxlib-0.10.2.tar.xz",
    DATA / "cache" / "as-text.tar.xz",
)
FOUND = Path(__file__).parent / "found"
"""Inputs that did harm: `found/TARGET/NAME`, each tried in every test run.

Mended, they become a case of ONCE_HARMFUL in test_fuzz.py, as small as they can be.
"""

_PLACED_VALUES = b"""\
BufferAssignment:
allocation 0: 0x7f481015d4d0, size 64, maybe-live-out:
  0 p @0, positions:
  p
  t {0}
 uses:
  while.1, operand 0 {0}
 [0,64]: f32[16]{0}
  3 PHI while.1{0} @0, positions:
  while.1 {0}
 uses:
 [0,64]: f32[16]{0}
"""
_OOM = b"""\
2026-11-01 12:00:00.000000: W xla/buffer_assignment.cc:1] x
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    6.00MiB
                 total allocation:   12.00MiB
Peak buffers:
\tBuffer 1:
\t\tSize: 6.00MiB
\t\tXLA Label: concatenate
\t\tShape: f32[4096,128,3]
\t\t==========================

Ran out of memory in memory space hbm. Used 41.19G of 15.75G hbm.
Total hbm usage >= 41.22G:
    reserved           4.0K
    program           41.19G
Program hbm requirement 41.22G:
    reserved           4.0K
    HLO temp         41.19G (100.0% utilization: Unpadded (1.00G) Padded (32.00G))
  Largest program allocations in hbm:
  1. Size: 32.00G
     Shape: s32[8388608,8,4]{2,1,0:T(4,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     XLA label: fusion = fusion(p), kind=kLoop, calls=f
     Allocation type: HLO temp
     ==========================
"""
_FRAMED = b"""\
*** Begin module_0001.jit_f.before_optimizations.txt ***
HloModule jit_f

ENTRY %main.1 (x.2: f32[3]) -> f32[3] {
  ROOT %x.2 = f32[3]{0} parameter(0)
}
*** End module_0001.jit_f.before_optimizations.txt ***
"""
_ANALYSIS = (
    b'[{"module": "jit_f", "argument_size_in_bytes": 4096, "temp_size_in_bytes": 0}]'
)
_METADATA = b"""\
canonical_module_id: 42
partitioned_module_ids: 43
pass_metadata {
  pass_id: 1
  pass_name: "algsimp"
  pipeline_name: "simplification"
  module_changed: true
  start_timestamp_usec: 1700000000000000
  end_timestamp_usec: 1700000000001500
  kv_metrics { key: "rewrites" value: 7 }
}
"""
_TPU_ENVIRONMENT = b"""\
xla_tpu_scoped_vmem_limit_kib: 16384
xla_jf_auto_cross_replica_sharding: false
xla_tpu_nested { mode: MODE_AUTO names: ["a", "b"] }
"""
_GPU = b"""\
gpu_device_info { threads_per_block_limit: 1024 cuda_compute_capability { major: 9 } }
platform_name: "CUDA"
device_description_str: "NVIDIA H100"
"""
_FLAGFILE = b"--xla_a=true\n--noxla_b\n--xla_c='x y'\n# no\n"


@lru_cache(maxsize=1)
def seeds() -> dict[str, list[bytes]]:
    """Return files by kind, in a fixed order; every kind that is parsed has some."""
    found: dict[str, list[bytes]] = defaultdict(list)
    for source in discover([str(path) for path in _SOURCES]):
        for unit in source.units():
            for file in unit.files:
                kind = found[file.recognised.kind]
                if len(file.data) <= LARGEST_BYTES and len(kind) < _MOST_OF_A_KIND:
                    kind.append(file.data)
    found["buffer_assignment"].append(_PLACED_VALUES)
    found["log"] += [_OOM, _FRAMED]
    pasted = [*(DATA / "oom_messages").iterdir(), *(DATA / "oom_collected").iterdir()]
    found["log"] += [path.read_bytes() for path in sorted(pasted)]
    found["log"] += [wording.sample.encode() for wording in WORDINGS]
    found["memory_analysis"].append(_ANALYSIS)
    found["flagfile"].append(_FLAGFILE)
    found["module_metadata"].append(_METADATA)
    found["tpu_comp_env"].append(_TPU_ENVIRONMENT)
    found["gpu_target_config"].append(_GPU)
    files = {"a.txt": found["hlo_text"][0], "b.txt": _FRAMED}
    found["archive"] += [packed_tar(files), packed_zip(files)]
    found["compressed"] += [pack(_OOM) for pack in COMPRESSIONS.values()]
    return dict(found)


def found_inputs(target: str) -> list[Path]:
    """Return the kept inputs of a target."""
    return sorted((FOUND / target).glob("*")) if (FOUND / target).is_dir() else []
