"""Figures of `python -m bench` as Markdown tables, held to the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]

TARGETS = {
    "passes": (2.5, 0.12),
    "wide_passes": (2.5, 0.12),
    "distinct": (1.2, 0.18),
    "large": (1.2, 0.18),
}
"""Throughput against XLA's parser at least, and size against the text at most."""

_MEMORY_BYTES = 1.5e9
_SINGLE_TIMES = 8
_MEMORY_TIMES = 4.5
"""Of a large file's size, at most, beyond what a small dump takes."""
_AGAIN_RATE = 300
_AGAIN_SECONDS = 1
_MANY_BYTES = 50e6
"""Of fewer, most of the time is the start of a process."""
_MANY_FILES = 100
"""Of fewer files, the time for each says nothing."""

_UNCHANGED_RATIO, _MOVED_RATIO = 0.005, 0.05
_LINEAR = 1.0
_EXPLAIN_SECONDS, _EXPLAIN_TIMES = 1.5, 2


def tables(results: Mapping[str, Figures]) -> str:
    """Return the tables of all measured cases, with the time and place of each."""
    parts = [
        f"{_speed(name, figures)}\n{_circumstances(figures)}\n"
        for name, figures in results.items()
        if "sides" in figures
    ]
    if "nights" in results:
        parts.append(_nights(results["nights"]))
    if "scaling" in results:
        parts.append(_scaling(results["scaling"]))
    if "explain" in results:
        parts.append(_explain(results["explain"]))
    if "memory" in results:
        parts.append(_memory(results["memory"]))
    return "\n".join(parts)


def swollen(figures: Figures) -> list[str]:
    """Return the kinds of large file that need more memory than they may."""
    return [
        kind
        for kind, found in figures["files"].items()
        if found["bytes"] >= _MANY_BYTES and found["times"] > _MEMORY_TIMES
    ]


def _memory(figures: Figures) -> str:
    rows = [
        (
            kind,
            f"{found['bytes'] / 1e6:.1f}",
            f"{found['peak_bytes'] / 1e6:.0f}",
            f"{found['times']:.1f}",
        )
        for kind, found in figures["files"].items()
    ]
    heads = ("one large file", "MB", "peak MB", "times")
    return (
        f"### Memory\n\n{_table(heads, rows)}\n\nTimes the file's size, beyond the"
        f" {figures['small_peak_bytes'] / 1e6:.0f} MB that a small dump takes; at most"
        f" {_MEMORY_TIMES}.\n"
    )


def _circumstances(figures: Figures) -> str:
    machine = figures["machine"]
    return (
        f"Measured {figures['measured_at'][:10]} on {machine['cores']} cores of"
        f" {machine['processor']}, Python {machine['python']}, DuckDB"
        f" {machine['duckdb']}; medians of {figures['rounds']} rounds."
    )


def _speed(name: str, figures: Figures) -> str:
    given, sides = figures["input"], figures["sides"]
    rows = [
        (
            side,
            f"{found['seconds']:.2f}",
            f"{_rate(given, found):.1f}",
            f"{found['cpu_seconds']:.2f}",
            f"{found['peak_bytes'] / 1e6:.0f}",
            f"{found['others_ratio']:.0%}",
        )
        for side, found in sides.items()
    ]
    size = (
        f"{given['title']}: {given['files']:,} files, {given['bytes'] / 1e6:.1f} MB,"
        f" {given['runs']} runs"
    )
    missing = f"\n\nMissing, and so taken smaller: {given['missing']}."
    heads = ("side", "seconds", "MB/s", "CPU seconds", "peak MB", "others' CPU")
    lines = [f"- {line}" for line in _verdicts(name, figures)]
    return (
        f"### {size}\n\n{_table(heads, rows)}\n\n"
        + "\n".join(lines)
        + (missing if given["missing"] else "")
        + "\n"
    )


def _rate(given: Figures, found: Figures) -> float:
    """Return MB of the input a second; of XLA's parser, of its parsing alone."""
    own = found.get("parser")
    if own:
        return float(own["bytes"] / own["seconds"] / 1e6)
    return float(given["bytes"] / found["seconds"] / 1e6)


def _verdicts(name: str, figures: Figures) -> Iterator[str]:
    given, sides = figures["input"], figures["sides"]
    times, share = TARGETS.get(name, (None, None))
    if "XLA's parser" in sides:
        xla = sides["XLA's parser"]
        for side in ("hlodb", "hlodb, new warehouse"):
            ratio = _rate(given, sides[side]) / _rate(given, xla)
            whole = xla["seconds"] / sides[side]["seconds"]
            yield (
                f"{side}: {ratio:.2f} times XLA's parser"
                f"{_held(times is None or ratio >= times, times, 'at least')};"
                f" as whole processes {whole:.2f} times as fast"
            )
    ratio = figures["warehouse_bytes"] / given["bytes"]
    small = figures["compact_bytes"] / given["bytes"]
    yield (
        f"warehouse: {ratio:.1%} of the text"
        f"{_held(share is None or ratio <= share, share, 'at most')};"
        f" {small:.1%} after `hlodb compact`"
    )
    again = sides["hlodb, all known"]
    rate = _rate(given, again)
    least = _AGAIN_RATE if given["bytes"] >= _MANY_BYTES else None
    yield f"again: {rate:.0f} MB/s{_held(rate >= _AGAIN_RATE, least, 'at least')}"
    if given["files"] >= _MANY_FILES:
        per = again["seconds"] / given["files"] * 1000
        held = _held(per < _AGAIN_SECONDS, _AGAIN_SECONDS, "below")
        yield f"again: {per:.2f} s per 1,000 files{held}"
    peak = sides["hlodb, new warehouse"]["peak_bytes"]
    if name == "large":
        held = _held(peak < _MEMORY_BYTES, 1500, "below")
        yield f"peak memory: {peak / 1e6:.0f} MB{held}"
    if name == "single":
        many = peak / given["bytes"]
        held = _held(many < _SINGLE_TIMES, _SINGLE_TIMES, "below")
        yield f"peak memory: {many:.1f} times the file{held}"


def _held(holds: bool, target: float | None, word: str) -> str:
    if target is None:
        return ""
    shown = f"{target:.1%}" if target < 1 else f"{target:g}"
    return f" (target: {word} {shown}, {'held' if holds else 'MISSED'})"


def _nights(figures: Figures) -> str:
    rows = []
    for name, found in figures.items():
        if not isinstance(found, dict) or "first_bytes" not in found:
            continue
        first = found["first_bytes"]
        rows.append(
            (
                name,
                f"{first / 1e6:.2f}",
                _added(found, "unchanged", _UNCHANGED_RATIO),
                _added(found, "moved", _MOVED_RATIO),
            )
        )
    heads = ("dump", "first night, MB", "nothing changed adds", "moved lines add")
    return f"### Nights\n\n{_table(heads, rows)}\n"


def _added(found: Figures, what: str, most: float) -> str:
    """Return the file's growth relative to the first night, and the used blocks."""
    first = found["first_bytes"]
    ratio = found[f"{what}_bytes"] / first
    used = found[f"{what}_used_bytes"] / first
    return f"{ratio:.2%}, in use {used:.2%}{_held(ratio < most, most, 'below')}"


def _scaling(figures: Figures) -> str:
    rows = [
        (
            str(point["times"]),
            f"{point['bytes'] / 1e6:.1f}",
            f"{point['seconds']:.2f}",
            f"{point['peak_bytes'] / 1e6:.0f}",
            f"{point['others_ratio']:.0%}",
        )
        for point in figures["points"]
    ]
    heads = ("times", "MB", "seconds", "peak MB", "others' CPU")
    time, memory = figures["time_exponent"], figures["memory_exponent"]
    return (
        f"### Scaling\n\n{_table(heads, rows)}\n\n"
        f"- time grows with exponent {time:.2f}"
        f"{_held(time <= _LINEAR, _LINEAR, 'at most')}\n"
        f"- memory grows with exponent {memory:.2f}"
        f"{_held(memory <= _LINEAR, _LINEAR, 'at most')}\n"
    )


def _explain(figures: Figures) -> str:
    looks = figures["looks"]
    rows = [
        (
            name,
            f"{found['seconds']:.2f}",
            f"{found['cpu_seconds']:.2f}",
            f"{found['others_ratio']:.0%}",
        )
        for name, found in looks.items()
    ]
    heads = ("command", "seconds", "CPU seconds", "others' CPU")
    cpu = looks["explain"]["cpu_seconds"]
    ratio = cpu / looks["ingest"]["cpu_seconds"]
    return (
        f"### A first look at a dump of {figures['bytes'] / 1e6:.1f} MB\n\n"
        f"{_table(heads, rows)}\n\n"
        f"- CPU of an explanation: {cpu:.2f} s"
        f"{_held(cpu < _EXPLAIN_SECONDS, _EXPLAIN_SECONDS, 'below')},"
        f" {ratio:.2f} times that of an ingest"
        f"{_held(ratio < _EXPLAIN_TIMES, _EXPLAIN_TIMES, 'below')}\n"
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines: list[Sequence[str]] = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
