"""Define every number of a report: its unit, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass

from hlodb.rules import rule_rows


@dataclass(frozen=True, slots=True)
class Metric:
    """A number used above: unit, which way is better, and its definition."""

    name: str
    unit: str
    polarity: str
    definition: str


METRICS = (
    Metric(
        "reserved_bytes",
        "bytes",
        "lower_is_better",
        "Sum of the sizes of all allocations of a module in one memory space. Never"
        " summed over memory spaces.",
    ),
    Metric(
        "live_peak_bytes",
        "bytes",
        "lower_is_better",
        "Most bytes live at one step: the union of addresses of live temporary values,"
        " plus parameters, constants and results while they hold anything.",
    ),
    Metric(
        "fragmentation_bytes",
        "bytes",
        "lower_is_better",
        "Sizes of temporary allocations minus the most temporary bytes live at once,"
        " and minus the scoped memory of TPU kernels.",
    ),
    Metric(
        "padding_bytes",
        "bytes",
        "lower_is_better",
        "Room beyond the data of what is live at the peak.",
    ),
    Metric(
        "delta_bytes",
        "bytes",
        "lower_is_better",
        "Candidate minus base. The parts of a finding add up to it: residual_bytes is"
        " what they leave unexplained, and is 0.",
    ),
    Metric(
        "delta_ratio", "ratio", "lower_is_better", "delta_bytes divided by the base."
    ),
    Metric(
        "noise_band_bytes",
        "bytes",
        "neutral",
        "How far the memory of one program differs where a run compiled it more than"
        " once, in the base and the runs before the candidate; smaller differences do"
        " not alert. 0 where nothing was compiled twice.",
    ),
    Metric(
        "blame",
        "name",
        "neutral",
        "Likely origin of a change: program (your code, or what JAX and the like"
        " make of it), environment (compiler flags), or the part of XLA that made the"
        " difference (partitioner, fusion, layout, scheduler, packing, optimisation).",
    ),
    Metric(
        "cause_share",
        "ratio",
        "higher_is_better",
        "Bytes of the part that the cause names, as a share of all parts that go the"
        " same way; a part counts as one sum over all kinds of allocation. Where the"
        " cause is edits of the source, the bytes that follow from these, as a share of"
        " the difference.",
    ),
    Metric(
        "standing",
        "name",
        "neutral",
        "How sure a claim is. proven: rows of the warehouse show it, such as bytes at"
        " the edited line, or an edit that is all that differs. likely: a rule says so"
        " that was mostly right in compiled pairs, or all other edits move memory the"
        " other way. Bytes that follow from neither are unexplained.",
    ),
    Metric(
        "attribution",
        "name",
        "neutral",
        "Whose line a buffer is shown with: its own (defined) or, where XLA names none,"
        " that of the first instruction that reads it (read).",
    ),
    Metric(
        "relevance",
        "bytes",
        "lower_is_better",
        "delta_bytes times the program's weight times the share of the device's memory"
        " in use (1 where the device's memory is not known).",
    ),
    Metric(
        "match_confidence",
        "ratio",
        "higher_is_better",
        "How sure it is that both sides are the same program or buffer; match_method"
        " says by what.",
    ),
)


def part_metrics() -> list[Metric]:
    """Return the parts of a difference as metrics."""
    rows = rule_rows("difference_parts")
    return [Metric(part, "bytes", "neutral", f"{text}.") for part, text in rows]
