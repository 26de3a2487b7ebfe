"""The modules of the small archives that stand there as text and as message."""

from tests.ingest.formats.proto.proto_pairs import DATA, SETS, pairs

ALL = {pair.name: pair for name in SETS for pair in pairs(DATA / f"{name}.tar.xz")}
CG = ALL["module_0008.jit_cg.cpu_after_optimizations"]
MISC = ALL["module_0031.jit_misc.cpu_after_optimizations"]
