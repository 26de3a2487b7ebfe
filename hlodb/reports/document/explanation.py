"""The sections of `hlodb explain`."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence

from hlodb.reports.document.advice import advice_blocks, is_free, lacks
from hlodb.reports.document.blocks import (
    Block,
    Commands,
    Paragraph,
    Section,
    named,
    sparkline,
    table,
)
from hlodb.reports.document.log_and_dump import stated_excess
from hlodb.reports.document.logs import log_headline, log_sections
from hlodb.reports.document.partial import (
    headline_of,
    listed_partial,
    missing_files,
    partial_rows,
    partial_sections,
)
from hlodb.reports.document.source_folder import in_folder
from hlodb.reports.read.capacity import NOT_INCLUDED, limit_words, space_limit
from hlodb.reports.read.drawn.curves import levels
from hlodb.reports.read.drawn.peak_parts import similar
from hlodb.reports.read.overview import (
    MAIN_SPACE,
    SMALL_RATIO,
    TIMELINE_POINTS,
    Overview,
    Row,
    compilation_of,
    compilations,
    described_spaces,
    gaps_of,
    is_fragmented,
    memory_spaces,
    most_rows,
    rows_of,
)
from hlodb.text import counted, plain_bytes, plain_percent, space_words

MORE = "More"

_KINDS = {
    "parameter": "arguments",
    "constant": "constants",
    "live_out": "results without a line",
    "temp": "temporaries without a line",
    None: "",
}
"""Text in place of a missing source line, by kind of allocation."""

_UNNAMED_RATIO = 0.9
"""Where more of a peak has no layer, layers say nothing about it."""

_LARGE_RATIO = 0.25
"""Where so much of what has a role are copies or padding, it is worth a word."""

_READ = "(read): what made it has no line; this one reads it first."
"""Said where a line has more memory of what it reads than is left unsaid."""

_MOST_PATHS = 4
"""Of more paths no command is written out."""

_GAPS = {
    "alignment_gap": "gaps between aligned addresses",
    "time_hole": "gaps that values of other times fill",
    "slot_padding": "padding of values",
    "never_used": "bytes that no value ever fills",
}
"""What is not live, by part of `frag_breakdown`."""


def headline(overview: Overview) -> str:
    """Return the most important sentence about a run, and whether it lacks anything."""
    places = sum(row["reject_count"] for row in overview.answers["rejects_summary"])
    if not places:
        return _headline(overview)
    return f"{_headline(overview)} ({counted(places, 'place')} could not be read)"


def _headline(overview: Overview) -> str:
    name = overview.run.name
    if said := log_headline(overview):
        return f"{name}: {said}"
    spaces = memory_spaces(overview)
    if refused := [row for row in spaces if row["is_refused"]]:
        return f"{name}: {_refusal(overview, refused[0])}"
    if not spaces and (partial := partial_rows(overview)):
        return f"{name}: {partial[0]['program']}, {headline_of(partial[0])}"
    if not spaces:
        return f"{name}: no program, and no report of running out of memory"
    first = spaces[0]
    names = compilations(spaces)
    who = names[compilation_of(first)]
    if len(names) == 1:
        if lacks(first):
            return f"{name}: {who} {_too_large(first)}"
        return f"{name}: {who}, {_reserved(first)}{_plenty(first)}"
    state = f"{_reserved(first)}{_plenty(first)}"
    largest = f"{who}, {f'which {_too_large(first)}' if lacks(first) else state}"
    return f"{name}: {_counted(spaces)}; the largest is {largest}"


def _counted(spaces: Sequence[Row]) -> str:
    """Return the number of programs, or of compilations where some share a name."""
    count = len(compilations(spaces))
    is_shared = len({row["program"] for row in spaces}) < count
    return counted(count, "compilation" if is_shared else "program")


def outline(overview: Overview, programs: int, top: int) -> list[Section]:
    """Return all sections; `programs` are described, with `top` rows a table."""
    spaces = memory_spaces(overview)
    refused = [row for row in spaces if row["is_refused"]]
    sections = [Section("Refused", _refusals(overview, refused))] if refused else []
    if not overview.is_whole:
        sections.append(Section("Not read", _rejects(overview)))
    sections += log_sections(overview, programs, top)
    if len(spaces) > 1:
        sections.append(Section("Programs", _programs(spaces)))
    described = described_spaces(overview, programs)
    filled = (space for space in described.values() if space["reserved_bytes"] != 0)
    first = next(filled, None)
    near, folder = in_folder(overview)
    sections += [
        Section(title, _space(near, folder, space, top, is_first=space is first))
        for title, space in described.items()
    ]
    if not spaces:
        sections += partial_sections(overview, programs)
    elif partial := listed_partial(overview):
        sections.append(Section("Without a buffer assignment", partial))
    if more := _more(overview, list(described.values())):
        sections.append(Section(MORE, more))
    return sections


def _refusals(overview: Overview, refused: Sequence[Row]) -> list[Block]:
    """Return a sentence for each program that the compiler gave up."""
    texts = dict.fromkeys(_refusal(overview, row) for row in refused)
    return [Paragraph(f"{_capital(text)}.") for text in texts]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rejects(overview: Overview) -> list[Block]:
    rows = [
        (
            f"{row['reject_count']:,}",
            _place(row["example"], overview.run.name),
            row["message"] or row["code"],
        )
        for row in overview.answers["rejects_summary"]
    ]
    text = "These places could not be read: all figures below lack them."
    header = ("places", "first", "why")
    return [Paragraph(text), table(header, rows, numeric=(0,))]


def _place(example: str, run: str) -> str:
    """Return a place; of a run that is called after its only file, without the run."""
    is_twice = example.startswith(f"{run}:{run}:")
    return example.removeprefix(f"{run}:") if is_twice else example


def _programs(spaces: Sequence[Row]) -> list[Block]:
    most = max(row["reserved_bytes"] for row in spaces)
    large = [row for row in spaces if row["reserved_bytes"] >= SMALL_RATIO * most]
    names = compilations(spaces)
    is_judged = any(row["usable_bytes"] or row["is_refused"] for row in large)
    rows = [
        (
            names[compilation_of(row)],
            _memory(row),
            plain_bytes(row["reserved_bytes"]),
            plain_bytes(row.get("live_peak_bytes")),
            *(_left(row) if is_judged else ()),
        )
        for row in large
    ]
    judged = ("limit", "left", "status") if is_judged else ()
    header = ("program", "space", "reserved", "live peak", *judged)
    blocks: list[Block] = [table(header, rows, numeric=(2, 3, 4, 5)[: len(header) - 2])]
    if len(large) < len(spaces):
        blocks.append(Paragraph(_not_listed(spaces, large, most)))
    return blocks


def _not_listed(spaces: Sequence[Row], large: Sequence[Row], most: int) -> str:
    """Return how many programs and spaces are too small to be listed."""
    small = plain_bytes(math.ceil(SMALL_RATIO * most))
    listed = {compilation_of(row) for row in large}
    apart = {compilation_of(row) for row in spaces} - listed
    others = len(compilations(spaces).keys() & apart)
    said = [counted(others, "program")] if others else []
    if any(compilation_of(row) in listed for row in spaces if row not in large):
        said.append("other memory spaces of those listed")
    return f"Not listed: {' and '.join(said)}, each of less than {small}."


def _left(row: Row) -> tuple[str, str, str]:
    """Return the limit of a memory space, what is left of it, and the status."""
    limit = plain_bytes(row["usable_bytes"])
    if row["is_refused"] or (row["usable_bytes"] and row["headroom_bytes"] is None):
        return limit, "refused", row["status"]
    status = row["status"] if row["usable_bytes"] else "-"
    return limit, plain_bytes(row["headroom_bytes"]), status


def _space(
    overview: Overview, folder: str | None, space: Row, top: int, *, is_first: bool
) -> list[Block]:
    """Return what is said of a memory space; `folder` has the source files named."""
    if space["reserved_bytes"] == 0:
        return [Paragraph(_empty(space))]
    blocks: list[Block] = [Paragraph(_measured(space, gaps_of(overview, space)))]
    if text := left_out(space, is_first=is_first):
        blocks.append(Paragraph(text))
    roles = rows_of(overview, "peak_by_role", space)
    blocks += _roles(roles, top)
    has_peak = space.get("live_peak_bytes") is not None
    if has_peak:
        blocks += advice_blocks(space, rows_of(overview, "remedies", space), roles, top)
    stretches = rows_of(overview, "live_timeline", space)
    if len(stretches) > 1:
        bars = sparkline(_levels(stretches), low=0)
        blocks.append(Paragraph(f"Live bytes over the schedule: {bars}"))
    lines = rows_of(overview, "peak_by_source_line", space)
    blocks += [
        *_lines(lines, top),
        *_layers(rows_of(overview, "peak_by_layer", space), top),
        *_buffers(rows_of(overview, "peak_contents", space), top),
    ]
    if folder is not None and any(line_of(row) for row in lines):
        blocks.append(Paragraph(f"Source files are in {folder}."))
    return blocks if has_peak else blocks + missing_files(overview, space["path"])


def _empty(space: Row) -> str:
    """Return what is to be said of a memory space without allocations."""
    name = _memory(space)
    scoped = (
        ""
        if space["color"] == MAIN_SPACE
        else " What a kernel reserves for itself (scoped memory) is in no assignment."
    )
    return f"The assignment holds nothing in {name}.{scoped}"


def left_out(space: Row, *, is_first: bool = True) -> str:
    """Return what the figures include, once in an answer, and what else they lack."""
    texts = [NOT_INCLUDED] if is_first else []
    if space["caveat"]:
        texts.append(f"{_capital(space['caveat'])}.")
    return " ".join(texts)


def _roles(roles: Sequence[Row], top: int) -> list[Block]:
    rows = [(*_owned(row), role_of(row)) for row in roles]
    return _holders("What holds the peak:", ("role",), rows, top)


def role_of(row: Row) -> str:
    """Return a role in words, and of it copies and padding where they are much."""
    words = str(row["role"].replace("_", " "))
    parts = [
        f"{plain_bytes(row[column])} of them {name}"
        for column, name in (("copied_bytes", "copies"), ("padding_bytes", "padding"))
        if row[column] >= _LARGE_RATIO * row["owned_bytes"]
        and not (column == "copied_bytes" and row[column] == row["owned_bytes"])
    ]
    return ", ".join([words, *parts])


def _lines(lines: Sequence[Row], top: int) -> list[Block]:
    rows = [
        (*_owned(row), _line_of(row) or _KINDS[row["kind"]], row["function_name"] or "")
        for row in lines
    ]
    blocks = _holders("Which lines hold it:", ("source line", "function"), rows, top)
    is_read = any(_line_of(row) != line_of(row) for row in lines[:top])
    return [*blocks, Paragraph(_READ)] if is_read else blocks


def _line_of(row: Row) -> str:
    """Return a line, and how much of its memory it reads first and does not define."""
    line = line_of(row)
    size = row["read_bytes"]
    if not line or size < _LARGE_RATIO * row["owned_bytes"] or not size:
        return line
    whose = "" if size == row["owned_bytes"] else f"{plain_bytes(size)} "
    return f"{line} ({whose}read)"


def _layers(layers: Sequence[Row], top: int) -> list[Block]:
    """Return a table where a name has several layers; similar ones share a line."""
    of_name: dict[str | None, list[Row]] = {}
    for row in layers:
        of_name.setdefault(row["layer_name"], []).append(row)
    without = sum(row["peak_ratio"] or 0 for row in of_name.get(None, ()))
    if max(map(len, of_name.values()), default=0) < 2 or without > _UNNAMED_RATIO:
        return []
    rows: list[Row] = []
    for found in of_name.values():
        of_number = {row["layer_number"] or 0: row for row in found}
        sizes = {number: row["owned_bytes"] for number, row in of_number.items()}
        for numbers in similar(sizes):
            rows.append(_together([of_number[number] for number in numbers]))
    rows.sort(key=lambda row: -row["owned_bytes"])
    cells = [(*_owned(row), row["layers"], row["each"]) for row in rows]
    return _holders("Which layers hold it:", ("layers", "each"), cells, top)


def _together(layers: Sequence[Row]) -> Row:
    """Return bytes and share of layers, the first and the last, and what each holds."""
    ordered = sorted(layers, key=lambda row: row["layer_number"] or 0)
    names = dict.fromkeys((ordered[0]["layer"], ordered[-1]["layer"]))
    sizes = sorted(row["owned_bytes"] for row in layers)
    shown = dict.fromkeys(map(plain_bytes, (sizes[0], sizes[-1])))
    return {
        "owned_bytes": sum(sizes),
        "peak_ratio": sum(row["peak_ratio"] or 0 for row in layers),
        "layers": " … ".join(names),
        "each": f"{len(sizes)} of {' to '.join(shown)}" if len(sizes) > 1 else "",
    }


def _buffers(buffers: Sequence[Row], top: int) -> list[Block]:
    rows = [
        (
            *_owned(row),
            called(row),
            row["shape"] or "",
            line_of(row) or _KINDS[row["kind"]],
        )
        for row in buffers
    ]
    header = ("buffer", "shape", "source line")
    return _holders("Its largest buffers:", header, rows, top)


def _holders(
    title: str,
    header: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    top: int,
) -> list[Block]:
    """Return a table with bytes and share before the named columns."""
    if not rows:
        return []
    return [
        Paragraph(title),
        table(
            ("bytes", "share", *header),
            rows,
            top,
            numeric=(0, 1),
            is_all=len(rows) < most_rows(top),
        ),
    ]


def called(row: Row) -> str:
    """Return the name that people know a value by; of arguments that in the code."""
    is_argument = row["opcode"] == "parameter" and row["op_name"]
    return str(row["op_name"] if is_argument else row["instruction"] or "")


def _measured(space: Row, gaps: Sequence[Row]) -> str:
    live = space.get("live_peak_bytes")
    if live is None:
        text = f"{_capital(_reserved(space))}{_of_kinds(space)}."
        return f"{text} The live peak is not known."
    text = f"{_capital(_reserved(space))}; {plain_bytes(live)} are live"
    if space.get("peak_instruction"):
        text += f" at the peak (step {space['peak_step']}, {space['peak_instruction']})"
    if is_fragmented(space):
        text += f". Fragmentation takes {plain_bytes(space['fragmentation_bytes'])}"
        text += _mostly(gaps)
    return f"{text}."


def _of_kinds(space: Row) -> str:
    """Return what reserved bytes are, by kind of allocation."""
    kinds = [
        f"{name} {plain_bytes(space[column])}"
        for column, name in (
            ("parameter_bytes", "arguments"),
            ("live_out_bytes", "results"),
            ("temp_bytes", "temporaries"),
            ("constant_bytes", "constants"),
        )
        if space.get(column)
    ]
    return f" ({', '.join(kinds)})" if kinds else ""


def _mostly(gaps: Sequence[Row]) -> str:
    """Return what more than half of the fragmentation is, by `frag_breakdown`."""
    parts: Counter[str] = Counter()
    for row in gaps:
        if row["part"] in _GAPS:
            parts[row["part"]] += row["part_bytes"]
    [(part, most)] = parts.most_common(1) or [("", 0)]
    return f", mostly {_GAPS[part]}" if 2 * most > parts.total() else ""


def _reserved(space: Row) -> str:
    text = f"{plain_bytes(space['reserved_bytes'])} reserved in {_memory(space)}"
    if space["is_cut"]:
        text = f"at least {text}"
    limit = space["usable_bytes"]
    if not limit:
        return text
    share = space["reserved_bytes"] / limit
    return f"{text}, {plain_percent(share)} of {limit_words(space_limit(space))}"


def _too_large(space: Row) -> str:
    """Return that a program does not fit, and how much is too much."""
    over = plain_bytes(space["reserved_bytes"] - space["usable_bytes"])
    return (
        f"does not fit {_memory(space)}: it reserves"
        f" {plain_bytes(space['reserved_bytes'])} of {limit_words(space_limit(space))},"
        f" {over} too much"
    )


def _plenty(space: Row) -> str:
    """Return how much a program leaves where that is most of the limit."""
    if not is_free(space):
        return ""
    free = plain_bytes(space["usable_bytes"] - space["reserved_bytes"])
    return f"; {free} are left"


def _memory(space: Row) -> str:
    return space_words(space["space_name"], space["color"])


def _refusal(overview: Overview, space: Row) -> str:
    """Return that the compiler refused a program; a log counts its code, too."""
    text = f"the compiler refused {space['program']}, which does not fit"
    limit = space_limit(space)
    if limit.bytes is None:
        return text
    size = plain_bytes(space["reserved_bytes"])
    text += f" {_memory(space)}: {size} of {limit_words(limit)}"
    over = stated_excess(overview, space) or space["reserved_bytes"] - limit.bytes
    if over > 0:
        return f"{text}, {plain_bytes(over)} too much"
    return f"{text}, and what the dump does not count, such as code"


def _more(overview: Overview, described: Sequence[Row]) -> list[Block]:
    is_kept = not overview.paths
    run = f" -p {shlex.quote(f'run={overview.run.name}')}" if is_kept else ""
    commands = []
    if described:
        program = shlex.quote(f"program={described[0]['program']}")
        commands += [
            f"hlodb query peak_contents{run} -p {program} --wide",
            f"hlodb query remedies{run} -p {program} --wide",
        ]
    if overview.answers["oom_summary"]:
        are_listed = bool(overview.answers["oom_buffers_explained"])
        query = "oom_buffers_explained" if are_listed else "oom_summary"
        commands.append(f"hlodb query {query}{run} --wide")
    blocks: list[Block] = []
    if not is_kept:
        name = f" --run {shlex.quote(overview.run.name)}" if overview.is_joined else ""
        commands = [f"hlodb ingest {_given(overview.paths)}{name}", *commands]
        how = "ingest the same paths first:"
        if "-" in overview.paths:
            how = "save the standard input as a file, and ingest that:"
        text = f"Nothing was kept. To ask more and to compare, {how}"
        blocks = [Paragraph(text)]
    if commands:
        blocks.append(named(Commands(tuple(commands)), overview.db))
    return blocks


def _given(paths: Sequence[str]) -> str:
    """Return paths as a shell takes them, or a placeholder for many and for a pipe."""
    if len(paths) > _MOST_PATHS:
        return "PATH…"
    return " ".join("FILE" if path == "-" else shlex.quote(path) for path in paths)


def _owned(row: Row) -> tuple[str, str]:
    ratio = row["peak_ratio"]
    share = "" if ratio is None else plain_percent(ratio)
    return plain_bytes(row["owned_bytes"]), share


def line_of(row: Row) -> str:
    """Return `FILE:LINE` of a row, nothing where no line is known."""
    if row["source_file"] is None:
        return ""
    return f"{row['source_file']}:{row['source_line']}"


def _levels(stretches: Sequence[Row]) -> list[int]:
    """Return live bytes of every stretch, or the most of parts of the schedule."""
    if len(stretches) <= TIMELINE_POINTS:
        return [row["live_bytes"] for row in stretches]
    last = max(row["to_step"] for row in stretches)
    return levels(stretches, last // TIMELINE_POINTS + 1)
