"""Draw how a program's memory grows with a size, up to the limit of the device."""

from __future__ import annotations

from hlodb.reports.document.blocks import Table, table
from hlodb.reports.judge.names import memory
from hlodb.reports.pictures.picture import Picture
from hlodb.reports.pictures.svg import (
    WIDTH,
    Axis,
    across,
    byte_axis,
    count_axis,
    element,
    label,
    line,
    pixel,
    upward,
)
from hlodb.reports.read.scaling import ScalingLaw
from hlodb.text import few, plain_bytes, signed_bytes

_LEFT, _RIGHT = 64, WIDTH - 36
_TOP, _BOTTOM = 56, 256
_PIECES = 48
"""A law is drawn in so many straight pieces."""


def draw_scaling(law: ScalingLaw, name: str) -> Picture:
    """Draw the sizes that were compiled, the law, the limit and the largest size."""
    greatest = law.points[-1].size
    end = max(greatest, law.largest_size or 0)
    sizes = count_axis(end, "", _LEFT, _RIGHT)
    most = max(round(law.bytes_at(sizes.high)), *(p.bytes for p in law.points))
    up = byte_axis([0, most, law.limit_bytes or 0], _BOTTOM, _TOP)
    drawing = upward(up, f"reserved memory ({up.unit})", _LEFT, _RIGHT)
    drawing += across(sizes, f"size n of {_axis(law)}", _BOTTOM, _BOTTOM)
    drawing += _curve(law, 0, greatest, sizes, up, "curve candidate")
    drawing += _curve(law, greatest, sizes.high, sizes, up, "curve base")
    drawing += "".join(
        element(
            "circle",
            cx=sizes.at(p.size),
            cy=up.at(p.bytes),
            r=4,
            class_="mark candidate",
        )
        for p in law.points
    )
    drawing += _limit(law, sizes, up)
    drawing += _keys()
    who = f"{law.program} {memory(law)}"
    title = "Memory over a size"
    return Picture(
        name, title, f"{who}: {_sentence(law)}", _BOTTOM + 42, drawing, _figures(law)
    )


def _axis(law: ScalingLaw) -> str:
    """Return `4[0], 5[0] (parameter[dimension])`, and at which sizes of the others."""
    others = f" at {law.other_axes}" if law.other_axes else ""
    return f"{law.axis} (parameter[dimension]){others}"


def _curve(
    law: ScalingLaw, first: float, last: float, across: Axis, up: Axis, kind: str
) -> str:
    """Draw the law from size to size; a line that is straight is one piece."""
    if last <= first:
        return ""
    count = _PIECES if law.quadratic_bytes else 1
    corners = []
    for number in range(count + 1):
        size = first + (last - first) * number / count
        corners.append(f"{pixel(across.at(size))} {pixel(up.at(law.bytes_at(size)))}")
    return element("path", d="M" + "L".join(corners), class_=kind)


def _limit(law: ScalingLaw, sizes: Axis, up: Axis) -> str:
    """Draw the limit, and the largest size down from where the law meets it."""
    if law.limit_bytes is None:
        return ""
    y = up.at(law.limit_bytes)
    text = f"limit {plain_bytes(law.limit_bytes)}"
    drawn = line(_LEFT, y, _RIGHT, y, "limit") + label(_LEFT + 6, y - 6, text)
    if law.largest_size is None:
        return drawn
    x, top = sizes.at(law.largest_size), up.at(law.bytes_at(law.largest_size))
    drawn += line(x, top, x, _BOTTOM, "moment")
    side = "label end" if x > WIDTH / 2 else "label"
    shift = -6 if x > WIDTH / 2 else 6
    return drawn + label(x + shift, _BOTTOM - 8, f"{law.largest_size:,} fits", side)


def _keys() -> str:
    keys = (
        ("curve candidate", "law, between sizes that were compiled"),
        ("curve base", "foretold"),
    )
    drawn, x = "", _LEFT
    for kind, text in keys:
        drawn += line(x, 12, x + 28, 12, kind) + label(x + 36, 16, text)
        x += 330
    return drawn


def _sentence(law: ScalingLaw) -> str:
    sizes = few([f"{point.size:,}" for point in law.points], 12)
    text = (
        f"{_formula(law)} of reserved memory, n being the size of {_axis(law)};"
        f" {_accuracy(law)} at the sizes that were compiled ({sizes})."
    )
    if law.limit_bytes is None:
        return text
    limit = plain_bytes(law.limit_bytes)
    if law.largest_size is None:
        return f"{text} It does not grow, and the limit is {limit}."
    fits = f"The largest that fits in {limit} is {law.largest_size:,}"
    return f"{text} {fits}{_surely(law)}."


def _accuracy(law: ScalingLaw) -> str:
    off = law.max_residual_bytes
    return f"at most {plain_bytes(off)} off" if off else "exact"


def _surely(law: ScalingLaw) -> str:
    greatest = law.points[-1].size
    is_beyond = (law.largest_size or 0) > greatest
    return f", though {greatest:,} is the largest compiled" if is_beyond else ""


def _formula(law: ScalingLaw) -> str:
    """Return `1.20 GiB + 12.00 MiB · n + 3.5 B · n²`."""
    terms = [plain_bytes(law.constant_bytes)] if law.constant_bytes else []
    for factor, power in ((law.linear_bytes, "n"), (law.quadratic_bytes, "n²")):
        if factor:
            size = plain_bytes(round(factor)) if factor >= 1024 else f"{factor:g} B"
            terms.append(f"{size} · {power}")
    return " + ".join(terms) or "0 B"


def _figures(law: ScalingLaw) -> Table:
    """Return the compiled sizes, then the largest that fits."""
    rows = []
    for point in law.points:
        said = round(law.bytes_at(point.size))
        off = signed_bytes(point.bytes - said)
        rows.append(
            [f"{point.size:,}", plain_bytes(point.bytes), plain_bytes(said), off]
        )
    if law.largest_size is not None:
        said = round(law.bytes_at(law.largest_size))
        rows.append([f"{law.largest_size:,}", "-", plain_bytes(said), "-"])
    header = ["size", "compiled", "by the law", "difference"]
    return table(header, rows, numeric=(0, 1, 2, 3))
