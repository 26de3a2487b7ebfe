"""The opcodes of XLA (openxla `hlo_opcode.h`), and what each needs in text."""

from __future__ import annotations

from collections.abc import Container

INFERABLE = frozenset(
    [
        "abs",
        "acos",
        "acosh",
        "add",
        "add-dependency",
        "after-all",
        "and",
        "asin",
        "asinh",
        "atan2",
        "atanh",
        "batch-norm-grad",
        "batch-norm-inference",
        "batch-norm-training",
        "broadcast",
        "call",
        "cbrt",
        "ceil",
        "cholesky",
        "clamp",
        "compare",
        "complex",
        "concatenate",
        "conditional",
        "convolution",
        "copy",
        "cosh",
        "cosine",
        "count-leading-zeros",
        "divide",
        "domain",
        "dot",
        "erf",
        "exp2",
        "exponential",
        "exponential-minus-one",
        "fft",
        "floor",
        "gather",
        "get-dimension-size",
        "get-tuple-element",
        "imag",
        "is-finite",
        "log",
        "log2",
        "log-plus-one",
        "logistic",
        "map",
        "maximum",
        "minimum",
        "mulhi",
        "multiply",
        "negate",
        "not",
        "opt-barrier",
        "or",
        "pad",
        "partition-id",
        "popcnt",
        "power",
        "ragged-dot",
        "real",
        "reduce",
        "reduce-window",
        "remainder",
        "replica-id",
        "reverse",
        "round-nearest-afz",
        "round-nearest-even",
        "rsqrt",
        "scaled-dot",
        "scan",
        "scatter",
        "select",
        "select-and-scatter",
        "set-dimension-size",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "shuffle",
        "sign",
        "sine",
        "sinh",
        "sort",
        "sqrt",
        "subtract",
        "tan",
        "tanh",
        "topk",
        "transpose",
        "triangular-solve",
        "tuple",
        "while",
        "xor",
    ]
)
"""Opcodes whose shape XLA infers where the text has none."""

OPCODES = INFERABLE | frozenset(
    [
        "all-gather",
        "all-gather-done",
        "all-gather-start",
        "all-reduce",
        "all-reduce-done",
        "all-reduce-start",
        "all-to-all",
        "async-done",
        "async-start",
        "async-update",
        "bitcast",
        "bitcast-convert",
        "collective-broadcast",
        "collective-permute",
        "collective-permute-done",
        "collective-permute-start",
        "collective-reduce",
        "constant",
        "convert",
        "copy-done",
        "copy-start",
        "custom-call",
        "dynamic-reshape",
        "dynamic-slice",
        "dynamic-update-slice",
        "fusion",
        "infeed",
        "iota",
        "outfeed",
        "parameter",
        "ragged-all-to-all",
        "recv",
        "recv-done",
        "reduce-precision",
        "reduce-scatter",
        "reshape",
        "rng",
        "rng-bit-generator",
        "rng-get-and-update-state",
        "send",
        "send-done",
        "slice",
        "stochastic-convert",
    ]
)

_NUMBERS = {
    0: """
        constant iota parameter partition-id replica-id rng-get-and-update-state
    """,
    1: """
        abs acos acosh all-gather-done all-reduce-done asin asinh atanh bitcast
        bitcast-convert broadcast cbrt ceil cholesky collective-permute-done convert
        copy copy-done copy-start cosh cosine count-leading-zeros domain erf exp2
        exponential exponential-minus-one fft floor get-dimension-size get-tuple-element
        imag infeed is-finite log log2 log-plus-one logistic negate not opt-barrier
        popcnt real recv recv-done reduce-precision reshape reverse round-nearest-afz
        round-nearest-even rsqrt send-done shuffle sign sine sinh slice sqrt tan tanh
        topk transpose while
    """,
    2: """
        add add-dependency and atan2 compare complex convolution divide gather
        maximum minimum mulhi multiply or outfeed pad power remainder send
        set-dimension-size shift-left shift-right-arithmetic shift-right-logical
        stochastic-convert subtract triangular-solve xor
    """,
    3: """
        batch-norm-training clamp ragged-dot select select-and-scatter
    """,
    4: """
        scaled-dot
    """,
    5: """
        batch-norm-grad batch-norm-inference
    """,
}
OPERANDS = {op: n for n, names in _NUMBERS.items() for op in names.split()}
"""How many operands opcodes have that always have so many."""

ANY_NUMBER = -1
"""Stands for operands whose number the opcode does not tell."""

NEEDED = {
    "all-gather": ("dimensions",),
    "all-gather-start": ("dimensions",),
    "all-reduce": ("to_apply",),
    "all-reduce-start": ("to_apply",),
    "async-start": ("calls",),
    "batch-norm-grad": ("epsilon", "feature_index"),
    "batch-norm-inference": ("epsilon", "feature_index"),
    "batch-norm-training": ("epsilon", "feature_index"),
    "call": ("to_apply",),
    "collective-permute": ("source_target_pairs",),
    "collective-permute-start": ("source_target_pairs",),
    "collective-reduce": ("to_apply",),
    "compare": ("direction",),
    "concatenate": ("dimensions",),
    "convolution": ("dim_labels",),
    "custom-call": ("custom_call_target",),
    "domain": ("domain",),
    "dynamic-slice": ("dynamic_slice_sizes",),
    "fft": ("fft_length",),
    "fusion": ("calls", "kind"),
    "gather": ("collapsed_slice_dims",),
    "get-dimension-size": ("dimensions",),
    "get-tuple-element": ("index",),
    "iota": ("iota_dimension",),
    "map": ("to_apply",),
    "pad": ("padding",),
    "reduce": ("dimensions", "to_apply"),
    "reduce-precision": ("exponent_bits", "mantissa_bits"),
    "reduce-scatter": ("dimensions", "to_apply"),
    "reduce-window": ("to_apply",),
    "reverse": ("dimensions",),
    "rng": ("distribution",),
    "rng-bit-generator": ("algorithm",),
    "rng-get-and-update-state": ("delta",),
    "scan": ("dimensions",),
    "scatter": ("index_vector_dim",),
    "select-and-scatter": ("scatter", "select"),
    "set-dimension-size": ("dimensions",),
    "shuffle": ("dimensions", "mode"),
    "slice": ("slice",),
    "sort": ("dimensions", "to_apply"),
    "topk": ("k",),
    "transpose": ("dimensions",),
    "while": ("body", "condition"),
}
"""Attributes that opcodes never lack."""

_ASYNC_FORMS = ("start", "update", "done")


def wrapped_opcode(opcode: str) -> str | None:
    """Return `fusion` for `fusion-start`, None where a word is an opcode itself.

    Also None for what is neither: later releases of XLA have more opcodes.
    """
    if opcode in OPCODES:
        return None
    wrapped, _, form = opcode.rpartition("-")
    return wrapped if form in _ASYNC_FORMS and wrapped in OPCODES else None


def fault_of_operands(opcode: str, count: int) -> str:
    """Return a fault in the number of operands; empty where there is none."""
    number = OPERANDS.get(opcode, count)
    if count == number:
        return ""
    return f"expected {number} operand{'s' * (number != 1)} of {opcode}, not {count}"


def fault_of_attributes(opcode: str, given: Container[str]) -> str:
    """Return the fault of a missing attribute; empty where none is missing."""
    missing = [name for name in NEEDED.get(opcode, ()) if name not in given]
    return f"expected the attribute {missing[0]} of {opcode}" if missing else ""
